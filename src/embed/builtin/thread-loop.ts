// The encoder's thread: takes batches, embeds their texts one by one, queries before backlog. It looks at its port before
// every text, so a query waits for one text of the backlog at most; the owner's thread is not asked in between, since it
// may be busy.
import { constants, getPriority, setPriority } from 'node:os';
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { EmbedError } from '../embedder.ts';
import type { FromThread, Priority, ToThread } from './messages.ts';
import type { RuntimeName } from './runtime.ts';

/** What gives one text its vector. */
export interface TextEncoder {
  readonly runtime: RuntimeName;
  readonly notices: readonly string[];
  encode(text: string): Promise<Float32Array | undefined>;
}

/** A busy shard gets nine times the time of this thread. Where that makes queries wait, they get a thread of their own. */
const NICE = 10;

interface Batch {
  readonly id: number;
  readonly texts: readonly string[];
  readonly vectors: (Float32Array | undefined)[];
}

/**
 * Loads the encoder and serves `port` until the thread ends. Resolves when the encoder does not load (the owner is
 * told why); rejects with what the encoder throws: that ends the thread, and the owner starts another.
 */
export async function serveTexts(
  port: MessagePort,
  load: () => Promise<TextEncoder>,
  { queriesOnly = false }: { readonly queriesOnly?: boolean } = {},
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
  say({ kind: 'loaded', runtime: encoder.runtime, notices: encoder.notices });
  for (;;) {
    // Each says { message } while there is one.
    for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port))
      take(next.message as ToThread);
    const queue = queues.query.size > 0 ? queues.query : queues.backlog;
    const [batch] = queue.values();
    if (batch === undefined) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
      continue;
    }
    const text = batch.texts[batch.vectors.length];
    if (text !== undefined) batch.vectors.push(await encoder.encode(text));
    if (batch.vectors.length < batch.texts.length) continue;
    // False for one that was dropped meanwhile.
    if (!queue.delete(batch.id)) continue;
    const buffers = batch.vectors.flatMap((vector) => (vector === undefined ? [] : [vector.buffer as ArrayBuffer]));
    say({ kind: 'vectors', batch: batch.id, vectors: batch.vectors }, buffers);
  }
}

/**
 * Linux keeps a priority for each thread, and its process 0 is the thread that asks. Elsewhere the call would slow the
 * whole process down; there this thread has the priority of all.
 */
function lowerPriority(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(0, Math.min(constants.priority.PRIORITY_LOW, getPriority(0) + NICE));
  } catch {
    // Some sandboxes forbid it. The thread works all the same.
  }
}
