// The worker threads of a server: starts, restarts, drains and stops them.
//
// Worker w of W owns the shards i with i mod W = w. Each worker is a Piscina pool of one thread (see worker.ts). Each
// start makes a new pool, so that Piscina's own replacement of dead threads does not race with ours.
import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { assert } from '../../engine/base/assert.ts';
import { EngineError, type WireError } from '../../engine/base/errors.ts';
import {
  CLOSE_MS,
  RESTART_DELAY_MAX_MS,
  RESTART_DELAY_MIN_MS,
  RESTART_FORGIVEN_MS,
  SHARDS_MAX,
  THREAD_END_MS,
  WORKER_NEW_OBJECTS_MB,
} from '../../engine/base/limits.ts';
import { isSettledWithin } from '../../engine/base/settled-within.ts';
import { isCounted } from './batch-runner.ts';
import { type RawShardCaller, ShardClient } from './client.ts';
import type { EngineOptions } from './engine-door.ts';
import {
  drained,
  type OpeningOptions,
  type ShardSet,
  type ShardSetLog,
  type WorkerHealth,
  type WorkerLoad,
  type WorkerState,
} from './shard-set.ts';
import type { FromWorker, ToWorker, WorkerTask } from './worker.ts';

/** Where the threads of workers come from and go to. */
export interface Threads {
  /** A thread that runs nothing, for `filename`. */
  take(filename: string): Piscina;
  /** `isReusable`: it closed its engines as it was asked to. */
  give(thread: Piscina, isReusable: boolean): Promise<void>;
}

export interface PoolOptions extends OpeningOptions {
  readonly shards: number;
  readonly workers: number;
  /** The worker's entry file, whose default export is `serveShards(...)`. */
  readonly entry: URL;
  readonly engineOptions: (shard: number) => EngineOptions;
  readonly log: ShardSetLog;
  /** Returns the error of a call as its caller gets it. Default: the same. */
  readonly errorForCallers?: ((error: EngineError) => EngineError) | undefined;
  /** Enables the fault hook. */
  readonly faults?: boolean | undefined;
  /** Default: a new thread for each start, which ends with it. */
  readonly threads?: Threads | undefined;
  /** Called for each shard of a thread that has ended. */
  readonly onEnded?: ((shard: number) => void) | undefined;
  /** Runs its argument after this many ms. Returns a function that cancels it. */
  readonly delay?: ((run: () => void, ms: number) => () => void) | undefined;
}

export class ShardPool implements ShardSet {
  readonly #workers: readonly PoolWorker[];
  readonly #callers: readonly RawShardCaller[];

  private constructor(options: PoolOptions) {
    const { shards, workers } = options;
    assert(shards >= 1 && shards <= SHARDS_MAX, 'the number of shards is in range');
    assert(workers >= 1 && workers <= shards, 'every worker owns a shard');
    this.#workers = Array.from({ length: workers }, (_, worker) => new PoolWorker(worker, options));
    this.#callers = Array.from({ length: shards }, (_, shard) => this.#workers[shard % workers]!.client.shard(shard));
  }

