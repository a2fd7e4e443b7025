// The workers of a server: starts them, starts one again that died, drains and stops them.
//
// Worker w of W owns the shards i with i mod W = w. Each is a Piscina pool of one thread (worker.ts says how it is
// used), made anew for each start, so that Piscina's own replacement of dead threads does not race with ours.
import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { assert } from '../../engine/base/assert.ts';
import { EngineError } from '../../engine/base/errors.ts';
import {
  CLOSE_MS,
  RESTART_DELAY_MAX_MS,
  RESTART_DELAY_MIN_MS,
  RESTART_FORGIVEN_MS,
  SHARDS_MAX,
  WORKER_NEW_OBJECTS_MB,
} from '../../engine/base/limits.ts';
import { isCounted } from './batch-runner.ts';
import { type RawShardCaller, ShardClient } from './client.ts';
import type { EngineOptions } from './engine-door.ts';
import type { FromWorker, ToWorker, WorkerTask } from './worker.ts';

/** Where the pool says what happened; pino's logger fits. */
export interface PoolLog {
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface PoolOptions {
  readonly shards: number;
  readonly workers: number;
  /** The worker's entry file, whose default export is `serveShards(...)`. */
  readonly entry: URL;
  readonly engineOptions: (shard: number) => EngineOptions;
  readonly log: PoolLog;
  /** True: the fault hook works. */
  readonly faults?: boolean;
  /** Runs its argument after this many ms; returns what takes that back. */
  readonly delay?: (run: () => void, ms: number) => () => void;
}

export interface WorkerHealth {
  readonly worker: number;
  readonly shards: readonly number[];
  readonly state: WorkerState;
  /** Times it was started again. */
  readonly restarts: number;
  readonly pendingItems: number;
  readonly pendingBytes: number;
  /** Why it is not serving. */
  readonly reason?: string;
}
export type WorkerState = 'starting' | 'serving' | 'down' | 'closed';

export class ShardPool {
  readonly #workers: readonly PoolWorker[];
  readonly #callers: readonly RawShardCaller[];

  private constructor(options: PoolOptions) {
    const { shards, workers } = options;
    assert(shards >= 1 && shards <= SHARDS_MAX, 'the number of shards is in range');
    assert(workers >= 1 && workers <= shards, 'every worker owns a shard');
    this.#workers = Array.from({ length: workers }, (_, worker) => new PoolWorker(worker, options));
    this.#callers = Array.from({ length: shards }, (_, shard) => this.#workers[shard % workers]!.client.shard(shard));
  }

  /** Starts all workers; rejects, with nothing left running, when one cannot open its shards. */
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

  /** The shard of this index. The caller stays good over restarts of its worker. */
  caller(shard: number): RawShardCaller {
    const caller = this.#callers[shard];
    assert(caller !== undefined, 'a shard index is in range');
    return caller;
  }

  health(): readonly WorkerHealth[] {
    return this.#workers.map((worker) => worker.health());
  }

  /** Takes no new calls and waits for those pending; false when some are left after `deadlineMs` milliseconds. */
  async drain(deadlineMs: number): Promise<boolean> {
    const reason = new EngineError('STO-E002', 'the server is shutting down');
    for (const { client } of this.#workers) client.refuse(reason);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), deadlineMs);
    });
    const drained = Promise.all(this.#workers.map(({ client }) => client.drained())).then(() => true);
    const inTime = await Promise.race([drained, late]);
    clearTimeout(timer);
    return inTime;
  }

  /** Lets the engines answer what they have queued, seal and close, and ends the threads; after `deadlineMs` at once. */
  async close(deadlineMs = CLOSE_MS): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.close(deadlineMs)));
  }
}

