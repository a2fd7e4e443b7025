// `granary hooks`: list, create, delete and resume the hooks of a memory, and read the events that one selects.
import type { Command } from 'commander';
import { defined } from '../engine/base/defined.ts';
import { type JsonObject, type JsonValue, objectOf } from '../engine/grain/api/json-value.ts';
import { gapNote } from './event-frames.ts';
import { gather, integer, type ServerOptions, withMemoryOption, withServerOptions } from './options.ts';
import { clipped, printJson, printLine, printNote, utc } from './output.ts';
import { allPages } from './pages.ts';

interface HookOptions extends ServerOptions {
  readonly memory: string;
}

interface CreateOptions extends HookOptions {
  readonly name?: string | undefined;
  readonly to?: string | undefined;
  readonly event?: readonly string[] | undefined;
  readonly secret?: boolean | undefined;
}

interface ReadOptions extends HookOptions {
  readonly after?: string | undefined;
  readonly limit: number;
}

export function registerHooks(program: Command): void {
  const hooks = program.command('hooks').description('List, create, delete and resume hooks; read their events');
  const add = (command: Command): Command => withServerOptions(withMemoryOption(command));
  add(hooks.command('list', { isDefault: true }).description('List hooks with the state of their deliveries')).action(
    list,
  );
  add(
    hooks
      .command('create')
      .description('Create a hook: events from now on are sent to a URL, or read with its filters')
      .option(
        '--to <url>',
        "http or https URL that events are posted to (--url is the server's); without it events are read",
      )
      .option('--name <text>', "name of the hook; the default is the hook's id")
      .option(
        '--event <kind>',
        'kind of events, such as grain_created; repeat the option for more; the default is all',
        gather,
      )
      .option('--secret', 'sign deliveries with a new secret, which is printed once'),
  ).action(create);
  add(hooks.command('delete').description('Delete a hook').argument('<hook-id>')).action(remove);
  add(
    hooks
      .command('resume')
      .description('Resume a paused hook; a waiting event is retried at once')
      .argument('<hook-id>'),
  ).action(resume);
  add(
    hooks
      .command('read')
      .description('Print the events that a hook selects, one JSON line each')
      .argument('<hook-id>')
      .option('--after <cursor>', 'cursor after which events are read; the default is where the hook began')
      .option('-n, --limit <n>', 'number of events at most', integer(1, 500), 100),
  ).action(read);
}

function pathOf({ memory }: HookOptions, rest: string): string {
  return `/memories/${encodeURIComponent(memory)}${rest}`;
}

async function list(options: HookOptions): Promise<void> {
  const { withConnection } = await import('./connection.ts');
  const hooks = await withConnection(options, (connection) => allPages(connection, pathOf(options, '/hooks'), 'hooks'));
  if (options.json) return printJson({ hooks, total: hooks.length });
  if (hooks.length === 0) return printLine('There are no hooks.');
  for (const hook of hooks) for (const line of linesOf(hook)) printLine(line);
}

/** The columns that a line of the list has at most. */
const WIDTH = 80;
const NAME_WIDTH = 18;
const INDENT = '  ';

/** A hook on a few lines: its id, name and state, then where its events go, which ones, and its last failure. */
function linesOf(hook: JsonObject): string[] {
  // A hook without a name has its id as one.
  const name = hook['name'] === hook['hook_id'] ? '' : clipped(text(hook['name']), NAME_WIDTH);
  const [url, failure] = [hook['url'], hook['last_failure']];
  const goes = url === undefined ? 'read' : `${text(hook['deliveries'])} delivered to ${text(url)}`;
  return [
    `${text(hook['hook_id'])}${INDENT}${name.padEnd(NAME_WIDTH)}${INDENT}${stateOf(hook)}`,
    `${INDENT}${clipped(goes, WIDTH - INDENT.length)}`,
    ...wrapped(`events: ${filtersOf(hook)}`),
    ...(failure === undefined ? [] : [`${INDENT}${clipped(`last failure: ${text(failure)}`, WIDTH - INDENT.length)}`]),
  ];
}

function wrapped(words: string): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of words.split(' ')) {
    if (line !== '' && `${line} ${word}`.length > WIDTH) {
      lines.push(line);
      line = '';
    }
    line = line === '' ? `${INDENT}${word}` : `${line} ${word}`;
  }
  return [...lines, line];
}

function filtersOf({ event_filters: filters }: JsonObject): string {
  return Array.isArray(filters) && filters.length > 0 ? filters.join(' ') : 'all';
}

function stateOf(hook: JsonObject): string {
  if (hook['active'] !== true) return 'paused';
  const next = hook['next_attempt_at'];
  return typeof next === 'number' ? `retry at ${utc(next)}` : 'active';
}

async function create(options: CreateOptions): Promise<void> {
  const { withConnection } = await import('./connection.ts');
  const { name, to: url, event, secret } = options;
  const json: JsonObject = defined({ name, url, event_filters: event && [...event], generate_secret: secret });
  const hook = await withConnection(options, (connection) =>
    connection.json('POST', pathOf(options, '/hooks'), { json }),
  );
  if (options.json) return printJson(hook);
  printLine(text(hook['secret'] ?? hook['hook_id']));
  const kept = hook['secret'] === undefined ? '' : ' Save its secret now: it is not shown again.';
  printNote(`Hook ${text(hook['hook_id'])} (${text(hook['name'])}).${kept}`);
}

async function remove(hookId: string, options: HookOptions): Promise<void> {
  const { withConnection } = await import('./connection.ts');
  const answer = await withConnection(options, (connection) =>
    connection.json('DELETE', pathOf(options, `/hooks/${encodeURIComponent(hookId)}`)),
  );
  if (options.json) return printJson(answer);
  printLine(`Hook ${hookId} is deleted.`);
}

async function exec(options: HookOptions, command: string, args: JsonObject): Promise<JsonObject> {
  const { withConnection } = await import('./connection.ts');
  const answer = await withConnection(options, (connection) =>
    connection.json('POST', pathOf(options, '/app/exec'), { json: { command, args } }),
  );
  return objectOf(answer['result']);
}

async function resume(hookId: string, options: HookOptions): Promise<void> {
  const hook = await exec(options, 'hook_resume', { hook_id: hookId });
  if (options.json) return printJson(hook);
  printLine(`Hook ${hookId} is active.`);
}

async function read(hookId: string, options: ReadOptions): Promise<void> {
  const { after, limit } = options;
  const answer = await exec(options, 'cdc_read', defined({ hook_id: hookId, limit, after }));
  if (options.json) return printJson(answer);
  if (answer['gap'] !== undefined) printNote(gapNote(objectOf(answer['gap'])));
  for (const event of answer['events'] as readonly JsonValue[]) printJson(event); // the contract: a list
  printNote(`Continue with --after ${text(answer['next'])}.`);
}

function text(value: JsonValue | undefined): string {
  return value === undefined || value === null ? '' : String(value);
}
