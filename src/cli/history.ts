// `granary history HASH`: every version of a grain.

import type { Command } from 'commander';
import { sentenceOf } from '../engine/cal/output/sentence.ts';
import { parseJson } from '../engine/grain/api/json.ts';
import type { JsonObject } from '../engine/grain/api/json-value.ts';
import { wholeHash } from './hash.ts';
import { type ServerOptions, withMemoryOption, withServerOptions } from './options.ts';
import { clipped, printJson, printTable, terminalColumns, utc } from './output.ts';

export function registerHistory(program: Command): void {
  const command = program
    .command('history')
    .description('Print every version of a grain, oldest first')
    .argument('<hash>', 'hash of any version: in full, or at least its first 8 digits');
  withServerOptions(withMemoryOption(command)).action(history);
}

async function history(hash: string, options: ServerOptions & { readonly memory: string }): Promise<void> {
  const [{ withConnection }, { RPC }] = await Promise.all([import('./connection.ts'), import('./rpcs.ts')]);
  const { memory } = options;
  const { versions } = await withConnection(options, async (connection) =>
    connection.call(RPC.history, { hash: await wholeHash(connection, memory, hash) }, { memory }),
  );
  const read = versions.map((version) => ({
    hash: version.hash,
    grain_type: version.grainType,
    relation: version.relation,
    created_at: Number(version.createdAt),
    fields: parseJson(version.fieldsJson) as JsonObject, // the contract: an object
  }));
  if (options.json) return printJson({ versions: read });
  printTable(
    [{ title: 'made (UTC)' }, { title: 'hash' }, { title: 'relation' }, { title: 'says' }],
    read.map((version) => [
      utc(version.created_at),
      version.hash.slice(0, 16),
      version.relation,
      clipped(sentenceOf({ grainType: version.grain_type, fields: version.fields }), terminalColumns() - 56),
    ]),
  );
}
