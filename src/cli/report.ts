// `granary report --user ID`: summarises what a memory holds about a person.
import type { Command } from 'commander';
import { parseJson } from '../engine/grain/api/json.ts';
import { type JsonObject, objectsOf } from '../engine/grain/api/json-value.ts';
import { type ServerOptions, withMemoryOption, withServerOptions } from './options.ts';
import { printJson, printPairs, utc } from './output.ts';

export function registerReport(program: Command): void {
  const command = program
    .command('report')
    .description('Summarise what a memory holds about a person (granary export --user has all of it)')
    .requiredOption('--user <id>', 'the person');
  withServerOptions(withMemoryOption(command)).action(report);
}

async function report(options: ServerOptions & { readonly memory: string; readonly user: string }): Promise<void> {
  const { withConnection } = await import('./connection.ts');
  const { memory, user } = options;
  const path = `/memories/${encodeURIComponent(memory)}/export/${encodeURIComponent(user)}`;
  const data = await withConnection(options, async (connection) => {
    const pieces: Buffer[] = [];
    for await (const piece of connection.download(path)) pieces.push(piece);
    return parseJson(Buffer.concat(pieces).toString('utf8')) as JsonObject; // the contract: an object
  });
  const summary = summaryOf(data);
  if (options.json) return printJson(summary);
  const { types, consents, restriction } = summary;
  printPairs([
    ['user', user],
    ['memory', memory],
    ['grains', summary.count],
    ...Object.entries(types).map(([type, count]): [string, number] => [`  ${type}`, count]),
    ...(summary.oldest === undefined ? [] : [['oldest', `${utc(summary.oldest)} UTC`] satisfies [string, string]]),
    ...(summary.newest === undefined ? [] : [['newest', `${utc(summary.newest)} UTC`] satisfies [string, string]]),
    ['consents', consents.length === 0 ? 'none' : consents.map((one) => `${one.purpose}: ${one.status}`).join(', ')],
    ['restricted', restriction === undefined ? 'no' : restriction],
    ['recalls about them', summary.provenance_count ?? 'many'],
  ]);
}

function summaryOf(data: JsonObject) {
  // The contract: lists of objects.
  const grains = objectsOf(data['grains']);
  const consents = objectsOf(data['consents']);
  const restriction = data['restriction'] as JsonObject | undefined;
  const types: Record<string, number> = {};
  let [oldest, newest]: (number | undefined)[] = [];
  for (const grain of grains) {
    const type = String(grain['grain_type']);
    types[type] = (types[type] ?? 0) + 1;
    const at = Number(grain['created_at']);
    oldest = Math.min(oldest ?? at, at);
    newest = Math.max(newest ?? at, at);
  }
  const provenance = data['provenance_count'];
  return {
    user_id: String(data['user_id']),
    count: grains.length,
    types,
    oldest,
    newest,
    consents: consents.map((one) => ({ purpose: String(one['purpose']), status: String(one['status']) })),
    restriction: restriction === undefined ? undefined : String(restriction['reason']),
    provenance_count: typeof provenance === 'number' ? provenance : null,
  };
}
