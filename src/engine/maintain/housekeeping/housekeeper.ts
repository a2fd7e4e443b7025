// Work that follows the log: seal tails, rewrite what an erasure touched, remove a drop's remains, merge segments,
// record statistics points. One job at a time, in slices. One transaction of the write queue puts a job's result in
// force.

import { steadyMs } from '../../base/clock.ts';
import { EngineError } from '../../base/errors.ts';
import {
  HOUSEKEEPING_LAST_MS,
  HOUSEKEEPING_RETRY_MS,
  IDLE_SEAL_MS,
  REPLAY_RECORDS_MAX,
  SEALER_GRAINS_MIN,
  SEALER_MEMORY_GRAINS_MIN,
  TAIL_GRAINS_SEAL,
  TAIL_GRAINS_SHARED,
  THREAD_TAIL_GRAINS,
} from '../../base/limits.ts';
import type { Sliced } from '../../index/files/section.ts';
import type { Sealer } from '../../index/sealing.ts';
import { type SegmentChange, tailGrainsOfThread } from '../../index/shard-index.ts';
import { purgeState } from '../../store/state-names.ts';
import type { Store } from '../../store/store.ts';
import type { WriteQueue } from '../../write/queue.ts';
import { removeDropped } from '../erasure/drop.ts';
import { headsToNote } from './audit-heads.ts';
import { expireRecords } from './expire-records.ts';
import { recordPoints } from './points.ts';

interface Job {
  readonly name: string;
  readonly steps: Sliced<SegmentChange | undefined>;
  /** The memory that is purged or dropped. */
  readonly memory?: number | undefined;
  /** Extra work after the change is committed and swapped in. */
  readonly after?: (() => void | Promise<void>) | undefined;
}

interface Waiter {
  /** Everything up to this sequence number must be sealed. */
  readonly upTo: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export interface HousekeeperOptions {
  /** Grains in the tail at which a seal begins, whatever the other shards hold. Tests lower it. */
  readonly sealGrains?: number | undefined;
  /** Writes large tails in another thread. */
  readonly sealer?: Sealer | undefined;
  /** Called with errors that only a bug can cause. Nothing runs after that. */
  readonly onFatal: (error: unknown) => void;
}

export class Housekeeper {
  readonly #store: Store;
  readonly #queue: WriteQueue;
  readonly #isFull: (tailGrains: number) => boolean;
  readonly #sealer: Sealer | undefined;
  /** True for tails of that many grains and memories that are worth the way to another thread. */
  readonly #isLarge: (grains: number, memories: number) => boolean;
  #job: Job | undefined;
  /** The commit of the running job's result. */
  #commit: Promise<void> | undefined;
  #driving = false;
  /** No other job begins. */
  #paused = false;
  /** Callers of `pause` take turns: it resolves when the previous one has resumed. */
  #lastPause: Promise<void> = Promise.resolve();
  #endPause: () => void = () => {};
  /** After a storage error, only work with waiting callers runs before this time of `steadyMs`. */
  #restUntilMs = Number.NEGATIVE_INFINITY;
  /** Memories whose purge or drop failed, and the times of `steadyMs` until which it comes last. */
  readonly #last = new Map<number, number>();
  readonly #onFatal: (error: unknown) => void;
  #stopped = false;
  readonly #waiters: Waiter[] = [];
  /** A time of `steadyMs`. */
  #lastWriteMs = 0;
  #lastSequence = 0;
  #lastPointHour: number;

  constructor(store: Store, queue: WriteQueue, options: HousekeeperOptions) {
    this.#store = store;
    this.#queue = queue;
    const { sealGrains } = options;
    this.#sealer = options.sealer;
    this.#isLarge =
      sealGrains === undefined ? (grains, memories) => isLargeTail(grains, memories, tailGrainsOfThread) : () => true;
    this.#isFull =
      sealGrains === undefined
        ? (tailGrains) => isFullTail(tailGrains, tailGrainsOfThread)
        : (tailGrains) => tailGrains >= sealGrains;
    this.#onFatal = options.onFatal;
    this.#lastPointHour = hourOf(store.clock.nowMs());
    queue.onFull(() => void this.sealed(store.index.publishedSequence).catch((error) => queue.refuse(error)));
  }