/** One worker over its lives. */
class PoolWorker {
  readonly client: ShardClient;
  readonly #worker: number;
  readonly #shards: readonly number[];
  readonly #options: PoolOptions;
  readonly #delay: (run: () => void, ms: number) => () => void;
  #state: WorkerState = 'starting';
  #reason: string | undefined;
  #restarts = 0;
  /** Deaths in a row. */
  #deaths = 0;
  #servingSinceMs = 0;
  #port: MessagePort | undefined;
  /** Settles, never rejects, when the thread of this life has ended. */
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
    this.client = new ShardClient({ send: (message) => this.#send(message) });
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
      ...(this.#reason === undefined ? {} : { reason: this.#reason }),
    };
  }

  #send(message: ArrayBuffer): void {
    assert(this.#port !== undefined, 'batches go to a worker that serves');
    this.#port.postMessage(message, [message]);
  }

  /** One life: resolves when the worker serves, rejects when it ended before that. */
  start(): Promise<void> {
    assert(this.#port === undefined, 'a worker lives once at a time');
    const { port1: port, port2 } = new MessageChannel();
    this.#state = 'starting';
    this.#port = port;
    const thread = new Piscina({
      filename: this.#options.entry.href,
      // None is started ahead, and none again: the one run below starts it.
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: Number.POSITIVE_INFINITY,
      // An engine has work of its own between messages: the thread may not sleep in Atomics.wait.
      atomics: 'disabled',
      recordTiming: false,
      resourceLimits: { maxYoungGenerationSizeMb: WORKER_NEW_OBJECTS_MB },
    });
    this.#thread = thread;
    return new Promise((resolve, reject) => {
      let end: { error: EngineError; culprit?: number } | undefined;
      const receive = (message: ArrayBuffer | FromWorker): void => {
        if (message instanceof ArrayBuffer) {
          this.client.receive(message);
          const taken: ToWorker = { kind: 'taken', bytes: message.byteLength };
          // Whoever asked has the answer by then.
          if (isCounted(message)) setImmediate(() => port.postMessage(taken));
        } else if (message.kind === 'ready') {
          if (this.#state === 'starting') this.#serving();
          resolve();
        } else if (message.kind === 'refused') end = { error: EngineError.fromWire(message.error) };
        else {
          this.#options.log.error({ worker: this.#worker, problem: message.problem }, 'worker met a bug and stops');
          end = {
            error: new EngineError('STO-E002', 'the shard met an internal error and is restarting'),
            ...(message.id === undefined ? {} : { culprit: message.id }),
          };
        }
      };
      port.on('message', receive);
      const task: WorkerTask = {
        port: port2,
        engines: this.#shards.map(this.#options.engineOptions),
        faults: this.#options.faults ?? false,
      };
      // A thread that fails while it loads its entry file settles no run: Piscina says that as an event.
      const run = new Promise<void>((settle, fail) => {
        thread.on('error', fail);
        thread.run(task, { transferList: [port2] }).then(settle, fail);
      });
      this.#life = run
        .then(
          () => undefined,
          (error: unknown) => String(error),
        )
        .then(async (problem) => {
          // What it said before it ended may still lie in the port.
          for (let last = receiveMessageOnPort(port); last !== undefined; last = receiveMessageOnPort(port)) {
            receive(last.message);
          }
          port.close();
          this.#port = undefined;
          const error = end?.error ?? new EngineError('STO-E002', `the shard's worker ended: ${problem ?? 'closed'}`);
          this.#ended(error, end?.culprit);
          reject(error);
          await thread.destroy();
        });
    });
  }

  #serving(): void {
    this.#state = 'serving';
    this.#reason = undefined;
    this.#servingSinceMs = performance.now();
    this.client.open();
    this.#options.log.info({ worker: this.#worker, shards: this.#shards, restarts: this.#restarts }, 'worker serves');
  }

  #ended(error: EngineError, culprit: number | undefined): void {
    const wasServing = this.#state === 'serving';
    const isClosed = this.#state === 'closed';
    this.client.fail(
      isClosed ? new EngineError('STO-E002', 'the server is shutting down') : error,
      culprit === undefined ? undefined : { id: culprit, error: new EngineError('SYS-E001') },
    );
    if (isClosed) return;
    this.#state = 'down';
    this.#reason = error.message;
    // A first start that fails is the caller's to report; from then on the worker is kept alive.
    if (!wasServing && this.#restarts === 0) return;
    if (wasServing && performance.now() - this.#servingSinceMs > RESTART_FORGIVEN_MS) this.#deaths = 0;
    const delayMs = Math.min(RESTART_DELAY_MAX_MS, RESTART_DELAY_MIN_MS * 2 ** this.#deaths);
    this.#deaths = Math.min(this.#deaths + 1, 32);
    this.#options.log.error({ worker: this.#worker, reason: error.message, delayMs }, 'worker ended, starting again');
    this.#takeBackRestart = this.#delay(() => {
      this.#restarts++;
      // `#ended` has arranged the next start when this one fails.
      this.start().catch(() => undefined);
    }, delayMs);
  }

  async close(deadlineMs: number): Promise<void> {
    this.#takeBackRestart?.();
    this.client.refuse(new EngineError('STO-E002', 'the server is shutting down'));
    this.#state = 'closed';
    const close: ToWorker = { kind: 'close' };
    this.#port?.postMessage(close);
    // A thread that does not come to an end by itself is ended; what it had acknowledged is on disk.
    const timer = setTimeout(() => void this.#thread?.destroy(), deadlineMs);
    await this.#life;
    clearTimeout(timer);
  }
}

function delayByTimer(run: () => void, ms: number): () => void {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
}
