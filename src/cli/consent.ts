// `granary consent`: grants, revokes and lists consent.
import type { Command } from 'commander';
import { defined } from '../engine/base/defined.ts';
import { type JsonObject, objectsOf } from '../engine/grain/api/json-value.ts';
import { readExpiry } from './expiry.ts';
import { type ServerOptions, withMemoryOption, withServerOptions } from './options.ts';
import { printJson, printLine, printTable, utc } from './output.ts';
import { allPages } from './pages.ts';

interface ConsentOptions extends ServerOptions {
  readonly memory: string;
  readonly basis?: string | undefined;
  readonly jurisdiction?: string | undefined;
  readonly expires?: number | undefined;
  readonly reason?: string | undefined;
  readonly user?: string | undefined;
  readonly purpose?: string | undefined;
}

export function registerConsent(program: Command): void {
  const consent = program.command('consent').description('Grant, revoke and list consent of users');
  withServerOptions(
    withMemoryOption(
      consent
        .command('grant')
        .description('Record that a user consents to a purpose (`*` is every purpose)')
        .argument('<user>')
        .argument('<purpose>')
        .option('--basis <text>', 'lawful basis of the consent, as free text')
        .option('--jurisdiction <text>', 'jurisdiction that the consent was given in, as free text')
        .option('--expires <time>', 'time at which the consent ends, in Unix seconds, or YYYY-MM-DD', readExpiry),
    ),
  ).action((user: string, purpose: string, options: ConsentOptions) => say('grant', user, purpose, options));
  withServerOptions(
    withMemoryOption(
      consent
        .command('revoke')
        .description('Record that a user does not consent to a purpose')
        .argument('<user>')
        .argument('<purpose>')
        .option('--reason <text>', 'why the consent is withdrawn'),
    ),
  ).action((user: string, purpose: string, options: ConsentOptions) => say('revoke', user, purpose, options));
  withServerOptions(
    withMemoryOption(
      consent
        .command('status', { isDefault: true })
        .description('List consents, users with the newest decision first')
        .option('--user <id>', 'only this user')
        .option('--purpose <name>', 'only this purpose'),
    ),
  ).action(status);
}

async function say(act: 'grant' | 'revoke', user: string, purpose: string, options: ConsentOptions): Promise<void> {
  const { memory, basis, jurisdiction, expires, reason } = options;
  const json: JsonObject = defined({
    user_id: user,
    purpose,
    basis,
    jurisdiction,
    expires_at: expires,
    reason,
  });
  const { withConnection } = await import('./connection.ts');
  const answer = await withConnection(options, (connection) =>
    connection.json('POST', `/memories/${encodeURIComponent(memory)}/consent/${act}`, { json }),
  );
  if (options.json) return printJson(answer);
  printLine(`${String(answer['status'])}: ${user}, ${purpose} (${String(answer['blob_hash'])})`);
}

async function status(options: ConsentOptions): Promise<void> {
  const { memory, user, purpose } = options;
  const asked = new URLSearchParams(
    defined({
      user_id: user,
      purpose,
    }),
  );
  const path = `/memories/${encodeURIComponent(memory)}/consent/status${asked.size === 0 ? '' : `?${asked}`}`;
  const { withConnection } = await import('./connection.ts');
  const users = await withConnection(options, (connection) => allPages(connection, path, 'users'));
  if (options.json) return printJson({ users, total: users.length });
  printTable(
    [{ title: 'user' }, { title: 'purpose' }, { title: 'status' }, { title: 'since (UTC)' }, { title: 'ends (UTC)' }],
    users.flatMap((one) => {
      const name = `${String(one['user_id'])}${one['restricted'] === true ? ' (restricted)' : ''}`;
      const records = objectsOf(one['purposes']);
      if (records.length === 0) return [[name, '', '', '', '']];
      return records.map((record) => [
        name,
        String(record['purpose']),
        String(record['status']),
        time(record['revoked_at'] ?? record['granted_at']),
        time(record['expires_at']),
      ]);
    }),
  );
}

function time(seconds: unknown): string {
  return typeof seconds === 'number' ? utc(seconds) : '';
}
