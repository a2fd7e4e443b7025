// Seals and merges in a thread beside a worker's (segment-server.ts), which starts with the first order and ends when it is
// idle. So the worker can commit meanwhile.
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { EngineError } from '../../engine/base/errors.ts';
import { SEGMENT_THREAD_IDLE_MS, WORKER_NEW_OBJECTS_MB } from '../../engine/base/limits.ts';
import type { RemoteWork } from '../../engine/index/elsewhere.ts';
import type { MergeOrder, MergeOutcome, Merger } from '../../engine/index/merging.ts';
import { buffersOf } from '../../engine/index/parts/frozen-tail.ts';
import type { Sealer, Sealing, SealOrder } from '../../engine/index/sealing.ts';
import type { FromSegmentThread, ToSegmentThread } from './segment-server.ts';

/** Processors that the main thread and one busy worker use. With no other, a thread beside gains nothing. */
const BUSY_PROCESSORS = 2;

interface Open {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
  /** Called when the thread no longer writes the file. */
  readonly over: () => void;
}

export class SegmentThread implements Sealer, Merger {
  readonly #entry: URL;
  #thread: Worker | undefined;
  /** Set once a thread has died: the worker then does all of it. */
  #broken = false;
  #orders = 0;
  readonly #open = new Map<number, Open>();
  #idle: NodeJS.Timeout | undefined;

  /** `entry`: a file that calls `serveSegments`. */
  constructor(entry: URL) {
    this.#entry = entry;
  }

  /** True on a machine where a worker should have such a thread. */
  static isWorthIt(): boolean {
    return availableParallelism() > BUSY_PROCESSORS;
  }

  begin(order: SealOrder): Sealing | undefined {
    if (this.#broken) return undefined;
    const { id, say, result, cancel } = this.#ordered<number>();
    say({ kind: 'seal', id, order });
    return {
      take: (piece) => say({ kind: 'piece', id, piece }, buffersOf(piece)),
      end: () => {
        say({ kind: 'end', id });
        return result;
      },
      cancel,
    };
  }

  merge(order: MergeOrder): RemoteWork<MergeOutcome> | undefined {
    if (this.#broken) return undefined;
    const { id, say, result, cancel } = this.#ordered<MergeOutcome>();
    say({ kind: 'merge', id, order }, [order.keys.rows.buffer, order.keys.bytes.buffer]);
    return { end: () => result, cancel };
  }

  /** Opens an order with a result of type T. */
  #ordered<T>() {
    const thread = this.#started();
    const id = ++this.#orders;
    const say = (message: ToSegmentThread, transfer: ArrayBuffer[] = []): void => thread.postMessage(message, transfer);
    const { promise, resolve, reject } = Promise.withResolvers<T | undefined>();
    // An order may fail before anybody waits for it.
    promise.catch(() => undefined);
    const over = Promise.withResolvers<void>();
    // The thread answers each kind of order with its type of result.
    this.#open.set(id, { resolve: resolve as Open['resolve'], reject, over: over.resolve });
    const cancel = (): Promise<void> => {
      if (this.#open.has(id)) say({ kind: 'cancel', id });
      return over.promise;
    };
    return { id, say, result: promise, cancel };
  }

  #started(): Worker {
    clearTimeout(this.#idle);
    if (this.#thread !== undefined) {
      this.#thread.ref();
      return this.#thread;
    }
    const thread = new Worker(this.#entry, {
      name: 'segments',
      resourceLimits: { maxYoungGenerationSizeMb: WORKER_NEW_OBJECTS_MB },
    });
    this.#thread = thread;
    thread.on('message', (message: FromSegmentThread) => this.#heard(message));
    // Without a listener the error would end the process. The exit follows.
    thread.on('error', () => undefined);
    thread.on('exit', () => {
      if (this.#thread === thread) this.#died();
    });
    return thread;
  }

  #heard(message: FromSegmentThread): void {
    const order = this.#open.get(message.id);
    if (order === undefined) return;
    this.#open.delete(message.id);
    if ('result' in message) order.resolve(message.result);
    else if ('error' in message) order.reject(EngineError.fromWire(message.error));
    else if ('cancelled' in message) order.reject(new EngineError('STO-E002', 'the segment was given up'));
    else order.reject(new Error(`the thread that writes segments met a bug: ${message.problem}`));
    order.over();
    if (this.#open.size > 0) return;
    // Between two orders the thread keeps nobody alive.
    this.#thread?.unref();
    this.#idle = setTimeout(() => this.#stop(), SEGMENT_THREAD_IDLE_MS);
    this.#idle.unref();
  }

  #stop(): void {
    const thread = this.#thread;
    this.#thread = undefined;
    void thread?.terminate();
  }

  /** The worker does what is open, and all that follows. */
  #died(): void {
    this.#thread = undefined;
    this.#broken = true;
    for (const order of this.#open.values()) {
      order.resolve(undefined);
      order.over();
    }
    this.#open.clear();
  }
}
