// All shards of a server in the thread that calls them, for machines where threads cost more than they bring. Calls take
// the same way as to a worker, packed into batches, without a thread in between: the same values, bounds and turns.
import { assert } from '../../engine/base/assert.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { CLOSE_MS, SHARDS_MAX, SHARED_TURN_MS, SLICE_MS } from '../../engine/base/limits.ts';
import { BatchRunner, isCounted } from './batch-runner.ts';
import { type RawShardCaller, ShardClient } from './client.ts';
import type { ShardCodecs } from './codec.ts';
import type { EngineOptions, EngineThread, FetchShard, OpenEngine } from './engine-door.ts';
import { EngineSet } from './engine-set.ts';
import { Maintenance } from './maintenance.ts';
import {
  drained,
  type OpeningOptions,
  type ShardSet,
  type ShardSetLog,
  type WorkerHealth,
  type WorkerLoad,
  type WorkerState,
} from './shard-set.ts';
import { closeShard, describeBug } from './worker.ts';

export interface LocalOptions extends OpeningOptions {
  readonly shards: number;
  readonly engineOptions: (shard: number) => EngineOptions;
  readonly openEngine: OpenEngine;
  /** Default: there is nothing to fetch. */
  readonly fetchShard?: FetchShard | undefined;
  readonly codecs: ShardCodecs;
  readonly log: ShardSetLog;
  /** Returns the error of a call as its caller gets it. Default: the same. */
  readonly errorForCallers?: ((error: EngineError) => EngineError) | undefined;
  /**
   * Called once, after an error that only a bug can cause. The engines share the heap of this thread, so none of them is
   * believed any more: all calls are refused, and only another process can go on.
   */
  readonly onBroken?: (() => void) | undefined;
  /** Enables the fault hook. */
  readonly faults?: boolean | undefined;
}

export class LocalShards implements ShardSet {
  readonly shards: number;
  readonly #client: ShardClient;
  readonly #options: LocalOptions;
  readonly #set: EngineSet;
  readonly #runner: BatchRunner;
  readonly #maintenance: Maintenance;
  #state: WorkerState = 'serving';
  #reason: string | undefined;
  /** Every call has been answered or rejected: replies that still come are dropped, as those of a dead thread are. */
  #isOver = false;

