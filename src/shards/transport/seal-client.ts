// Seals in a thread beside a worker's (seal-server.ts), which starts with the first seal and ends when it is idle. So the
// worker can commit meanwhile.
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { EngineError } from '../../engine/base/errors.ts';
import { SEALER_IDLE_MS, WORKER_NEW_OBJECTS_MB } from '../../engine/base/limits.ts';
import { buffersOf } from '../../engine/index/parts/frozen-tail.ts';
import type { Sealer, Sealing, SealOrder } from '../../engine/index/sealing.ts';
import type { FromSealer, ToSealer } from './seal-server.ts';

/** Processors that the main thread and one busy worker use. With no other, a seal in a thread of its own gains nothing. */
const BUSY_PROCESSORS = 2;

interface Open {
  readonly resolve: (chunks: number | undefined) => void;
  readonly reject: (error: Error) => void;
  /** Called when the thread no longer writes the file. */
  readonly over: () => void;
}

export class SealThread implements Sealer {
  readonly #entry: URL;
  #thread: Worker | undefined;
  /** Set once a thread has died: seals then run in the worker. */
  #broken = false;
  #seals = 0;
  readonly #open = new Map<number, Open>();
  #idle: NodeJS.Timeout | undefined;

  /** `entry`: a file that calls `serveSeals`. */
  constructor(entry: URL) {
    this.#entry = entry;
  }

  /** True on a machine where a worker should have such a thread. */
  static isWorthIt(): boolean {
    return availableParallelism() > BUSY_PROCESSORS;
  }

  begin(order: SealOrder): Sealing | undefined {
    if (this.#broken) return undefined;
    const thread = this.#started();
    const id = ++this.#seals;
    const say = (message: ToSealer, transfer: ArrayBuffer[] = []): void => thread.postMessage(message, transfer);
    const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
    // A seal may fail before anybody waits for it.
    promise.catch(() => undefined);
    const over = Promise.withResolvers<void>();
    this.#open.set(id, { resolve, reject, over: over.resolve });
    say({ kind: 'begin', id, order });
    return {
      take: (piece) => say({ kind: 'piece', id, piece }, buffersOf(piece)),
      end: () => {
        say({ kind: 'end', id });
        return promise;
      },
      cancel: () => {
        if (this.#open.has(id)) say({ kind: 'cancel', id });
        return over.promise;
      },
    };
  }

  #started(): Worker {
    clearTimeout(this.#idle);
    if (this.#thread !== undefined) {
      this.#thread.ref();
      return this.#thread;
    }
    const thread = new Worker(this.#entry, {
      name: 'sealer',
      resourceLimits: { maxYoungGenerationSizeMb: WORKER_NEW_OBJECTS_MB },
    });
    this.#thread = thread;
    thread.on('message', (message: FromSealer) => this.#heard(message));
    // Without a listener the error would end the process. The exit follows.
    thread.on('error', () => undefined);
    thread.on('exit', () => {
      if (this.#thread === thread) this.#died();
    });
    return thread;
  }

  #heard(message: FromSealer): void {
    const seal = this.#open.get(message.id);
    if (seal === undefined) return;
    this.#open.delete(message.id);
    if ('chunks' in message) seal.resolve(message.chunks);
    else if ('error' in message) seal.reject(EngineError.fromWire(message.error));
    else if ('cancelled' in message) seal.reject(new EngineError('STO-E002', 'the seal was given up'));
    else seal.reject(new Error(`the thread that seals met a bug: ${message.problem}`));
    seal.over();
    if (this.#open.size > 0) return;
    // Between seals the thread keeps nobody alive.
    this.#thread?.unref();
    this.#idle = setTimeout(() => this.#stop(), SEALER_IDLE_MS);
    this.#idle.unref();
  }

  #stop(): void {
    const thread = this.#thread;
    this.#thread = undefined;
    void thread?.terminate();
  }

  /** The worker seals what is open, and all that follows. */
  #died(): void {
    this.#thread = undefined;
    this.#broken = true;
    for (const seal of this.#open.values()) {
      seal.resolve(undefined);
      seal.over();
    }
    this.#open.clear();
  }
}
