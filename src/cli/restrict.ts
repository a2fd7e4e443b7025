// `granary restrict`: freezes a user's data, lifts the freeze, and lists frozen users.
import type { Command } from 'commander';
import { defined } from '../engine/base/defined.ts';
import { PAGE_LIMIT_MAX } from '../engine/base/limits.ts';
import { type JsonObject, objectOf, objectsOf } from '../engine/grain/api/json-value.ts';
import { type ServerOptions, withMemoryOption, withServerOptions } from './options.ts';
import { printJson, printLine, printTable, utc } from './output.ts';

interface RestrictOptions extends ServerOptions {
  readonly memory: string;
  readonly reason?: string | undefined;
}

export function registerRestrict(program: Command): void {
  const restrict = program
    .command('restrict')
    .description("Freeze a user's data: keep it, but do not read or change it");
  withServerOptions(
    withMemoryOption(
      restrict
        .command('user')
        .description('Freeze it')
        .argument('<id>')
        .option('--reason <text>', 'why the restriction is put or lifted'),
    ),
  ).action((user: string, options: RestrictOptions) => put('restrict', user, options));
  withServerOptions(
    withMemoryOption(
      restrict
        .command('lift')
        .description('Lift the freeze')
        .argument('<id>')
        .option('--reason <text>', 'why the restriction is put or lifted'),
    ),
  ).action((user: string, options: RestrictOptions) => put('unrestrict', user, options));
  withServerOptions(
    withMemoryOption(restrict.command('list', { isDefault: true }).description('List users whose data is frozen')),
  ).action(list);
}

async function exec(options: RestrictOptions, command: string, args: JsonObject): Promise<JsonObject> {
  const { withConnection } = await import('./connection.ts');
  const answer = await withConnection(options, (connection) =>
    connection.json('POST', `/memories/${encodeURIComponent(options.memory)}/app/exec`, { json: { command, args } }),
  );
  return objectOf(answer['result']);
}

async function put(command: 'restrict' | 'unrestrict', user: string, options: RestrictOptions): Promise<void> {
  const { reason } = options;
  const result = await exec(options, command, defined({ user_id: user, reason }));
  if (options.json) return printJson(result);
  printLine(result['restricted'] === true ? `${user} is restricted.` : `${user} is not restricted.`);
}

async function list(options: RestrictOptions): Promise<void> {
  const held: JsonObject[] = [];
  for (let cursor: unknown; cursor !== null; ) {
    const asked = defined({ limit: PAGE_LIMIT_MAX, cursor: typeof cursor === 'string' ? cursor : undefined });
    const page = await exec(options, 'restrictions', asked);
    held.push(...objectsOf(page['restrictions']));
    cursor = page['next_cursor'] ?? null;
  }
  if (options.json) return printJson({ restrictions: held, total: held.length });
  printTable(
    [{ title: 'user' }, { title: 'since (UTC)' }, { title: 'by' }, { title: 'reason' }],
    held.map((one) => [
      String(one['user_id']),
      utc(Number(one['restricted_at'])),
      String(one['restricted_by']),
      String(one['reason']),
    ]),
  );
}