  private constructor(
    options: LocalOptions,
    set: EngineSet,
    thread: { -readonly [K in keyof EngineThread]: EngineThread[K] },
  ) {
    this.shards = options.shards;
    this.#options = options;
    this.#set = set;
    const { engines } = set;
    thread.onBug = (error) => this.#broke(error, undefined);
    thread.isAlone = () => this.#runner.isAlone && this.#client.pendingItems === 1;
    this.#client = new ShardClient({
      // A later batch is dropped, as a closing thread does: its calls are refused with all that is pending.
      send: (message) => {
        if (this.#state === 'serving') this.#runner.run(message);
      },
      lapsed: options.lapsed,
      errorForCallers: options.errorForCallers,
      onUnreadable: (err) => options.log.error({ err }, 'a reply cannot be read: its call failed'),
    });
    this.#maintenance = new Maintenance({
      engines,
      onBug: (error) => this.#broke(error, undefined),
      // Requests that no shard sees wait for a slice too.
      idleSliceMs: SLICE_MS,
    });
    this.#runner = new BatchRunner({
      engines,
      codecs: options.codecs,
      turnMs: SHARED_TURN_MS,
      answerSoon: queueMicrotask,
      send: (message) => queueMicrotask(() => this.#receive(message)),
      onBug: (error, id) => this.#broke(error, id),
      onLost: (error) =>
        options.log.error(
          { problem: describeBug(error) },
          'a call failed: its request or its answer could not be passed on',
        ),
      ran: () => this.#maintenance.batchRan(),
      onFault: options.faults === true ? failOnPurpose : undefined,
    });
    this.#maintenance.wake();
  }

  /** Opens the engines of all shards. Rejects with EngineError if one cannot be opened. */
  static async start(options: LocalOptions): Promise<LocalShards> {
    const { shards, engineOptions, openEngine, log } = options;
    assert(shards >= 1 && shards <= SHARDS_MAX, 'the number of shards is in range');
    /** A bug while the engines open, before there is anything to break. */
    let early: unknown;
    const thread = {
      onBug: (error: unknown): void => {
        early ??= error;
      },
      isAlone: () => false,
    };
    const set = new EngineSet((one) =>
      openEngine(one, { onBug: (error) => thread.onBug(error), isAlone: () => thread.isAlone() }),
    );
    if (options.opens !== 'asked')
      await set.openAll(Array.from({ length: shards }, (_, shard) => engineOptions(shard)));
    const opened = new LocalShards(options, set, thread);
    if (early !== undefined) opened.#broke(early, undefined);
    else log.info({ shards }, 'the shards are served by the main thread');
    return opened;
  }

  async open(shard: number): Promise<void> {
    if (this.#state !== 'serving') throw SHUTTING_DOWN;
    await this.#change(this.#set.open(this.#options.engineOptions(shard)));
    this.#maintenance.wake();
  }

  closeShard(shard: number): Promise<void> {
    return this.#change(closeShard(this.#set, this.#maintenance, shard));
  }

  async fetch(shard: number): Promise<void> {
    await this.#change(this.#options.fetchShard?.(this.#options.engineOptions(shard)));
  }

  async prepare(shard: number): Promise<void> {
    await this.#change(this.#set.engines.get(shard)?.prepareMove?.());
  }

  /** A bug ends all shards of the thread, as it ends a worker. */
  async #change(changing: Promise<void> | undefined): Promise<void> {
    try {
      await changing;
    } catch (error) {
      if (error instanceof EngineError) throw error;
      this.#broke(error, undefined);
      throw new EngineError('STO-E002', this.#reason);
    }
  }

  isOpen(shard: number): boolean {
    return this.#set.engines.has(shard);
  }

  /** The engines run in this thread, so calls wait for their turn of it. */
  flush(): void {}

  caller(shard: number): RawShardCaller {
    assert(shard < this.shards, 'a shard index is in range');
    return this.#client.shard(shard);
  }

  health(): readonly WorkerHealth[] {
    const shards = Array.from({ length: this.shards }, (_, shard) => shard);
    return [
      {
        worker: 0,
        shards,
        state: this.#state,
        restarts: 0,
        pendingItems: this.#client.pendingItems,
        pendingBytes: this.#client.pendingBytes,
        refused: shards.map((shard) => ({ shard, calls: this.#client.refusedOf(shard) })),
        reason: this.#reason,
      },
    ];
  }

  loads(): readonly WorkerLoad[] {
    return [{ activeMs: 0, askedMs: this.#client.askedMs }];
  }

  drain(deadlineMs: number): Promise<boolean> {
    this.#client.refuse(SHUTTING_DOWN);
    return drained([this.#client], deadlineMs);
  }

  async close(deadlineMs = CLOSE_MS): Promise<void> {
    if (this.#state === 'closed') return;
    const isBroken = this.#state === 'down';
    this.#state = 'closed';
    this.#client.refuse(SHUTTING_DOWN);
    this.#runner.stop();
    this.#maintenance.stop();
    if (isBroken) return;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<readonly PromiseSettledResult<void>[]>((resolve) => {
      timer = setTimeout(() => resolve([]), deadlineMs);
    });
    // Everything acknowledged is on disk, so an engine that takes too long may be left to the end of the process.
    const closed = Promise.allSettled([...this.#set].map((engine) => engine.close()));
    const ends = await Promise.race([closed, late]);
    clearTimeout(timer);
    this.#isOver = true;
    this.#client.fail(SHUTTING_DOWN);
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  }

  #receive(message: ArrayBuffer): void {
    if (this.#isOver) return;
    const isLong = isCounted(message);
    try {
      this.#client.receive(message);
    } catch (error) {
      this.#broke(error, undefined);
      return;
    }
    if (isLong) this.#runner.taken(message.byteLength);
  }

  /** `id`: the call that met the bug, which is not to be repeated. */
  #broke(error: unknown, id: number | undefined): void {
    if (this.#state === 'down') return;
    const wasClosed = this.#state === 'closed';
    this.#state = 'down';
    this.#isOver = true;
    this.#reason = 'the engine met an internal error: start the server again';
    this.#runner.stop();
    this.#maintenance.stop();
    const culprit = id === undefined ? undefined : { id, error: new EngineError('SYS-E001') };
    this.#client.fail(new EngineError('STO-E002', this.#reason), culprit);
    this.#options.log.error(
      { problem: describeBug(error) },
      'internal error of an engine in the main thread: the server serves no shard until it is restarted',
    );
    if (!wasClosed) this.#options.onBroken?.();
  }
}

const SHUTTING_DOWN = new EngineError('STO-E002', 'the server is shutting down');

/** There is no thread to end, so both kinds are bugs. */
function failOnPurpose(): void {
  assert(false, 'the fault hook was asked to throw');
}