  /** Starts all workers. If one cannot open its shards, stops the others and rejects. */
  static async start(options: PoolOptions): Promise<ShardPool> {
    const pool = new ShardPool(options);
    const started = await Promise.allSettled(pool.#workers.map((worker) => worker.start()));
    const failed = started.find((result) => result.status === 'rejected');
    if (failed === undefined) return pool;
    await pool.close();
    throw failed.reason;
  }

  get shards(): number {
    return this.#callers.length;
  }

  caller(shard: number): RawShardCaller {
    const caller = this.#callers[shard];
    assert(caller !== undefined, 'a shard index is in range');
    return caller;
  }

  open(shard: number): Promise<void> {
    return this.#workerOf(shard).change({ kind: 'open', shard });
  }

  closeShard(shard: number): Promise<void> {
    return this.#workerOf(shard).change({ kind: 'closeShard', shard });
  }

  fetch(shard: number): Promise<void> {
    return this.#workerOf(shard).change({ kind: 'fetch', shard });
  }

  prepare(shard: number): Promise<void> {
    return this.#workerOf(shard).change({ kind: 'prepare', shard });
  }

  isOpen(shard: number): boolean {
    return this.#workerOf(shard).opened.has(shard);
  }

  flush(): void {
    for (const { client } of this.#workers) client.flush();
  }

  #workerOf(shard: number): PoolWorker {
    assert(shard < this.#callers.length, 'a shard index is in range');
    return this.#workers[shard % this.#workers.length]!;
  }

  health(): readonly WorkerHealth[] {
    return this.#workers.map((worker) => worker.health());
  }

  loads(): readonly WorkerLoad[] {
    return this.#workers.map((worker) => worker.load());
  }

  async drain(deadlineMs: number): Promise<boolean> {
    const reason = new EngineError('STO-E002', 'the server is shutting down');
    const clients = this.#workers.map(({ client }) => client);
    for (const client of clients) client.refuse(reason);
    return drained(clients, deadlineMs);
  }

  /** Lets the engines answer queued calls, seal and close, then ends the threads. Kills a thread after `deadlineMs`. */
  async close(deadlineMs = CLOSE_MS): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.close(deadlineMs)));
  }
}

/** A step that the thread takes for a shard. */
interface Change {
  readonly kind: 'open' | 'closeShard' | 'fetch' | 'prepare';
  readonly resolve: () => void;
  readonly reject: (error: EngineError) => void;
}

/** One worker, across restarts of its thread. */
class PoolWorker {
  readonly client: ShardClient;
  /** Shards that are open in the current thread. */
  readonly opened = new Set<number>();
  readonly #changes = new Map<number, Change>();
  readonly #worker: number;
  readonly #shards: readonly number[];
  readonly #options: PoolOptions;
  readonly #delay: (run: () => void, ms: number) => () => void;
  #state: WorkerState = 'starting';
  #reason: string | undefined;
  #restarts = 0;
  /** Consecutive deaths; determines the delay of the next restart. */
  #deaths = 0;
  #servingSinceMs = 0;
  #port: MessagePort | undefined;
  /** Resolves when the current thread has ended. Never rejects. */
  #life: Promise<void> = Promise.resolve();
  #thread: Piscina | undefined;
  #takeBackRestart: (() => void) | undefined;

