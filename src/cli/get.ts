// `granary get HASH`: prints all fields of one grain.
import type { Command } from 'commander';
import { parseJson } from '../engine/grain/api/json.ts';
import type { JsonObject } from '../engine/grain/api/json-value.ts';
import { printGrain } from './grain-view.ts';
import { wholeHash } from './hash.ts';
import { type ServerOptions, withMemoryOption, withServerOptions } from './options.ts';
import { printJson } from './output.ts';

export function registerGet(program: Command): void {
  const command = program
    .command('get')
    .description('Print a grain; any version of it')
    .argument('<hash>', 'full hash, or at least its first 8 digits');
  withServerOptions(withMemoryOption(command)).action(get);
}

async function get(hash: string, options: ServerOptions & { readonly memory: string }): Promise<void> {
  const [{ withConnection }, { RPC }] = await Promise.all([import('./connection.ts'), import('./rpcs.ts')]);
  const { memory } = options;
  const answer = await withConnection(options, async (connection) =>
    connection.call(RPC.get, { hash: await wholeHash(connection, memory, hash) }, { memory }),
  );
  const fields = parseJson(answer.fieldsJson) as JsonObject; // the contract: an object
  if (options.json) return printJson({ hash: answer.hash, grain_type: answer.grainType, fields });
  printGrain({ hash: answer.hash, grainType: answer.grainType, fields });
}
