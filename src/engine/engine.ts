// The entry point of one shard's engine. Reads answer synchronously from published state, writes queue into groups,
// long calls run in slices. `shards/` calls it, from a worker thread or directly.
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { type Clock, systemClock } from './base/clock.ts';
import { makeFolder } from './base/durable-file.ts';
import { EngineError } from './base/errors.ts';
import {
  DATABASE_CLOSING_MS,
  MOVE_PREPARED_MS,
  MOVE_UPLOAD_MS,
  OPENED_CACHE_BYTES,
  REPLAY_TURN_MS,
  UPLOAD_CLOSE_MS,
} from './base/limits.ts';
import { isSettledWithin } from './base/settled-within.ts';
import {
  CALL_ROWS,
  type Input,
  type LongMethod,
  type Method,
  type Output,
  type ReadMethod,
  type RecordMethod,
  type WriteMethod,
} from './calls/calls.ts';
import type { CallContext } from './calls/context.ts';
import { subjectOf } from './govern/access/caller.ts';
import { agentsOf } from './govern/agents/agents.ts';
import { refuseAccessToMemory, refuseDeactivated } from './govern/decide.ts';
import { SYSTEM_ACTOR } from './govern/trail/audit.ts';
import { CorruptBlock } from './index/files/section.ts';
import { HeapBudget } from './index/heap-budget.ts';
import type { Sealer } from './index/sealing.ts';
import { ShardIndex } from './index/shard-index.ts';
import { VectorIndex } from './index/vectors/vector-index.ts';
import type { Buckets } from './keys/buckets.ts';
import { KeyStore } from './keys/key-store.ts';
import { MasterKey } from './keys/master-key.ts';
import { FixedRecordsLog } from './log/fixed-records.ts';
import { FORMAT_VERSION, OLDEST_FORMAT } from './log/format.ts';
import type { Log } from './log/log.ts';
import type { DatabaseOptions } from './log/postgres/postgres-log.ts';
import type { WriteAheadOptions } from './log/wal/write-ahead.ts';
import type { Door } from './maintain/compliance/door.ts';
import type { CopyCare } from './maintain/housekeeping/copy-care.ts';
import { fetchMissing, uploadsOf, VECTORS_FOLDER } from './maintain/housekeeping/downloads.ts';
import { Housekeeper } from './maintain/housekeeping/housekeeper.ts';
import type { RebuildServices } from './maintain/housekeeping/rebuild.ts';
import { Repairs } from './maintain/housekeeping/repairs.ts';
import { replayAfter } from './maintain/housekeeping/replay.ts';
import { liveSegmentsDirectory } from './maintain/housekeeping/segments-directory.ts';
import { inSlices } from './maintain/housekeeping/slices.ts';
import { openStored, stampOf } from './maintain/housekeeping/stored.ts';
import { shardHealth } from './maintain/reports/health.ts';
import { audited, auditRefusedRead, isAudited } from './read-audit.ts';
import { type AtOnce, readCalls, recordCalls } from './reads.ts';
import { isAuditRecord } from './record/record.ts';
import { indexKeys } from './store/index-keys.ts';
import { OpenedCache } from './store/opened-cache.ts';
import { Store } from './store/store.ts';
import { expireGoals } from './write/expire-goals.ts';
import { damagedMemory, WriteQueue } from './write/queue.ts';
import { writeTrail } from './write/write-trail.ts';
import { type EngineWrites, writeCalls } from './writes.ts';

export { FORMAT_VERSION, OLDEST_FORMAT };

