// `granary events`: the events of a memory, those that are kept or as they happen. A lost connection is taken up again at
// the last event.
import type { Command } from 'commander';
import { type JsonObject, objectOf, objectsOf } from '../engine/grain/api/json-value.ts';
import type { Connection } from './connection.ts';
import { type EventFrame, framesOf, gapNote } from './event-frames.ts';
import { eventLine } from './event-line.ts';
import { EXIT, INTERRUPTED_EXIT } from './exit-codes.ts';
import { Failure } from './failure.ts';
import type { Asked } from './http-caller.ts';
import { type ServerOptions, withMemoryOption, withServerOptions } from './options.ts';
import { printJson, printLine, printNote, terminalColumns } from './output.ts';

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

export function registerEvents(program: Command): void {
  const events = program
    .command('events')
    .description('Print the events of a memory, oldest first')
    .option('-f, --follow', 'print new events as they happen, until you stop the command')
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
    const events = objectsOf(page['events']);
    if (isFirst && page['gap'] !== undefined) printNote(gapNote(objectOf(page['gap'])));
    isFirst = false;
    for (const event of events) show(event, options);
    since = page['next'];
    if (events.length > 0) continue;
    printNote(continueWith(since));
    return;
  }
}

async function follow(connection: Connection, options: EventOptions): Promise<void> {
  let lastId = options.since;
  process.once('SIGINT', () => {
    if (lastId !== undefined) printNote(continueWith(lastId));
    process.exit(INTERRUPTED_EXIT);
  });
  // As after `| head`: there is nobody for the events that are still to come.
  process.stdout.once('error', () => process.exit(EXIT.ok));
  for (let isFirst = true; ; isFirst = false) {
    try {
      let isOver = false;
      for await (const frame of framesOf(streamFrom(connection, options, lastId))) {
        if (frame.id !== '') lastId = frame.id;
        isOver = showFrame(frame, options) === 'end';
        if (isOver) break;
      }
      if (!isOver) await lost('the stream ended early');
    } catch (error) {
      if (isFirst || !(error instanceof Failure) || !error.retryable) throw error;
      await lost(error.message);
    }
  }
}

async function lost(reason: string): Promise<void> {
  printNote(`The connection was lost: ${reason}. Trying again.`);
  await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
}

/** The id of the last event, which a line of the list does not show whole. */
function continueWith(id: unknown): string {
  return `Continue with --since ${String(id)}.`;
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
          'the server ended the stream: the key may no longer read these events',
        );
      if (data['reason'] === 'shutdown') throw new Failure('STO-E002', 'the server is shutting down', true);
      return 'end';
    default:
      show(data, options);
      return undefined;
  }
}

function show(event: JsonObject, { json }: EventOptions): void {
  if (json === true) printJson(event);
  else printLine(eventLine(event, terminalColumns()));
}