  /** Runs slices for at most `budgetMs`. True when more work could be done now. */
  run(budgetMs: number): boolean {
    const until = performance.now() + budgetMs;
    do {
      if (this.#waits || this.#stopped) return false;
      this.#job ??= this.#paused ? undefined : this.#next();
      if (this.#job === undefined) return false;
      const step = this.#step(this.#job);
      if (step?.done === true) this.#finish(this.#job, step.value);
    } while (performance.now() < until);
    return true;
  }

  /** True while the running job waits for its commit or for another thread. */
  get #waits(): boolean {
    return this.#commit !== undefined || this.#store.index.sealsElsewhere !== undefined;
  }

  /** A turn of the event loop, or the end of what the running job waits for: its commit, or another thread's work. */
  async #turn(): Promise<void> {
    await (this.#commit ?? this.#store.index.sealsElsewhere ?? new Promise((resolve) => setImmediate(resolve)));
  }

  /** Runs one slice of a job; undefined when it failed, which ends the job. */
  #step(job: Job): IteratorResult<void, SegmentChange | undefined> | undefined {
    try {
      return job.steps.next();
    } catch (error) {
      this.#finished(job, error);
      return undefined;
    }
  }

  /** Resolves when everything written so far is sealed. It drives itself; no call of `run` is needed. */
  sealed(upTo: number): Promise<void> {
    if (this.#store.index.sealedSequence >= upTo) return Promise.resolve();
    if (this.#stopped) return Promise.reject(gone());
    return new Promise((resolve, reject) => {
      this.#waiters.push({ upTo, resolve, reject });
      this.#drive();
    });
  }

  /** Waits for the running job and starts no other until `resume`. One caller at a time holds a pause. */
  async pause(): Promise<void> {
    const before = this.#lastPause;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#lastPause = promise;
    await before;
    this.#endPause = resolve;
    this.#paused = true;
    while (this.#job !== undefined || this.#commit !== undefined) {
      if (this.#stopped) throw gone();
      if (this.#commit === undefined) this.run(10);
      await this.#turn();
    }
  }

  resume(): void {
    this.#paused = false;
    this.#endPause();
    this.#answerWaiters();
    if (this.#waiters.length > 0) this.#drive();
  }

  /** Starts nothing more and leaves the running job where it is. Waiting callers get an error. */
  stop(): void {
    this.#stopped = true;
    for (const waiter of this.#waiters.splice(0)) waiter.reject(gone());
  }

  /** Runs until no seal, purge, drop or merge is left. */
  async settle(): Promise<void> {
    await this.sealed(this.#store.log.nextSequence - 1);
    for (;;) {
      if (this.#stopped) throw gone();
      if (!this.#waits && !this.run(10) && !this.#waits) return;
      await this.#turn();
    }
  }

  #drive(): void {
    if (this.#driving) return;
    this.#driving = true;
    const step = (): void => {
      // In a pause nothing begins: `resume` drives on.
      if (this.#waiters.length === 0 || (this.#paused && this.#job === undefined)) {
        this.#driving = false;
        return;
      }
      this.run(4);
      void this.#turn().then(step);
    };
    setImmediate(step);
  }

  #next(): Job | undefined {
    const { index, log, purgePending, clock } = this.#store;
    const last = log.nextSequence - 1;
    const nowMs = steadyMs(clock);
    if (last !== this.#lastSequence) {
      this.#lastSequence = last;
      this.#lastWriteMs = nowMs;
    }
    const behind = index.publishedSequence - index.sealedSequence;
    const idle = nowMs - this.#lastWriteMs >= IDLE_SEAL_MS;
    // A purge rewrites segments, so its data must be in segments first. Later writes do not delay it.
    const unsealed = [...purgePending.values()].some((upTo) => upTo > index.sealedSequence);
    const resting = nowMs < this.#restUntilMs || log.poisoned !== undefined;
    const due = idle || unsealed || this.#isFull(index.tailGrains) || behind >= REPLAY_RECORDS_MAX;
    if (behind > 0 && (this.#waiters.length > 0 || (due && !resting))) {
      const sealer = this.#isLarge(index.tailGrains, index.tailMemories) ? this.#sealer : undefined;
      return { name: 'seal', steps: index.seal(index.publishedSequence, sealer) };
    }
    if (resting) return undefined;
    const removal = this.#removal((memory) => nowMs >= (this.#last.get(memory) ?? Number.NEGATIVE_INFINITY));
    if (removal !== undefined) return removal;
    const merge = index.mergeStep();
    if (merge !== undefined) return { name: 'merge', steps: merge };
    const hour = hourOf(clock.nowMs());
    if (hour !== this.#lastPointHour) {
      this.#lastPointHour = hour;
      return { name: 'points', steps: hourly(this.#store, this.#queue) };
    }
    const vectors = this.#store.vectors.work();
    return vectors === undefined ? this.#removal(() => true) : { name: 'vectors', steps: withoutChange(vectors) };
  }

  /** The purge or the drop of one of these memories. */
  #removal(isOf: (memory: number) => boolean): Job | undefined {
    const { purgePending, dropPending } = this.#store;
    // The content of a damaged block cannot be rewritten: a rebuild comes first.
    for (const memory of purgePending.keys())
      if (isOf(memory) && !this.#store.isDamaged(memory)) return this.#purge(memory);
    for (const memory of dropPending)
      if (isOf(memory)) return { name: 'drop', memory, steps: removeDropped(this.#store, this.#queue, memory) };
    return undefined;
  }

  /**
   * Rewrites the blocks first, then destroys the keys that opened the old ones, and removes the note last. A later
   * erasure leaves a note of its own and is purged in the next round.
   */
  #purge(memory: number): Job {
    const store = this.#store;
    const upTo = store.purgePending.get(memory);
    const noted = store.notedIndexKeys(memory);
    return {
      name: 'purge',
      memory,
      steps: purgeAll(store, memory),
      after: async () => {
        // Dropping the memory meanwhile removed its notes.
        if (!store.holds(memory)) return;
        const inUse = new Set([
          store.memory(memory).keyIds.index,
          ...store.index.indexKeysInUse(memory),
          ...store.vectors.keysInUse(memory),
        ]);
        const done = noted.filter((id) => !inUse.has(id));
        if (done.length > 0) store.log.checkOwner?.();
        store.keys.destroy(done, store.clock.nowMs());
        // The note stays until no copy of what was erased is left.
        await store.log.scrub?.();
        await store.uploads?.settle();
        if (done.length > 0) await this.#queue.commitState(done.map((id) => [purgeState(memory, id), null]));
        if (store.purgePending.get(memory) === upTo) store.purgePending.delete(memory);
      },
    };
  }

  #finish(job: Job, change: SegmentChange | undefined): void {
    const { uploads } = this.#store;
    const file = job.name === 'merge' ? change?.file : undefined;
    if (uploads === undefined || file === undefined) {
      this.#commit = this.#putInForce(job, change);
      return;
    }
    // The files that it replaces are gone with the commit: the next owner would build all of them again.
    this.#commit = uploads
      .ahead(file, () => this.#isPressed)
      .then(() => (this.#stopped ? undefined : this.#putInForce(job, change)))
      .finally(() => uploads.landed(file));
  }

  /** Undefined when there was nothing to wait for. */
  #putInForce(job: Job, change: SegmentChange | undefined): Promise<void> | undefined {
    // Memories whose keys the job could not get are missing from its files. The same transaction notes that.
    const damaged = this.#store.damage.states();
    const heads = job.name === 'seal' ? headsToNote(this.#store) : [];
    const state = [...(change?.state ?? []), ...damaged, ...heads];
    if (state.length === 0 && change === undefined && job.after === undefined) {
      // The next of many small jobs follows in the same slice.
      this.#finished(job);
      return undefined;
    }
    const committed = state.length === 0 ? Promise.resolve() : this.#queue.commitState(state);
    return committed
      .then(() => {
        this.#store.damage.committed(damaged);
        if (change !== undefined) this.#store.index.commit(change);
        return job.after?.();
      })
      .then(
        () => this.#finished(job),
        (error) => {
          // Storage refused: the old segments stay in force, and the work is retried later.
          if (change !== undefined)
            this.#store.index.abandon(change, { isUncertain: this.#store.log.poisoned !== undefined });
          this.#finished(job, error);
        },
      );
  }

  /** True when a seal waits for the running job. */
  get #isPressed(): boolean {
    return this.#stopped || this.#waiters.length > 0 || this.#isFull(this.#store.index.tailGrains);
  }

  #finished(job: Job, error?: unknown): void {
    this.#commit = undefined;
    this.#job = undefined;
    if (error !== undefined) {
      if (!(error instanceof EngineError)) {
        this.#onFatal(error);
        return;
      }
      const nowMs = steadyMs(this.#store.clock);
      this.#restUntilMs = nowMs + HOUSEKEEPING_RETRY_MS;
      if (job.memory !== undefined) this.#last.set(job.memory, nowMs + HOUSEKEEPING_LAST_MS);
    } else if (job.memory !== undefined) this.#last.delete(job.memory);
    const { counters } = this.#store;
    if (error === undefined && job.name === 'seal') counters.seals += 1;
    if (error === undefined && job.name === 'merge') counters.merges += 1;
    this.#answerWaiters(job.name === 'seal' ? error : undefined);
    this.#queue.resume();
  }

  /**
   * Answers the waiters whose sequence number is sealed; after an error of a seal, all of them. A rebuild also seals.
   */
  #answerWaiters(error?: unknown): void {
    const sealed = this.#store.index.sealedSequence;
    for (let i = this.#waiters.length - 1; i >= 0; i--) {
      const waiter = this.#waiters[i]!;
      if (waiter.upTo <= sealed) waiter.resolve();
      else if (error !== undefined) waiter.reject(error);
      else continue;
      this.#waiters.splice(i, 1);
    }
  }
}

/**
 * True when a tail should be sealed. Larger tails are sealed and merged at less cost, but a restart replays the tails of
 * a thread one after the other: shards that are written to at once get smaller ones.
 */
export function isFullTail(tailGrains: number, ofThread: () => number): boolean {
  if (tailGrains < TAIL_GRAINS_SHARED) return false;
  return tailGrains >= TAIL_GRAINS_SEAL || ofThread() >= THREAD_TAIL_GRAINS;
}

/**
 * True when another thread should seal. Tails that this thread seals sooner than the other one would start, and those that
 * hold a few grains of many memories, are sealed here. So are the tails of shards that are written to at once: their
 * threads leave no processor idle, and the way to another one costs more in all.
 */
export function isLargeTail(grains: number, memories: number, ofThread: () => number): boolean {
  return grains >= Math.max(SEALER_GRAINS_MIN, memories * SEALER_MEMORY_GRAINS_MIN) && grains * 2 > ofThread();
}

/** Hourly work: statistics points, and removal of expired records. */
function* hourly(store: Store, queue: WriteQueue): Sliced<SegmentChange | undefined> {
  yield* recordPoints(store, queue);
  return yield* expireRecords(store, queue);
}

function* purgeAll(store: Store, memory: number): Sliced<SegmentChange | undefined> {
  yield* store.vectors.purge(memory);
  const change = yield* store.index.purge(memory);
  // The chunk of a bad block that it met is out of force with the change, and nothing else would know that grains are missing.
  if (store.index.isDamaged(memory)) store.damage.note(memory, 'a purge met a bad block of a segment');
  return change;
}

/** For work without a change of the log's state: vectors have a list of their own. */
function* withoutChange(work: Sliced<void>): Sliced<undefined> {
  yield* work;
  return undefined;
}

function gone(): EngineError {
  return new EngineError('STO-E002', 'the shard was abandoned');
}

function hourOf(timeMs: number): number {
  return Math.floor(timeMs / 3_600_000);
}
