// Streams as async iterators, and the events of a memory, which go on after a lost connection.
import { ConnectionError, GranaryError } from './errors.ts';
import type { MemoryEvent } from './gen/operations.ts';
import { fromWire } from './names.ts';
import { FrameReader, type StreamFrame } from './sse.ts';
import type { Bounds, CallOptions, OpenStream, Transport } from './transport.ts';
import { backoffMs, sleep } from './wait.ts';

/** The server sends something every 15 seconds; a connection that is silent for longer is lost. */
const SILENT_MS = 45_000;

/** The frames of a stream until it ends. Leaving the loop closes the connection. */
export async function* frames(
  { body, close }: OpenStream,
  signal: AbortSignal | undefined,
  parser: FrameReader = new FrameReader(),
): AsyncGenerator<StreamFrame, void, undefined> {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await heard(reader.read(), signal);
      if (done) return;
      yield* parser.read(value);
    }
  } finally {
    close();
    await reader.cancel().catch(() => undefined);
  }
}

/** The chunk, or an error: the signal's, or that of a connection that broke off or is silent. */
async function heard<T>(chunk: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('silent')), SILENT_MS);
  });
  try {
    return await Promise.race([chunk, silence]);
  } catch (cause) {
    signal?.throwIfAborted();
    throw new ConnectionError('the stream broke off', { code: 'CLIENT', status: 0, retryable: true, cause });
  } finally {
    clearTimeout(timer);
  }
}

export interface EventsInput {
  /** Kinds of events; the default is all. */
  readonly types?: readonly string[] | undefined;
  /** Id of the event to go on after; `0` for all that are kept; the default is events from now on. */
  readonly since?: string | undefined;
  /** Only events that this hook selects. */
  readonly hookId?: string | undefined;
}

/** One step of a memory's events. `id` is what `since` takes later. */
export type EventStep =
  | { readonly kind: 'event'; readonly id: string; readonly event: MemoryEvent }
  /** Events were lost: they are not kept any more, or the memory was restored. Read again what you need. */
  | { readonly kind: 'gap'; readonly id: string | undefined; readonly reason: string };

/** The events of a memory. Goes on until the caller leaves the loop, the signal aborts, or the server refuses it. */
export async function* eventSteps(
  transport: Transport,
  { types, since, hookId }: EventsInput,
  bounds: Bounds,
  options: CallOptions,
): AsyncGenerator<EventStep, void, undefined> {
  const { signal } = options;
  let last: string | undefined;
  let failures = 0;
  let pauseMs = 0;
  /** The reconnection time of the server. */
  let reconnectMs = 0;
  for (;;) {
    const parser = new FrameReader();
    try {
      const input = { types: types?.join(','), hookId, since: last === undefined ? since : undefined };
      const stream = await transport.open('events', input, bounds, { ...options, retries: 0, lastEventId: last });
      let isEnded = false;
      for await (const frame of frames(stream, signal, parser)) {
        failures = 0;
        last = frame.id ?? last;
        isEnded = frame.event === 'overflow' || (frame.event === 'end' && frame.data['reason'] === 'timeout');
        if (frame.event === 'end' && frame.data['reason'] === 'refused') return;
        const step = stepOf(frame);
        if (step !== undefined) yield step;
      }
      // Something in between closes it, or the server ends: as after a lost connection.
      if (!isEnded) failures++;
    } catch (error) {
      if (!(error instanceof GranaryError) || !error.retryable) throw error;
      failures++;
      pauseMs = error.retryAfterMs ?? 0;
    }
    reconnectMs = parser.retryMs ?? reconnectMs;
    const askedMs = Math.max(pauseMs, reconnectMs);
    await sleep(failures === 0 ? 0 : Math.max(backoffMs(failures), backoffMs(failures, askedMs)), signal);
    pauseMs = 0;
  }
}

const ABOUT_THE_STREAM: ReadonlySet<string> = new Set(['ready', 'overflow', 'end']);

function stepOf({ id, event, data }: StreamFrame): EventStep | undefined {
  if (event === 'gap') return { kind: 'gap', id, reason: String(data['reason'] ?? '') };
  if (ABOUT_THE_STREAM.has(event)) return undefined;
  const { events } = fromWire('events', { events: [data] }) as { readonly events: readonly MemoryEvent[] }; // as the long-poll
  return { kind: 'event', id: id ?? '', event: events[0]! };
}
