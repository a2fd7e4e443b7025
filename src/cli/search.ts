// `granary search`: keyword search only.
import type { Command } from 'commander';
import { defined } from '../engine/base/defined.ts';
import { type JsonObject, objectOf, objectsOf } from '../engine/grain/api/json-value.ts';
import { type Hit, hitJson, printHits } from './hits.ts';
import { integer, type ServerOptions, withMemoryOption, withServerOptions } from './options.ts';
import { printJson, printLine, printNote } from './output.ts';

interface SearchOptions extends ServerOptions {
  readonly memory: string;
  readonly namespace?: string | undefined;
  readonly user?: string | undefined;
  readonly type?: string | undefined;
  readonly limit: number;
}

export function registerSearch(program: Command): void {
  const command = program
    .command('search')
    .description('Find grains by words alone (BM25)')
    .argument('<words...>')
    .option('--namespace <name>', 'only grains of this namespace')
    .option('--user <id>', 'only grains of this data subject')
    .option('--type <type>', 'only grains of this type')
    .option('-n, --limit <n>', 'number of hits at most', integer(1, 500), 10);
  withServerOptions(withMemoryOption(command)).action(search);
}

async function search(words: string[], options: SearchOptions): Promise<void> {
  const { withConnection } = await import('./connection.ts');
  const { memory, namespace, user, type, limit } = options;
  const json: JsonObject = defined({
    query: words.join(' '),
    limit,
    namespace,
    user_id: user,
    grain_type: type,
  });
  const answer = await withConnection(options, (connection) =>
    connection.json('POST', `/memories/${encodeURIComponent(memory)}/search`, { json }),
  );
  // The contract: objects with these members.
  const hits = objectsOf(answer['results']).map(
    (hit): Hit => ({
      hash: String(hit['hash']),
      grainType: String(hit['grain_type']),
      score: Number(hit['score']),
      fields: objectOf(hit['fields']),
    }),
  );
  for (const warning of Array.isArray(answer['warnings']) ? answer['warnings'] : []) printNote(String(warning));
  if (options.json) return printJson({ count: hits.length, results: hits.map(hitJson) });
  if (hits.length === 0) return printLine('Nothing was found.');
  printHits(hits);
}
