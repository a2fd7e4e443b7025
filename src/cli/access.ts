// `granary grant`, `revoke`, `check` and `tuples`: who may do what in a memory, by access tuples.
import type { Command } from 'commander';
import { defined } from '../engine/base/defined.ts';
import { PAGE_LIMIT_MAX } from '../engine/base/limits.ts';
import { type JsonObject, objectsOf } from '../engine/grain/api/json-value.ts';
import { EXIT } from './exit-codes.ts';
import { type ServerOptions, withMemoryOption, withServerOptions } from './options.ts';
import { printJson, printLine, printNote, printTable, utc } from './output.ts';

interface AccessOptions extends ServerOptions {
  readonly memory: string;
  readonly object?: string | undefined;
  readonly subject?: string | undefined;
}

interface Tuple {
  readonly subject: string;
  readonly relation: string;
  readonly object: string;
}

const SUBJECT = 'user:ID, agent:ID, service:ID, group:ID#member, or TYPE:* for all of a type';
const OBJECT = 'memory:ID, namespace:PATH, group:ID or harness:SLUG';

export function registerGrant(program: Command): void {
  onTuple(program, 'grant', 'Give a subject a relation to an object').action(
    (subject: string, relation: string, object: string, options: AccessOptions) =>
      change('grant', { subject, relation, object }, options),
  );
}

export function registerRevoke(program: Command): void {
  onTuple(program, 'revoke', 'Remove the relation of a subject to an object').action(
    (subject: string, relation: string, object: string, options: AccessOptions) =>
      change('revoke', { subject, relation, object }, options),
  );
}

export function registerCheck(program: Command): void {
  onTuple(program, 'check', 'Show whether a subject has a relation to an object, and why').action(check);
}

export function registerTuples(program: Command): void {
  const command = program
    .command('tuples')
    .description('List access tuples, the newest first')
    .option('--object <object>', 'only tuples of this object')
    .option('--subject <subject>', 'only tuples of exactly this subject');
  withServerOptions(withMemoryOption(command)).action(list);
}

function onTuple(program: Command, name: string, description: string): Command {
  const command = program
    .command(name)
    .description(description)
    .argument('<subject>', SUBJECT)
    .argument('<relation>', 'viewer, editor, eraser, auditor, admin, owner, member, parent, user or manager')
    .argument('<object>', OBJECT);
  return withServerOptions(withMemoryOption(command));
}

function pathOf({ memory }: AccessOptions, rest: string): string {
  return `/memories/${encodeURIComponent(memory)}/${rest}`;
}

async function change(
  act: 'grant' | 'revoke',
  { subject, relation, object }: Tuple,
  options: AccessOptions,
): Promise<void> {
  const { withConnection } = await import('./connection.ts');
  const json = { subject, relation, object };
  const answer = await withConnection(options, (connection) =>
    connection.json('POST', pathOf(options, `authz/${act}`), { json }),
  );
  if (options.json) return printJson(answer);
  const isNews = answer['created'] === true || answer['existed'] === true;
  const was = act === 'grant' ? 'it was there before' : 'it was not there';
  printLine(`${act === 'grant' ? 'Granted' : 'Revoked'}: ${subject} ${relation} ${object}${isNews ? '' : ` (${was})`}`);
  for (const warning of Array.isArray(answer['warnings']) ? answer['warnings'] : []) printNote(String(warning));
}

async function check(subject: string, relation: string, object: string, options: AccessOptions): Promise<void> {
  const { withConnection } = await import('./connection.ts');
  const query = new URLSearchParams({ subject, relation, object });
  const answer = await withConnection(options, (connection) =>
    connection.json('GET', pathOf(options, `authz/check?${query}`)),
  );
  const isAllowed = answer['allowed'] === true;
  if (!isAllowed) process.exitCode = EXIT.failed;
  if (options.json) return printJson(answer);
  printLine(`${isAllowed ? 'Allowed' : 'Denied'}: ${subject} ${relation} ${object}`);
  for (const line of pathLines(answer['path'] as unknown as readonly (Tuple | string)[])) printLine(line); // the contract
}

/** The tuples from the object to the subject, one a line. */
export function pathLines(path: readonly (Tuple | string)[]): string[] {
  return path.map((step) =>
    typeof step === 'string'
      ? '  The search stopped at its limit of 25 steps.'
      : `  ${step.object} has the ${step.relation} ${step.subject}`,
  );
}

async function list(options: AccessOptions): Promise<void> {
  const { withConnection } = await import('./connection.ts');
  const { object, subject } = options;
  const tuples: JsonObject[] = [];
  await withConnection(options, async (connection) => {
    for (let cursor: unknown; cursor !== null; ) {
      const args = defined({
        object,
        subject,
        limit: PAGE_LIMIT_MAX,
        cursor: typeof cursor === 'string' ? cursor : undefined,
      });
      const json = { command: 'authz_list', args };
      const page = (await connection.json('POST', pathOf(options, 'app/exec'), { json }))['result'] as JsonObject;
      tuples.push(...objectsOf(page['tuples']));
      cursor = page['next_cursor'] ?? null;
    }
  });
  if (options.json) return printJson({ tuples, total: tuples.length });
  if (tuples.length === 0) return printLine('There are no tuples.');
  printTable(
    [{ title: 'subject' }, { title: 'relation' }, { title: 'object' }, { title: 'since (UTC)' }, { title: 'by' }],
    tuples.map((one) => [
      String(one['subject']),
      String(one['relation']),
      String(one['object']),
      utc(Number(one['granted_at'])),
      String(one['granted_by']),
    ]),
  );
}