export interface EngineOptions {
  /** The shard's data folder, with the LMDB environment and the segments. */
  readonly directory: string;
  readonly keysDirectory: string;
  readonly shard: number;
  readonly shards: number;
  /** Raw master keys, 32 bytes each, the current one first. */
  readonly masterKeys: readonly Uint8Array[];
  /** Maximum bytes of decoded index structures and blocks. */
  readonly indexHeapBytes: number;
  /** Maximum bytes of opened grains among them; 0: none are kept. Absent: OPENED_CACHE_BYTES. */
  readonly openedCacheBytes?: number | undefined;
  /** Maximum bytes of vectors on the heap. Above it the least recently used memories are evicted. Absent: VECTOR_HEAP_BYTES. */
  readonly vectorHeapBytes?: number | undefined;
  readonly clock?: Clock | undefined;
  /** The write-ahead files of the worker that opens the shard. Absent: each append is a transaction of LMDB. */
  readonly writeAhead?: WriteAheadOptions | undefined;
  /** The database that holds the shard, in place of files. It must have been migrated. */
  readonly database?: DatabaseOptions | undefined;
  /** True while the thread of the engine has nothing to do but a single write: then it may wait for the disk. */
  readonly isAlone?: (() => boolean) | undefined;
  /** Called between two groups of writes: requests that have arrived meanwhile may run. */
  readonly betweenGroups?: (() => void) | undefined;
  /** Writes the segments of large tails in another thread. */
  readonly sealer?: Sealer | undefined;
  /** Replaces the LMDB store (simulator). */
  readonly log?: Log | undefined;
  /** Gets the log of the disk or of the database, and returns the one to use: for tests that inject faults. */
  readonly wrapLog?: ((log: Log) => Log) | undefined;
  /** Grains in the tail at which a seal begins; tests lower it. */
  readonly sealGrains?: number | undefined;
  /** Vectors in no file at which they are sealed; tests lower it. */
  readonly sealVectors?: number | undefined;
  /** Called with an error that only a bug or a broken disk can cause. The engine refuses all calls afterwards. */
  readonly onFatal?: ((error: unknown) => void) | undefined;
}

/** Changes that a call may make although its caller is a deactivated agent. */
const NOTES: ReadonlySet<string> = new Set(['nothing', 'trail', 'idempotency']);
/** The embedder of a memory until one is known. It has made no vectors, so any existing vectors are used. */
const NO_EMBEDDER = { name: 'none', dimensions: 1 };

type OpenIndex = RebuildServices['openIndex'];

export class Engine {
  readonly store: Store;
  readonly #queue: WriteQueue;
  readonly #housekeeper: Housekeeper;
  readonly #atOnce: AtOnce<ReadMethod | RecordMethod>;
  readonly #writes: EngineWrites;
  readonly #rebuildServices: RebuildServices;
  readonly #repairs: Repairs;
  readonly #care: CopyCare | undefined;
  #longCalls = 0;
  /** When it was prepared for another node last. */
  #preparedMs = Number.NEGATIVE_INFINITY;
  #fatal: EngineError | undefined;