  constructor(worker: number, options: PoolOptions) {
    this.#worker = worker;
    this.#options = options;
    this.#delay = options.delay ?? delayByTimer;
    this.#shards = Array.from({ length: options.shards }, (_, shard) => shard).filter(
      (shard) => shard % options.workers === worker,
    );
    this.client = new ShardClient({
      send: (message) => this.#send(message),
      lapsed: options.lapsed,
      errorForCallers: options.errorForCallers,
      onUnreadable: (err) => options.log.error({ worker, err }, 'a reply cannot be read: its call failed'),
    });
    this.client.refuse(new EngineError('STO-E002', 'the shard is starting'));
  }

  health(): WorkerHealth {
    return {
      worker: this.#worker,
      shards: this.#shards,
      state: this.#state,
      restarts: this.#restarts,
      pendingItems: this.client.pendingItems,
      pendingBytes: this.client.pendingBytes,
      refused: this.#shards.map((shard) => ({ shard, calls: this.client.refusedOf(shard) })),
      reason: this.#reason,
    };
  }

  load(): WorkerLoad {
    const loop = this.#thread?.threads[0]?.performance.eventLoopUtilization();
    return { activeMs: loop?.active ?? 0, askedMs: this.client.askedMs };
  }

  /** One at a time for each shard. */
  change({ kind, shard }: { readonly kind: Change['kind']; readonly shard: number }): Promise<void> {
    assert(!this.#changes.has(shard), 'a shard has one change at a time');
    if (this.#state !== 'serving' || this.#port === undefined)
      return Promise.reject(new EngineError('STO-E002', this.#reason ?? 'the worker of the shard is starting'));
    const message: ToWorker =
      kind === 'open' || kind === 'fetch' ? { kind, engine: this.#options.engineOptions(shard) } : { kind, shard };
    this.#port.postMessage(message);
    if (kind === 'closeShard') this.opened.delete(shard);
    return new Promise((resolve, reject) => this.#changes.set(shard, { kind, resolve, reject }));
  }

  #changed({ shard, error }: { readonly shard: number; readonly error?: WireError | undefined }): void {
    const change = this.#changes.get(shard);
    assert(change !== undefined, 'a shard changes when it was asked to');
    this.#changes.delete(shard);
    if (error !== undefined) {
      change.reject(EngineError.fromWire(error));
      return;
    }
    if (change.kind === 'open') this.opened.add(shard);
    change.resolve();
  }

  #send(message: ArrayBuffer): void {
    assert(this.#port !== undefined, 'batches go only to a serving worker');
    this.#port.postMessage(message, [message]);
  }

  /** Starts a thread. Resolves when it serves; rejects if it ends before that. */
  start(): Promise<void> {
    assert(this.#port === undefined, 'a worker has one thread at a time');
    const { port1: port, port2 } = new MessageChannel();
    this.#state = 'starting';
    this.#port = port;
    const { threads = NEW_THREADS } = this.#options;
    const thread = threads.take(this.#options.entry.href);
    this.#thread = thread;
    return new Promise((resolve, reject) => {
      let end: { error: EngineError; culprit?: number | undefined } | undefined;
      const receive = (message: ArrayBuffer | FromWorker): void => {
        if (message instanceof ArrayBuffer) {
          try {
            this.client.receive(message);
          } catch (err) {
            // Nobody knows which calls the message answered, so all that are pending fail with the thread.
            this.#options.log.error({ worker: this.#worker, err }, 'a worker sent a broken message and is being ended');
            end ??= { error: new EngineError('STO-E002', 'the shard sent a broken message and is restarting') };
            this.client.refuse(end.error);
            void thread.destroy();
            return;
          }
          const taken: ToWorker = { kind: 'taken', bytes: message.byteLength };
          // Acknowledge after the callers have their answers.
          if (isCounted(message)) setImmediate(() => port.postMessage(taken));
        } else if (message.kind === 'ready') {
          if (this.#state === 'starting') this.#serving();
          resolve();
        } else if (message.kind === 'changed') this.#changed(message);
        else if (message.kind === 'refused') end = { error: EngineError.fromWire(message.error) };
        else if (message.kind === 'lost') {
          const { problem } = message;
          this.#options.log.error(
            { worker: this.#worker, problem },
            'a call failed: its request or its answer could not be passed between threads',
          );
        } else {
          this.#options.log.error(
            { worker: this.#worker, problem: message.problem },
            'a worker stops after an internal error',
          );
          end = {
            error: new EngineError('STO-E002', 'the shard met an internal error and is restarting'),
            culprit: message.id,
          };
        }
      };
      port.on('message', receive);
      const task: WorkerTask = {
        port: port2,
        engines: this.#opensAll ? this.#shards.map(this.#options.engineOptions) : [],
        faults: this.#options.faults ?? false,
      };
      // If a thread fails to load its entry file, `run` never settles: Piscina emits an event instead.
      const { promise: run, resolve: settle, reject: fail } = Promise.withResolvers<void>();
      thread.on('error', fail);
      thread.run(task, { transferList: [port2] }).then(settle, fail);
      this.#life = run
        .then(
          () => undefined,
          (error: unknown) => String(error),
        )
        .then(async (problem) => {
          // Messages that the thread posted before it ended may still be in the port.
          for (let last = receiveMessageOnPort(port); last !== undefined; last = receiveMessageOnPort(port)) {
            receive(last.message);
          }
          port.close();
          this.#port = undefined;
          const error = end?.error ?? new EngineError('STO-E002', `the shard's worker ended: ${problem ?? 'closed'}`);
          this.#ended(error, end?.culprit);
          reject(error);
          thread.off('error', fail);
          await threads.give(thread, problem === undefined && end === undefined);
        });
    });
  }

  get #opensAll(): boolean {
    return this.#options.opens !== 'asked';
  }

  #serving(): void {
    this.#state = 'serving';
    if (this.#opensAll) for (const shard of this.#shards) this.opened.add(shard);
    this.#reason = undefined;
    this.#servingSinceMs = performance.now();
    this.client.open();
    this.#options.log.info({ worker: this.#worker, shards: this.#shards, restarts: this.#restarts }, 'worker serves');
  }

  #ended(error: EngineError, culprit: number | undefined): void {
    const wasServing = this.#state === 'serving';
    const isClosed = this.#state === 'closed';
    this.opened.clear();
    for (const shard of this.#shards) this.#options.onEnded?.(shard);
    const changes = [...this.#changes.values()];
    this.#changes.clear();
    for (const { kind, resolve, reject } of changes) {
      if (kind === 'closeShard') resolve();
      else reject(error);
    }
    this.client.fail(
      isClosed ? new EngineError('STO-E002', 'the server is shutting down') : error,
      culprit === undefined ? undefined : { id: culprit, error: new EngineError('SYS-E001') },
    );
    if (isClosed) return;
    this.#state = 'down';
    this.#reason = error.message;
    // The caller reports a failed first start. After a first success the worker is always restarted.
    if (!wasServing && this.#restarts === 0) return;
    if (wasServing && performance.now() - this.#servingSinceMs > RESTART_FORGIVEN_MS) this.#deaths = 0;
    const delayMs = Math.min(RESTART_DELAY_MAX_MS, RESTART_DELAY_MIN_MS * 2 ** this.#deaths);
    this.#deaths = Math.min(this.#deaths + 1, 32);
    this.#options.log.error(
      { worker: this.#worker, reason: error.message, delayMs },
      'a worker ended and is being restarted',
    );
    this.#takeBackRestart = this.#delay(() => {
      this.#restarts++;
      // If this start fails, `#ended` schedules the next one.
      this.start().catch(() => undefined);
    }, delayMs);
  }

  async close(deadlineMs: number): Promise<void> {
    this.#takeBackRestart?.();
    this.client.refuse(new EngineError('STO-E002', 'the server is shutting down'));
    this.#state = 'closed';
    const close: ToWorker = { kind: 'close' };
    this.#port?.postMessage(close);
    // Kill a thread that does not end by itself. Everything it acknowledged is on disk.
    if (await isSettledWithin(this.#life, deadlineMs)) return;
    void this.#thread?.destroy();
    if (await isSettledWithin(this.#life, THREAD_END_MS)) return;
    // The process cannot end by itself any more: who started it bounds its end.
    this.#options.log.error({ worker: this.#worker }, 'the thread of a worker is stuck and was abandoned');
  }
}

/** The thread starts with its first `run`. */
export function newThread(filename: string): Piscina {
  return new Piscina({
    filename,
    // Start no thread ahead of time and replace none: the single `run` of a worker starts it.
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: Number.POSITIVE_INFINITY,
    // The engine works between messages, so the thread must not block in Atomics.wait.
    atomics: 'disabled',
    recordTiming: false,
    resourceLimits: { maxYoungGenerationSizeMb: WORKER_NEW_OBJECTS_MB },
  });
}

const NEW_THREADS: Threads = { take: newThread, give: (thread) => thread.destroy() };

function delayByTimer(run: () => void, ms: number): () => void {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
}
