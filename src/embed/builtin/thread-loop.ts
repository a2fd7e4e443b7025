// The loop of the encoder's thread: takes batches and embeds their texts one by one, queries before backlog. It polls
// its port before every text, so a query waits for at most one text of the backlog. It does not consult the owner's
// thread, which may be busy.
import { constants, getPriority, setPriority } from 'node:os';
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { EmbedError } from '../embedder.ts';
import type { FromThread, Priority, ToThread } from './messages.ts';
import type { RuntimeName } from './runtime.ts';

/** Encodes one text to one vector. */
export interface TextEncoder {
  /** Name and length of the vectors, where only the thread knows them. */
  readonly name?: string | undefined;
  readonly dimensions?: number | undefined;
  readonly runtime: RuntimeName;
  readonly notices: readonly string[];
  encode(text: string, priority: Priority): Promise<Float32Array | undefined>;
}

/** A busy shard gets nine times the CPU time of this thread. If queries get slow, a second thread serves them. */
const NICE = 10;

interface Batch {
  readonly id: number;
  readonly texts: readonly string[];
  readonly vectors: (Float32Array | undefined)[];
}

/**
 * Loads the encoder and serves `port` until the thread ends. Resolves when the encoder cannot load, after reporting
 * why. Rejects with errors of the encoder: they end the thread, and the owner starts another.
 */
export async function serveTexts(
  port: MessagePort,
  load: () => Promise<TextEncoder>,
  { queriesOnly = false }: { readonly queriesOnly?: boolean | undefined } = {},
): Promise<void> {
  if (!queriesOnly) lowerPriority();
  const queues: Readonly<Record<Priority, Map<number, Batch>>> = { query: new Map(), backlog: new Map() };
  let wake = (): void => {};
  const take = (message: ToThread): void => {
    if (message.kind === 'embed') {
      const { batch: id, priority, texts } = message;
      queues[priority].set(id, { id, texts, vectors: [] });
    } else {
      queues.query.delete(message.batch);
      queues.backlog.delete(message.batch);
    }
    wake();
  };
  port.on('message', take);
  const say = (message: FromThread, transfer: ArrayBuffer[] = []): void => port.postMessage(message, transfer);

  let encoder: TextEncoder;
  try {
    encoder = await load();
  } catch (error) {
    if (!(error instanceof EmbedError)) throw error;
    say({ kind: 'failed', reason: error.message });
    port.close();
    return;
  }
  const { name, dimensions, runtime, notices } = encoder;
  say({ kind: 'loaded', name, dimensions, runtime, notices });
  for (;;) {
    // Each item is { message }; undefined when the port is empty.
    for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port))
      take(next.message as ToThread);
    const priority = queues.query.size > 0 ? 'query' : 'backlog';
    const queue = queues[priority];
    const [batch] = queue.values();
    if (batch === undefined) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
      continue;
    }
    const text = batch.texts[batch.vectors.length];
    if (text !== undefined) batch.vectors.push(await encoder.encode(text, priority));
    if (batch.vectors.length < batch.texts.length) continue;
    // False when the batch was dropped in the meantime.
    if (!queue.delete(batch.id)) continue;
    const buffers = batch.vectors.flatMap((vector) => (vector === undefined ? [] : [vector.buffer as ArrayBuffer]));
    say({ kind: 'vectors', batch: batch.id, vectors: batch.vectors }, buffers);
  }
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