  private constructor(
    store: Store,
    options: EngineOptions,
    { openIndex, care }: { readonly openIndex: OpenIndex; readonly care: CopyCare | undefined },
  ) {
    this.store = store;
    this.#care = care;
    const fatal = (error: unknown): void => {
      this.#fatal ??= new EngineError('SYS-E001', 'the shard stopped after an internal error');
      this.#queue.fail(this.#fatal);
      options.onFatal?.(error);
    };
    this.#queue = new WriteQueue(store, fatal, options.betweenGroups);
    this.#housekeeper = new Housekeeper(store, this.#queue, {
      sealGrains: options.sealGrains,
      sealer: options.sealer,
      onFatal: fatal,
    });
    this.#atOnce = {
      ...readCalls(store, () =>
        shardHealth({
          shard: options.shard,
          store,
          queue: this.#queue,
          repairs: this.#repairs.done,
          care,
          fatal: this.#fatal?.message,
        }),
      ),
      ...recordCalls(store, this.#queue.trail),
    };
    this.#rebuildServices = {
      store,
      queue: this.#queue,
      housekeeper: this.#housekeeper,
      directory: options.directory,
      openIndex,
      isCopyDamaged: () => care?.isMending(store) === true && store.log.damaged !== undefined,
    };
    this.#repairs = new Repairs(this.#rebuildServices, fatal);
    const door: Door = {
      read: (method, context, input) => this.read(method, context, input),
      write: (method, context, input) => this.write(method, context, input),
    };
    this.#writes = writeCalls({ ...this.#rebuildServices, shard: options.shard, door });
  }

  /**
   * Opens the shard from disk or from its database: log, keys, segments, then replays the log's end into the tails. Throws
   * STO-E001 with the reason, and STO-E002 while another node holds it.
   */
  static async open(options: EngineOptions): Promise<Engine> {
    makeFolder(options.directory);
    // A copy that its disk has damaged is filled again before anything follows from it.
    return (await Engine.#open(options, true)) ?? (await Engine.#open(options, false))!;
  }

  /** Resolves to undefined when the copy is damaged and `mayAgain` says that it may be opened again. */
  static async #open(options: EngineOptions, mayAgain: boolean): Promise<Engine | undefined> {
    const { shard, shards } = options;
    const stamp = stampOf(shard, shards);
    const { stored, buckets, files, care } = await openStored(stamp, options);
    const log = new FixedRecordsLog(options.wrapLog?.(stored) ?? stored, isAuditRecord);
    let engine: Engine | undefined;
    try {
      const fetched = files === undefined ? undefined : await fetchMissing(files, log, options.directory);
      engine = Engine.#over(log, buckets, options, care);
      if (mayAgain) engine.#refuseDamage();
      if (fetched !== undefined) engine.store.uploads = uploadsOf(engine.store, options.directory, fetched);
      await engine.#catchUp(mayAgain);
      care?.opened(engine.store);
      return engine;
    } catch (error) {
      // Release everything, so that a retry in this process can open the shard.
      await (engine === undefined ? log.close() : engine.abandon());
      if (mayAgain && care?.isMendedByOpen(engine?.store ?? { log }) === true) return undefined;
      throw error;
    }
  }

  /** Throws when the copy on disk is damaged and another open mends that. */
  #refuseDamage(): void {
    const reason = this.#care?.damageIn(this.store);
    if (reason !== undefined) throw new EngineError('STO-E001', reason);
  }

  /**
   * Fetches log, segments and vectors of a shard that this node takes soon, while another node owns it. Rejects with STO-E001.
   */
  static async fetchAhead({ directory, shard, shards, database }: EngineOptions): Promise<void> {
    if (database === undefined) return;
    const { fetchAhead } = await import('./maintain/housekeeping/fetch-ahead.ts');
    await fetchAhead({ directory, stamp: stampOf(shard, shards), database });
  }

  static #over(log: Log, buckets: Buckets | undefined, options: EngineOptions, care: CopyCare | undefined): Engine {
    const master = MasterKey.of(...options.masterKeys);
    const keys = buckets === undefined ? KeyStore.open(options.keysDirectory, master) : KeyStore.over(buckets, master);
    const store = new Store(log, keys, options.clock ?? systemClock);
    const budget = new HeapBudget(options.indexHeapBytes);
    store.opened = new OpenedCache(budget, options.openedCacheBytes ?? OPENED_CACHE_BYTES);
    const tokens = indexKeys(store);
    const isCache = options.database !== undefined;
    const openIndex: OpenIndex = (directory, state) =>
      ShardIndex.open({ directory, isCache, log: state, budget, keys: tokens });
    store.index = openIndex(liveSegmentsDirectory(options.directory, log), log);
    store.vectors = VectorIndex.open({
      directory: join(options.directory, VECTORS_FOLDER),
      keys: tokens,
      isRemoved: (ordinal) => store.index.removed.get(ordinal),
      embedder: NO_EMBEDDER,
      onLost: (memory) => store.vectorsBehind.add(memory),
      lastOrdinal: log.nextSequence - 1,
      heapBytes: options.vectorHeapBytes,
      sealAt: options.sealVectors,
    });
    for (const memory of store.memoryNumbers()) store.vectorsBehind.add(memory);
    return new Engine(store, options, { openIndex, care });
  }

  /** Replays unsealed records. Seals on the way if they exceed a tail's size. Throws as `#refuseDamage`, if `mayAgain`. */
  async #catchUp(mayAgain: boolean): Promise<void> {
    const { store } = this;
    let turnMs = performance.now();
    for (const step = replayAfter(store, store.index, undefined); ; ) {
      const { done } = step.next();
      // Nothing is sealed without a record that is whole in the database.
      if (mayAgain && store.log.damaged !== undefined) this.#refuseDamage();
      if (done === true) return;
      if (store.index.tailIsFull()) await this.#housekeeper.sealed(store.index.publishedSequence);
      if (performance.now() - turnMs < REPLAY_TURN_MS) continue;
      // The leases of this thread's shards are renewed meanwhile.
      await setImmediate();
      turnMs = performance.now();
    }
  }

  /** Answers synchronously from published state. Throws EngineError. */
  read<M extends ReadMethod>(method: M, context: CallContext, input: Input<M>): Output<M> {
    return this.#answer(method, context, input);
  }

  /** Answers synchronously and queues an entry for the trail. Throws EngineError. */
  record<M extends RecordMethod>(method: M, context: CallContext, input: Input<M>): Output<M> {
    return this.#answer(method, context, input);
  }

  #answer<M extends ReadMethod | RecordMethod>(method: M, context: CallContext, input: Input<M>): Output<M> {
    if (method === 'health') return this.#atOnceNow(method, context, input);
    this.#requireShard();
    try {
      return this.#atOnceNow(method, context, input);
    } finally {
      // A process that was stopped meanwhile answers nothing: a throw here replaces the answer.
      this.#requireShard();
    }
  }

  #atOnceNow<M extends ReadMethod | RecordMethod>(method: M, context: CallContext, input: Input<M>): Output<M> {
    const call: AtOnce<ReadMethod | RecordMethod>[M] = this.#atOnce[method];
    const startedMs = performance.now();
    // Each bad block removes one chunk, so the loop ends. Then answer from the readable rest.
    for (let tries = 0; ; tries++) {
      try {
        this.#requireAccess(method, context);
        const done = { method, input, output: call(context, input) };
        if (context.traced === true) this.store.stageTimes.note(context, 'read', startedMs, performance.now());
        return isAudited(done, context)
          ? // The table ties a method's output to its name, which TypeScript does not follow through a union.
            (audited(this.store, this.#queue.trail, context, done) as Output<M>)
          : done.output;
      } catch (error) {
        const { index } = this.store;
        if (error instanceof CorruptBlock && tries < index.segments) continue;
        auditRefusedRead(this.store, this.#queue.trail, context, { method, input, error });
        const isMissing = error instanceof EngineError && error.code === 'MEM-E001';
        // A missing grain may be in the bad block: do not report it as gone.
        throw isMissing && this.store.isDamaged(context.memory) ? damagedMemory() : error;
      }
    }
  }

  /** Queues a write or starts a long call. Resolves when it is durable and visible; rejects with EngineError. */
  async write<M extends WriteMethod | LongMethod>(
    method: M,
    context: CallContext,
    input: Input<M>,
  ): Promise<Output<M>> {
    if (this.#fatal !== undefined) throw this.#fatal;
    this.#requireShard();
    this.#admit(method, context, input);
    const call: EngineWrites[M] = this.#writes[method];
    // A listener waits for the next event, not for work.
    if (method === 'awaitEvents') return this.#whileHeld(call(context, input));
    this.#longCalls += 1;
    try {
      return await this.#whileHeld(call(context, input));
    } finally {
      this.#longCalls -= 1;
    }
  }

  async #whileHeld<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } finally {
      this.#requireShard();
    }
  }

  /** STO-E002 while another node may have the shard: when a call comes, and again before its answer leaves. */
  #requireShard(): void {
    const { lapsed } = this.store.log;
    if (lapsed !== undefined) throw new EngineError('STO-E002', lapsed);
  }

  /** Refuses a caller without the relation to the whole memory that the call's row names, where tuples decide. */
  #requireAccess(method: Method, context: CallContext): void {
    const row = CALL_ROWS[method];
    if (!('access' in row) || typeof row.access !== 'object' || !('memory' in row.access)) return;
    if (!this.store.holds(context.memory) || this.store.isClosed(context.memory)) return;
    const { userId } = context;
    const isOwn = userId !== undefined && subjectOf(context) === `user:${userId}`;
    if (isOwn && 'orOwn' in row.access) return;
    const denied = refuseAccessToMemory(this.store.memory(context.memory).governed, context, row.access.memory);
    if (denied !== undefined) throw denied;
  }

  /**
   * Refuses a deactivated agent whatever changes the memory (AGT-E003). Its reads, and the notes that they leave, go on. The
   * queue asks again, for writes that wait while the agent is deactivated.
   */
  #requireActive(method: Method, context: CallContext): void {
    const row = CALL_ROWS[method];
    if (!('changes' in row) || NOTES.has(row.changes) || agentsOf(context).length === 0) return;
    if (!this.store.holds(context.memory) || this.store.isClosed(context.memory)) return;
    const refused = refuseDeactivated(this.store.memory(context.memory).governed, context);
    if (refused !== undefined) throw refused;
  }

  /** The same, audited as a refused read: nothing of the call runs. */
  #admit(method: Method, context: CallContext, input: unknown): void {
    try {
      this.#requireActive(method, context);
      this.#requireAccess(method, context);
    } catch (error) {
      auditRefusedRead(this.store, this.#queue.trail, context, { method, input, error });
      throw error;
    }
  }

  /** Runs maintenance for at most `budgetMs`. True if there is more to do. */
  maintain(budgetMs: number): boolean {
    if (this.#fatal !== undefined) return false;
    if (this.#care?.run(this.store) !== true) this.#repairs.run();
    // If the disk rejects the entries, they wait for the next attempt.
    if (this.#queue.trail.isDue(this.store.clock.nowMs())) writeTrail(this.#queue).catch(() => undefined);
    if (!this.store.dueGoals.isEmpty) this.#expireGoals();
    return this.#housekeeper.run(budgetMs);
  }

  /**
   * Records the states of the goals that reads found to have expired. A read or a sweep finds again the goals for which
   * this fails.
   */
  #expireGoals(): void {
    for (const { memory, partition, ordinals } of this.store.dueGoals.take())
      expireGoals(this.#queue, { memory, partition, actor: SYSTEM_ACTOR, requestId: 'goal-expiry' }, [
        ...ordinals,
      ]).catch(() => undefined);
  }

  /** Number of unanswered writes and long calls. */
  get pendingWrites(): number {
    return this.#longCalls;
  }

  /**
   * Seals, and brings what was sealed to the database, while calls go on. A close soon after leaves the few records that came
   * meanwhile to the next owner, who replays them. Resolves in any case.
   */
  async prepareMove(): Promise<void> {
    await this.#housekeeper.sealed(this.store.index.publishedSequence).catch(() => undefined);
    await this.#sealVectors();
    await this.store.uploads?.settleWithin(MOVE_UPLOAD_MS);
    this.#preparedMs = performance.now();
  }

  /** Answers queued calls, seals the tails and closes the files. */
  async close(): Promise<void> {
    this.store.eventBell.close();
    this.store.log.closing?.();
    await this.#care?.stop();
    await this.#repairs.idle();
    const { poisoned, lapsed } = this.store.log;
    const isPrepared = performance.now() - this.#preparedMs < MOVE_PREPARED_MS;
    if (this.#fatal === undefined && poisoned === undefined && lapsed === undefined) {
      await writeTrail(this.#queue).catch(() => undefined);
      await this.#queue.idle();
      // If the seal fails, the next open replays the records.
      if (!isPrepared) await this.#housekeeper.sealed(this.store.index.publishedSequence).catch(() => undefined);
      await this.#housekeeper.pause();
      await this.#sealVectors();
      if (!isPrepared) await this.store.uploads?.settleWithin(UPLOAD_CLOSE_MS);
    } else this.#queue.fail(new EngineError('STO-E002', 'the shard is closed: its log rejects writes'));
    // One that waits for a database that does not answer changes nothing later: the shard has another token by then.
    await isSettledWithin(Promise.resolve(this.store.uploads?.stop()), isPrepared ? 0 : DATABASE_CLOSING_MS);
    await this.#closeFiles();
  }

  /** Releases the files as a crash would, without sealing or waiting. For tests and the simulator. */
  async abandon(): Promise<void> {
    this.store.eventBell.close();
    this.#queue.fail(new EngineError('STO-E002', 'the shard was abandoned'));
    await this.#care?.stop();
    this.#housekeeper.stop();
    await this.store.uploads?.stop();
    await this.#closeFiles();
  }

  async #closeFiles(): Promise<void> {
    await this.store.index.endSeal();
    this.store.vectors.close();
    this.store.index.close();
    this.store.keys.close();
    await this.store.log.close();
  }

  /** Vectors that are in no file are embedded again after a restart, so a failing disk costs only time. */
  async #sealVectors(): Promise<void> {
    try {
      await inSlices(this.store.vectors.seal());
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
    }
  }
}
