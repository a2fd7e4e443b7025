// The jobs of housekeeping, and when each is due: seal tails, rewrite what an erasure touched, remove a drop's remains,
// merge segments, record statistics points, and the upkeep of vectors.

import { steadyMs } from '../../base/clock.ts';
import {
  HOUSEKEEPING_LAST_MS,
  HOUSEKEEPING_RETRY_MS,
  IDLE_SEAL_MS,
  MERGER_BYTES_MIN,
  REPLAY_RECORDS_MAX,
  SEALER_GRAINS_MIN,
  SEALER_MEMORY_GRAINS_MIN,
  TAIL_GRAINS_SEAL,
  TAIL_GRAINS_SHARED,
  THREAD_TAIL_GRAINS,
} from '../../base/limits.ts';
import type { Sliced } from '../../index/files/section.ts';
import type { Merger } from '../../index/merging.ts';
import type { Sealer } from '../../index/sealing.ts';
import type { MergesElsewhere } from '../../index/segment-rewrites.ts';
import { type SegmentChange, tailGrainsOfThread } from '../../index/shard-index.ts';
import { purgeState } from '../../store/state-names.ts';
import type { Store } from '../../store/store.ts';
import type { WriteQueue } from '../../write/queue.ts';
import { removeDropped } from '../erasure/drop.ts';
import { expireRecords } from './expire-records.ts';
import { recordPoints } from './points.ts';

export interface Job {
  readonly name: 'seal' | 'purge' | 'drop' | 'merge' | 'points' | 'vectors';
  readonly steps: Sliced<SegmentChange | undefined>;
  /** The memory that is purged or dropped. */
  readonly memory?: number | undefined;
  /** Extra work after the change is committed and swapped in. */
  readonly after?: (() => void | Promise<void>) | undefined;
}

export interface JobsOptions {
  /** Grains in the tail at which a seal begins, whatever the other shards hold. Tests lower it. */
  readonly sealGrains?: number | undefined;
  /** Writes large tails in another thread. */
  readonly sealer?: Sealer | undefined;
  /** Merges large segments in another thread. */
  readonly merger?: Merger | undefined;
}

export class Jobs {
  readonly #store: Store;
  readonly #queue: WriteQueue;
  readonly #isFull: (tailGrains: number) => boolean;
  readonly #sealer: Sealer | undefined;
  /** For merges and compactions. */
  readonly mergesElsewhere: MergesElsewhere | undefined;
  /** True for tails of that many grains and memories that are worth the way to another thread. */
  readonly #isLarge: (grains: number, memories: number) => boolean;
  /** After a storage error, only work with waiting callers runs before this time of `steadyMs`. */
  #restUntilMs = Number.NEGATIVE_INFINITY;
  /** Memories whose purge or drop failed, and the times of `steadyMs` until which it comes last. */
  readonly #last = new Map<number, number>();
  /** A time of `steadyMs`. */
  #lastWriteMs = 0;
  #lastSequence = 0;
  #lastPointHour: number;

  constructor(store: Store, queue: WriteQueue, { sealGrains, sealer, merger }: JobsOptions) {
    this.#store = store;
    this.#queue = queue;
    this.#sealer = sealer;
    this.mergesElsewhere = merger && { merger, bytesMin: sealGrains === undefined ? MERGER_BYTES_MIN : 0 };
    this.#isLarge =
      sealGrains === undefined ? (grains, memories) => isLargeTail(grains, memories, tailGrainsOfThread) : () => true;
    this.#isFull =
      sealGrains === undefined
        ? (tailGrains) => isFullTail(tailGrains, tailGrainsOfThread)
        : (tailGrains) => tailGrains >= sealGrains;
    this.#lastPointHour = hourOf(store.clock.nowMs());
  }

