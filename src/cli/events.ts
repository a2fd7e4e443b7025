// `granary events`: the events of a memory, those that are kept or as they happen. A lost connection is taken up again at
// the last event.
import type { Command } from 'commander';
import type { JsonObject } from '../engine/grain/api/json-value.ts';
import type { Connection } from './connection.ts';
import { type EventFrame, framesOf, gapNote } from './event-frames.ts';
import { Failure } from './failure.ts';
import type { Asked } from './http-caller.ts';
import { type ServerOptions, withMemoryOption, withServerOptions } from './options.ts';
import { clipped, printJson, printLine, printNote, terminalColumns, utc } from './output.ts';

interface EventOptions extends ServerOptions {
  readonly memory: string;
  readonly follow?: true | undefined;
  readonly types?: string | undefined;
  readonly since?: string | undefined;
  readonly hook?: string | undefined;
}

/** Seconds of one stream; the next one continues. */
const STREAM_SECONDS = 3_600;
/** Seconds that a list waits for more events before it ends. */
const LIST_SECONDS = 1;
/** Time before a lost connection is taken up again, unless the server says another. */
const RETRY_MS = 3_000;
const HASH_DIGITS = 12;
/** Columns before the words of an event. */
const WORDS_AT = 64;

export function registerEvents(program: Command): void {
  const events = program
    .command('events')
    .description('Print the events of a memory, oldest first')
    .option('-f, --follow', 'new events are printed as they happen, until you stop the command')
    .option('--types <kinds>', 'kinds of events, joined by commas; the default is all')
    .option('--since <id>', 'only events after this id; the default is all that are kept, and new ones with --follow')
    .option('--hook <id>', 'only events that this hook selects');
  withServerOptions(withMemoryOption(events)).action(printEvents);
}

async function printEvents(options: EventOptions): Promise<void> {
  const { withConnection } = await import('./connection.ts');
  await withConnection(options, (connection) =>
    options.follow === true ? follow(connection, options) : list(connection, options),
  );
}

function pathOf({ memory }: EventOptions): string {
  return `/memories/${encodeURIComponent(memory)}/events`;
}

function queryOf({ types, hook }: EventOptions): NonNullable<Asked['query']> {
  return { types, hook_id: hook };
}

async function list(connection: Connection, options: EventOptions): Promise<void> {
  let isFirst = true;
  for (let since: unknown = options.since ?? '0'; ; ) {
    const page = await connection.json('GET', pathOf(options), {
      query: { ...queryOf(options), since: String(since), timeout_s: LIST_SECONDS },
      headers: { accept: 'application/json' },
    });
    const events = page['events'] as JsonObject[]; // the contract: objects
    if (isFirst && page['gap'] !== undefined) printNote(gapNote(page['gap'] as JsonObject)); // the contract: an object
    isFirst = false;
    for (const event of events) show(event, options);
    if (events.length === 0) return;
    since = page['next'];
  }
}

async function follow(connection: Connection, options: EventOptions): Promise<void> {
  let lastId = options.since;
  for (let isFirst = true; ; isFirst = false) {
    try {
      for await (const frame of framesOf(streamFrom(connection, options, lastId))) {
        if (frame.id !== '') lastId = frame.id;
        if (showFrame(frame, options) === 'end') break;
      }
    } catch (error) {
      if (isFirst || !(error instanceof Failure) || !error.retryable) throw error;
      printNote(`The connection is lost: ${error.message}. It is tried again.`);
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

function streamFrom(connection: Connection, options: EventOptions, lastId: string | undefined): AsyncGenerator<Buffer> {
  return connection.download(pathOf(options), {
    query: { ...queryOf(options), timeout_s: STREAM_SECONDS },
    headers: { accept: 'text/event-stream', 'last-event-id': lastId },
  });
}

/** Prints an event; `end` when the stream is over. Throws Failure when the server will not go on. */
function showFrame({ event, data }: EventFrame, options: EventOptions): 'end' | undefined {
  switch (event) {
    case 'ready':
      return undefined;
    case 'gap':
      printNote(gapNote(data));
      return undefined;
    case 'overflow':
      return 'end';
    case 'end':
      if (data['reason'] === 'refused')
        throw new Failure(
          String(data['code'] ?? 'AUT-E004'),
          'the server ended the stream: this caller may not read on',
        );
      if (data['reason'] === 'shutdown') throw new Failure('STO-E002', 'the server is shutting down', true);
      return 'end';
    default:
      show(data, options);
      return undefined;
  }
}

function show(event: JsonObject, { json }: EventOptions): void {
  if (json === true) {
    printJson(event);
    return;
  }
  const text = (name: string): string => String(event[name] ?? '');
  const at = utc(Math.floor(Number(event['timestamp_ms']) / 1000));
  const number = event['partition'] === undefined ? text('sequence') : `${text('partition')}:${text('sequence')}`;
  const head = `${at}  ${number.padStart(7)}  ${text('event_type').padEnd(20)}  ${text('hash').slice(0, HASH_DIGITS)}`;
  const words = clipped(wordsOf(event), Math.max(20, terminalColumns() - WORDS_AT));
  printLine(`${head.padEnd(WORDS_AT - 2)}  ${words}`.trimEnd());
}

function wordsOf(event: JsonObject): string {
  const said = ['subject', 'relation', 'object'].flatMap((name) => event[name] ?? []).map(String);
  const words = said.length > 0 ? [said.join(' ')] : [event['grain_type']].flatMap((type) => type ?? []).map(String);
  if (event['user_id'] !== undefined) words.push(`user ${String(event['user_id'])}`);
  if (event['count'] !== undefined) words.push(`${String(event['count'])} grains`);
  for (const [name, value] of Object.entries((event['details'] ?? {}) as JsonObject)) // the contract: an object
    words.push(`${name} ${String(value)}`);
  return words.join(', ');
}
