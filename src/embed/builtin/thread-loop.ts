// The loop of the encoder's thread: takes batches and embeds their texts in runs, queries before backlog. It polls its
// port before every run, so a query waits for at most one run of the backlog. It does not consult the owner's thread,
// which may be busy. The backlog keeps to its share of a core; queries do not.
import { constants, getPriority, setPriority } from 'node:os';
import type { MessagePort } from 'node:worker_threads';
import { EMBED_REST_LOOK_MS, EMBED_RESTING_SAID_MS } from '../../engine/base/limits.ts';
import { EmbedError } from '../embedder.ts';
import { Pace } from '../pace.ts';
import { Inbox } from './inbox.ts';
import type { FromThread, Priority, ToThread } from './messages.ts';
import { type Batch, newBatch, type Tokens, takeRun } from './runs.ts';
import type { RuntimeName } from './runtime.ts';

/** Encodes texts to vectors. `T` is what it reads of a text. */
export interface TextsEncoder<T extends Tokens> {
  /** Name and length of the vectors, where only the thread knows them. */
  readonly name?: string | undefined;
  readonly dimensions?: number | undefined;
  readonly runtime: RuntimeName;
  readonly notices: readonly string[];
  /** Whether it takes several texts at once. */
  readonly shares: boolean;
  /** Undefined for a text without a vector. */
  tokensOf(text: string, priority: Priority): T | undefined;
  /** Texts with equally many tokens. */
  encodeAll(texts: readonly T[]): Promise<readonly (Float32Array | undefined)[]>;
}

/** Encodes one text to one vector. */
export type TextEncoder = Omit<TextsEncoder<Tokens>, 'shares' | 'tokensOf' | 'encodeAll'> & {
  encode(text: string, priority: Priority): Promise<Float32Array | undefined>;
};

interface OneText extends Tokens {
  readonly text: string;
  readonly priority: Priority;
}

/** An encoder that takes one text at a time. */
export function oneByOne(encoder: TextEncoder): TextsEncoder<OneText> {
  const { name, dimensions, runtime, notices } = encoder;
  return {
    ...{ name, dimensions, runtime, notices },
    shares: false,
    tokensOf: (text, priority) => ({ text, priority, length: text.length }),
    encodeAll: (texts) => Promise.all(texts.map(({ text, priority }) => encoder.encode(text, priority))),
  };
}

export interface ServeOptions {
  /** The thread keeps normal priority. */
  readonly queriesOnly?: boolean | undefined;
  /** Share of a core that the backlog may have (`Pace`). */
  readonly share?: Int32Array | undefined;
}

/** A busy shard gets nine times the CPU time of this thread. If queries get slow, a second thread serves them. */
const NICE = 10;

/**
 * Loads the encoder and serves `port` until the thread ends. Resolves when the encoder cannot load, after reporting
 * why. Rejects with errors of the encoder: they end the thread, and the owner starts another.
 */
export async function serveTexts<T extends Tokens>(
  port: MessagePort,
  load: () => Promise<TextsEncoder<T>>,
  { queriesOnly = false, share }: ServeOptions = {},
): Promise<void> {
  if (!queriesOnly) lowerPriority();
  const inbox = new Inbox(port);
  let encoder: TextsEncoder<T>;
  try {
    encoder = await load();
  } catch (error) {
    if (!(error instanceof EmbedError)) throw error;
    say(port, { kind: 'failed', reason: error.message });
    port.close();
    return;
  }
  const { name, dimensions, runtime, notices } = encoder;
  say(port, { kind: 'loaded', name, dimensions, runtime, notices });
  // The native runtime works in threads of its own.
  const pace = new Pace({ share, workedMs: runtime === 'native' ? () => performance.now() : threadCpuMs });
  await serveLoaded({ port, inbox, encoder, pace });
}

interface Serving<T extends Tokens> {
  readonly port: MessagePort;
  readonly inbox: Inbox;
  readonly encoder: TextsEncoder<T>;
  readonly pace: Pace;
}

async function serveLoaded<T extends Tokens>({ port, inbox, encoder, pace }: Serving<T>): Promise<never> {
  const queues: Readonly<Record<Priority, Map<number, Batch<T>>>> = { query: new Map(), backlog: new Map() };
  let restingSaidMs = Number.NEGATIVE_INFINITY;
  for (;;) {
    for (const message of inbox.take()) receive(message, queues, encoder);
    const priority = queues.query.size > 0 ? 'query' : 'backlog';
    const queue = queues[priority];
    if (queue.size === 0) {
      await inbox.wait();
      continue;
    }
    const restMs = priority === 'query' ? 0 : pace.restMs();
    if (restMs > 0) {
      if (performance.now() - restingSaidMs > EMBED_RESTING_SAID_MS) {
        say(port, { kind: 'resting' });
        restingSaidMs = performance.now();
      }
      await inbox.wait(Math.min(restMs, EMBED_REST_LOOK_MS));
      continue;
    }
    const run = takeRun(queue.values(), encoder.shares);
    const encode = () => encoder.encodeAll(run.map(({ tokens }) => tokens));
    const vectors = run.length === 0 ? [] : await (priority === 'query' ? encode() : pace.run(encode));
    for (const [i, { batch, place }] of run.entries()) batch.vectors[place] = vectors[i];
    for (const { id, left, vectors: made } of queue.values()) {
      if (left.length > 0) continue;
      queue.delete(id);
      const buffers = made.flatMap((vector) => (vector === undefined ? [] : [vector.buffer as ArrayBuffer]));
      say(port, { kind: 'vectors', batch: id, vectors: made }, buffers);
    }
  }
}

function receive<T extends Tokens>(
  message: ToThread,
  queues: Readonly<Record<Priority, Map<number, Batch<T>>>>,
  encoder: TextsEncoder<T>,
): void {
  const { batch } = message;
  if (message.kind === 'drop') {
    queues.query.delete(batch);
    queues.backlog.delete(batch);
  } else {
    const { priority, texts } = message;
    const tokens = texts.map((text) => encoder.tokensOf(text, priority));
    queues[priority].set(batch, newBatch(batch, tokens));
  }
}

function say(port: MessagePort, message: FromThread, transfer: ArrayBuffer[] = []): void {
  port.postMessage(message, transfer);
}

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/**
 * Linux has a priority per thread, and process id 0 means the calling thread. Elsewhere the call would slow down the
 * whole process, so the thread keeps normal priority there.
 */
function lowerPriority(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(0, Math.min(constants.priority.PRIORITY_LOW, getPriority(0) + NICE));
  } catch {
    // Some sandboxes forbid it. The thread works nevertheless.
  }
}