  /** The seal that is due, or undefined. `isAwaited`: a caller waits for it. */
  seal(isAwaited: boolean): Job | undefined {
    const { index, log, purgePending, clock } = this.#store;
    const last = log.nextSequence - 1;
    const nowMs = steadyMs(clock);
    if (last !== this.#lastSequence) {
      this.#lastSequence = last;
      this.#lastWriteMs = nowMs;
    }
    const behind = index.publishedSequence - index.sealedSequence;
    if (behind === 0) return undefined;
    const idle = nowMs - this.#lastWriteMs >= IDLE_SEAL_MS;
    // A purge rewrites segments, so its data must be in segments first. Later writes do not delay it.
    const unsealed = [...purgePending.values()].some((upTo) => upTo > index.sealedSequence);
    const due = idle || unsealed || this.isTailFull || behind >= REPLAY_RECORDS_MAX;
    if (!isAwaited && (!due || this.#isResting)) return undefined;
    const sealer = this.#isLarge(index.tailGrains, index.tailMemories) ? this.#sealer : undefined;
    return { name: 'seal', steps: index.seal(index.publishedSequence, sealer) };
  }

  /** The next job that is no seal, or undefined. */
  other(): Job | undefined {
    const { index, clock, vectors } = this.#store;
    if (this.#isResting) return undefined;
    const nowMs = steadyMs(clock);
    const removal = this.#removal((memory) => nowMs >= (this.#last.get(memory) ?? Number.NEGATIVE_INFINITY));
    if (removal !== undefined) return removal;
    const merge = index.mergeStep(this.mergesElsewhere);
    if (merge !== undefined) return { name: 'merge', steps: merge };
    const hour = hourOf(clock.nowMs());
    if (hour !== this.#lastPointHour) {
      this.#lastPointHour = hour;
      return { name: 'points', steps: hourly(this.#store, this.#queue) };
    }
    const work = vectors.work();
    return work === undefined ? this.#removal(() => true) : { name: 'vectors', steps: withoutChange(work) };
  }

  /** True when the tail holds enough for a seal. */
  get isTailFull(): boolean {
    return this.#isFull(this.#store.index.tailGrains);
  }

  /** A storage error ended the job. */
  failed({ memory }: Job): void {
    const nowMs = steadyMs(this.#store.clock);
    this.#restUntilMs = nowMs + HOUSEKEEPING_RETRY_MS;
    if (memory !== undefined) this.#last.set(memory, nowMs + HOUSEKEEPING_LAST_MS);
  }

  done({ name, memory }: Job): void {
    const { counters } = this.#store;
    if (memory !== undefined) this.#last.delete(memory);
    if (name === 'seal') counters.seals += 1;
    if (name === 'merge') counters.merges += 1;
  }

  get #isResting(): boolean {
    return steadyMs(this.#store.clock) < this.#restUntilMs || this.#store.log.poisoned !== undefined;
  }

  /**
   * The purge or the drop of one of these memories. A purge destroys keys that an erasure replaced. A seal that began
   * before the erasure may write under them, so everything up to the erasure must be sealed.
   */
  #removal(isOf: (memory: number) => boolean): Job | undefined {
    const { purgePending, dropPending, index } = this.#store;
    const isSealed = (upTo: number): boolean =>
      upTo <= index.sealedSequence || index.publishedSequence === index.sealedSequence;
    // The content of a damaged block cannot be rewritten: a rebuild comes first.
    for (const [memory, upTo] of purgePending)
      if (isOf(memory) && isSealed(upTo) && !this.#store.isDamaged(memory)) return this.#purge(memory);
    for (const memory of dropPending) if (isOf(memory)) return this.#drop(memory);
    return undefined;
  }

  #drop(memory: number): Job {
    const { dropPending, momentary } = this.#store;
    return {
      name: 'drop',
      memory,
      steps: removeDropped(this.#store, this.#queue, memory),
      after: () => {
        dropPending.delete(memory);
        momentary.delete(memory);
      },
    };
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

function hourOf(timeMs: number): number {
  return Math.floor(timeMs / 3_600_000);
}
