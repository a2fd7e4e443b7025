// `granary keys`: list, create and revoke API keys.
import type { Command } from 'commander';
import { defined } from '../engine/base/defined.ts';
import type { JsonObject, JsonValue } from '../engine/grain/api/json-value.ts';
import { readExpiry } from './expiry.ts';
import { gather, type ServerOptions, withServerOptions } from './options.ts';
import { clipped, printJson, printLine, printNote, printTable, utc } from './output.ts';
import { allPages } from './pages.ts';

interface CreateOptions extends ServerOptions {
  readonly name?: string | undefined;
  readonly principal?: string | undefined;
  readonly scope?: readonly string[] | undefined;
  readonly memory?: string | undefined;
  readonly namespace?: string | undefined;
  readonly user?: string | undefined;
  readonly expires?: number | undefined;
}

export function registerKeys(program: Command): void {
  const keys = program.command('keys').description('List, create and revoke API keys');
  withServerOptions(
    keys.command('list', { isDefault: true }).description('List all keys, without their secrets'),
  ).action(list);
  withServerOptions(
    keys
      .command('create')
      .description('Create a key; its secret is printed once')
      .option('--name <text>', 'name of the key')
      .option(
        '--principal <name>',
        "principal that calls with the key act as, such as agent:scribe; the default is the key's id",
      )
      .option(
        '--scope <scope>',
        "scopes of the key; read, write, admin or metrics (/metrics alone); repeat the option for more; the default is the caller's own",
        gather,
      )
      .option('-m, --memory <id>', 'memory that the key is bound to')
      .option('--namespace <name>', 'namespace that the key is bound to')
      .option('--user <id>', 'data subject that the key is bound to')
      .option('--expires <time>', 'time at which the key expires, in Unix seconds, or YYYY-MM-DD', readExpiry),
  ).action(create);
  withServerOptions(
    keys.command('revoke').description('Revoke a key; the next call with it fails').argument('<key-id>'),
  ).action(revoke);
}

async function list(options: ServerOptions): Promise<void> {
  const { withConnection } = await import('./connection.ts');
  const keys = await withConnection(options, (connection) => allPages(connection, '/auth/keys', 'keys'));
  if (options.json) return printJson({ keys, total: keys.length });
  printTable(
    [
      { title: 'key' },
      { title: 'name' },
      { title: 'principal' },
      { title: 'begins' },
      { title: 'scopes' },
      { title: 'bound to' },
      { title: 'state' },
      { title: 'last used (UTC)' },
    ],
    keys.map((key) => [
      text(key['key_id']),
      clipped(text(key['name']), 30),
      clipped(text(key['principal']), 30),
      text(key['prefix']),
      Array.isArray(key['scopes']) ? key['scopes'].join(' ') : '',
      boundTo(key),
      stateOf(key),
      time(key['last_used_at']),
    ]),
  );
}

async function create(options: CreateOptions): Promise<void> {
  const { withConnection } = await import('./connection.ts');
  const { name, principal, scope, memory, namespace, user, expires } = options;
  const json: JsonObject = defined({
    name,
    principal,
    scopes: scope && [...scope],
    memory_id: memory,
    namespace,
    user_id: user,
    expires_at: expires,
  });
  const key = await withConnection(options, (connection) => connection.json('POST', '/auth/keys', { json }));
  if (options.json) return printJson(key);
  printLine(text(key['raw_key']));
  printNote(`Key ${text(key['key_id'])} (${text(key['name'])}). Save it now: it is not shown again.`);
}

async function revoke(keyId: string, options: ServerOptions): Promise<void> {
  const { withConnection } = await import('./connection.ts');
  const answer = await withConnection(options, (connection) =>
    connection.json('DELETE', `/auth/keys/${encodeURIComponent(keyId)}`),
  );
  if (options.json) return printJson(answer);
  printLine(`Key ${keyId} is revoked.`);
}

function boundTo(key: JsonObject): string {
  const bounds = [
    ['memory', key['memory_id']],
    ['namespace', key['namespace']],
    ['user', key['user_id']],
  ].filter(([, value]) => value !== undefined && value !== null);
  return bounds.map(([name, value]) => `${text(name)} ${text(value)}`).join(', ');
}

function stateOf(key: JsonObject): string {
  if (key['revoked_at'] !== undefined && key['revoked_at'] !== null) return 'revoked';
  const expires = Number(key['expires_at'] ?? Number.POSITIVE_INFINITY);
  if (!Number.isFinite(expires)) return 'active';
  return expires * 1000 <= Date.now() ? 'expired' : `until ${time(expires)}`;
}

function time(value: JsonValue | undefined): string {
  return typeof value === 'number' ? utc(value) : '';
}

function text(value: JsonValue | undefined): string {
  return value === undefined || value === null ? '' : String(value);
}
