// The entry point of one shard's engine. Reads answer synchronously from published state, writes queue into groups,
// long calls run in slices. `shards/` calls it, from a worker thread or directly.
import { EngineError } from './base/errors.ts';
import { DATABASE_CLOSING_MS, MOVE_PREPARED_MS, MOVE_UPLOAD_MS, UPLOAD_CLOSE_MS } from './base/limits.ts';
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
import type { Merger } from './index/merging.ts';
import type { Sealer } from './index/sealing.ts';
import type { Door } from './maintain/compliance/door.ts';
import type { CopyCare } from './maintain/housekeeping/copy-care.ts';
import { Housekeeper } from './maintain/housekeeping/housekeeper.ts';
import type { RebuildServices } from './maintain/housekeeping/rebuild.ts';
import { Repairs } from './maintain/housekeeping/repairs.ts';
import { inSlices } from './maintain/housekeeping/slices.ts';
import { shardHealth } from './maintain/reports/health.ts';
import { audited, auditRefusedRead, isAudited } from './read-audit.ts';
import { type AtOnce, readCalls, recordCalls } from './reads.ts';
import type { Store } from './store/store.ts';
import { expireGoals } from './write/expire-goals.ts';
import { damagedMemory, WriteQueue } from './write/queue.ts';
import { writeTrail } from './write/write-trail.ts';
import { type EngineWrites, writeCalls } from './writes.ts';

export interface RunOptions {
  /** The shard's data folder, with the LMDB environment and the segments. */
  readonly directory: string;
  readonly shard: number;
  /** Called between two groups of writes: requests that have arrived meanwhile may run. */
  readonly betweenGroups?: (() => void) | undefined;
  /** Writes the segments of large tails in another thread. */
  readonly sealer?: Sealer | undefined;
  /** Merges large segments in another thread. */
  readonly merger?: Merger | undefined;
  /** Grains in the tail at which a seal begins; tests lower it. */
  readonly sealGrains?: number | undefined;
  /** Called with an error that only a bug or a broken disk can cause. The engine refuses all calls afterwards. */
  readonly onFatal?: ((error: unknown) => void) | undefined;
}

/** The parts of an open shard that its engine works on. */
export interface OpenShard {
  readonly store: Store;
  readonly openIndex: RebuildServices['openIndex'];
  /** Of a shard in a database. */
  readonly care: CopyCare | undefined;
}

/** Changes that a call may make although its caller is a deactivated agent. */
const NOTES: ReadonlySet<string> = new Set(['nothing', 'trail', 'idempotency']);

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

  /** Calls may come once the log's end is replayed: `openEngine`. */
  constructor({ store, openIndex, care }: OpenShard, options: RunOptions) {
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
      merger: options.merger,
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
    if (this.#queue.trail.isDue) writeTrail(this.#queue).catch(() => undefined);
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

  /** Seals what is published. Rejects if that fails. */
  seal(): Promise<void> {
    return this.#housekeeper.sealed(this.store.index.publishedSequence);
  }

  /**
   * Seals, and brings what was sealed to the database, while calls go on. A close soon after leaves the few records that came
   * meanwhile to the next owner, who replays them. Rejects with STO-E002 when the shard is abandoned meanwhile.
   */
  async prepareMove(): Promise<void> {
    await this.seal().catch(() => undefined);
    // One work on the vectors runs at a time.
    await this.#housekeeper.pause();
    try {
      await this.#sealVectors();
    } finally {
      this.#housekeeper.resume();
    }
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
      if (!isPrepared) await this.seal().catch(() => undefined);
      await this.#housekeeper.pause({ endsMerges: true });
      await this.#housekeeper.pauseSeals();
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
    await this.store.index.endElsewhere();
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
