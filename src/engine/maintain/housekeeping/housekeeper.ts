// Work that follows the log, in slices: one seal at a time, because writes wait for seals, and beside it one other job. One
// transaction of the write queue puts a job's result in force, and the next begins when it has ended.

import { EngineError } from '../../base/errors.ts';
import { SEGMENTS_CROWDED } from '../../base/limits.ts';
import type { MergesElsewhere } from '../../index/segment-rewrites.ts';
import type { SegmentChange } from '../../index/shard-index.ts';
import type { Store } from '../../store/store.ts';
import type { WriteQueue } from '../../write/queue.ts';
import { headsToNote } from './audit-heads.ts';
import { type Job, Jobs, type JobsOptions } from './jobs.ts';

type Lane = 'seal' | 'other';

interface Running {
  readonly job: Job;
  /** Set when the steps have ended: the result, which is not in force yet. */
  result?: { readonly change: SegmentChange | undefined };
  /** Ends before the result may be put in force. */
  ahead?: Promise<void> | undefined;
  /** Puts the result in force, and runs what follows. */
  finishing?: Promise<void>;
}

interface Waiter {
  /** Everything up to this sequence number must be sealed. */
  readonly upTo: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export interface HousekeeperOptions extends JobsOptions {
  /** Called with errors that only a bug can cause. Nothing runs after that. */
  readonly onFatal: (error: unknown) => void;
}

export class Housekeeper {
  readonly #store: Store;
  readonly #queue: WriteQueue;
  readonly #jobs: Jobs;
  readonly #running: Record<Lane, Running | undefined> = { seal: undefined, other: undefined };
  /** The transaction that puts a result in force. It never rejects. */
  #commit: Promise<void> | undefined;
  #driving = false;
  /** True when a job has ended since jobs were last chosen, which takes longer than many slices. */
  #hasEnded = false;
  /** Nothing begins in these lanes. */
  readonly #paused = new Set<Lane>();
  /** Callers of `pause` take turns: it resolves when the previous one has resumed. */
  #lastPause: Promise<void> = Promise.resolve();
  #endPause: () => void = () => {};
  readonly #onFatal: (error: unknown) => void;
  #stopped = false;
  readonly #waiters: Waiter[] = [];

  constructor(store: Store, queue: WriteQueue, options: HousekeeperOptions) {
    this.#store = store;
    this.#queue = queue;
    this.#jobs = new Jobs(store, queue, options);
    this.#onFatal = options.onFatal;
    queue.onFull(() => void this.sealed(store.index.publishedSequence).catch((error) => queue.refuse(error)));
  }

  /** Runs slices for at most `budgetMs`. True when more work could be done now. */
  run(budgetMs: number): boolean {
    const until = performance.now() + budgetMs;
    this.#begin();
    do {
      // Writes wait for seals, so those come first.
      if (!this.#step('seal') && !this.#step('other')) return false;
      if (this.#hasEnded) this.#begin();
    } while (performance.now() < until);
    return true;
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

  /**
   * Waits for the running job and starts no other until `resume`. Seals go on, so that writes do. One caller at a time
   * holds a pause. With `endsMerges` a merge is given up, of segments or of vectors: the next open chooses it again.
   */
  async pause({ endsMerges = false } = {}): Promise<void> {
    const before = this.#lastPause;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#lastPause = promise;
    await before;
    this.#endPause = resolve;
    if (endsMerges) this.#endMerge();
    await this.#ended('other');
  }

  /** Where a compaction may merge. */
  get mergesElsewhere(): MergesElsewhere | undefined {
    return this.#jobs.mergesElsewhere;
  }

  /** In a pause: waits for the running seal too, and starts none. Writes stop when the tails are full. */
  async pauseSeals(): Promise<void> {
    await this.#ended('seal');
  }

  resume(): void {
    this.#paused.clear();
    this.#endPause();
    this.#answerWaiters();
    this.#drive();
  }

  /**
   * Puts a change in force for the caller who holds the pause. Resolves to the bytes on disk that it freed. Rejects with the
   * error of storage, and abandons the change then.
   */
  async commit(change: SegmentChange): Promise<number> {
    while (this.#commit !== undefined) await this.#commit;
    const { index } = this.#store;
    const before = index.bytesOnDisk;
    const done = this.#inForce(change, []);
    this.#commit = done
      .catch(() => this.#abandon(change))
      .finally(() => {
        this.#commit = undefined;
      });
    await done;
    return before - index.bytesOnDisk;
  }

  /** Starts nothing more and leaves the running jobs where they are. Waiting callers get an error. */
  stop(): void {
    this.#stopped = true;
    for (const waiter of this.#waiters.splice(0)) waiter.reject(gone());
  }

  /** Runs until no seal, purge, drop or merge is left. */
  async settle(): Promise<void> {
    await this.sealed(this.#store.log.nextSequence - 1);
    for (;;) {
      if (this.#stopped) throw gone();
      const hasMore = this.run(10);
      const { seal, other } = this.#running;
      if (!hasMore && seal === undefined && other === undefined && this.#commit === undefined) return;
      await this.#turn(['seal', 'other']);
    }
  }

  /** Starts nothing more in the lane, and runs until nothing is left in it. */
  async #ended(lane: Lane): Promise<void> {
    this.#paused.add(lane);
    while (this.#running[lane] !== undefined) {
      if (this.#stopped) throw gone();
      this.run(10);
      await this.#turn([lane]);
    }
  }

  #endMerge(): void {
    const { other } = this.#running;
    if (other === undefined || other.result !== undefined) return;
    const { name, steps } = other.job;
    if (name !== 'merge' && name !== 'vectors') return;
    steps.return(undefined);
    this.#running.other = undefined;
  }

  #drive(): void {
    if (this.#driving || this.#waiters.length === 0) return;
    this.#driving = true;
    const step = (): void => {
      this.#begin();
      // In a pause of seals nothing begins: `resume` drives on.
      if (
        this.#stopped ||
        this.#waiters.length === 0 ||
        (this.#running.seal === undefined && this.#paused.has('seal'))
      ) {
        this.#driving = false;
        return;
      }
      // Without a seal, there are too many segments, and the merge comes first.
      const lane = this.#running.seal === undefined ? 'other' : 'seal';
      for (const until = performance.now() + 4; this.#step(lane) && performance.now() < until; );
      void this.#turn([lane]).then(step);
    };
    setImmediate(step);
  }

  /** Gives each free lane the job that is due in it. */
  #begin(): void {
    this.#hasEnded = false;
    if (this.#stopped) return;
    // Reads look at every segment: when merges fall that far behind, seals wait for the running one, and writes for seals.
    const isCrowded = this.#store.index.segments >= SEGMENTS_CROWDED;
    const running = this.#running.other?.job.name;
    if (!isCrowded || (running !== 'merge' && running !== 'purge')) this.#beginSeal();
    this.#beginOther();
  }

  #beginSeal(): void {
    if (this.#running.seal !== undefined || this.#paused.has('seal')) return;
    const job = this.#jobs.seal(this.#waiters.length > 0);
    if (job !== undefined) this.#running.seal = { job };
  }

  #beginOther(): void {
    if (this.#running.other !== undefined || this.#paused.has('other')) return;
    const job = this.#jobs.other();
    if (job !== undefined) this.#running.other = { job };
  }

  /** Runs one slice of the lane's job. False when there is nothing to do now. */
  #step(lane: Lane): boolean {
    const running = this.#running[lane];
    if (this.#stopped || running === undefined || this.#awaited(running) !== undefined) return false;
    const { job, result } = running;
    if (result !== undefined) {
      this.#finish(lane, running, result.change);
      return true;
    }
    try {
      const step = job.steps.next();
      if (step.done === true) this.#found(running, step.value);
    } catch (error) {
      this.#finished(lane, job, error);
    }
    return true;
  }

  /** The promise that the job waits for, if any: of another thread, an upload, its own commit or that of another job. */
  #awaited({ job, result, ahead, finishing }: Running): Promise<void> | undefined {
    if (result !== undefined) return finishing ?? ahead ?? this.#commit;
    const { sealsElsewhere, mergesElsewhere } = this.#store.index;
    return job.name === 'seal' ? sealsElsewhere : mergesElsewhere;
  }

  /** A turn of the event loop, or the end of what the jobs of these lanes wait for. */
  async #turn(lanes: readonly Lane[]): Promise<void> {
    const waits: Promise<void>[] = [];
    for (const lane of lanes) {
      const running = this.#running[lane];
      const awaited = running === undefined ? undefined : this.#awaited(running);
      if (awaited !== undefined) waits.push(awaited);
      else if (running !== undefined) return turn();
    }
    if (waits.length === 0 && this.#commit !== undefined) waits.push(this.#commit);
    await (waits.length === 0 ? turn() : Promise.race(waits));
  }

  #found(running: Running, change: SegmentChange | undefined): void {
    running.result = { change };
    const { uploads } = this.#store;
    const file = running.job.name === 'merge' ? change?.file : undefined;
    if (uploads === undefined || file === undefined) return;
    // The files that it replaces are gone with the commit: the next owner would build all of them again.
    running.ahead = uploads
      .ahead(file, () => this.#isPressed)
      .then(() => {
        running.ahead = undefined;
      });
  }

  /** Puts the result of a job in force. */
  #finish(lane: Lane, running: Running, change: SegmentChange | undefined): void {
    const { job } = running;
    const heads = job.name === 'seal' ? headsToNote(this.#store) : [];
    const isNothing = heads.length === 0 && change === undefined && this.#store.damage.states().length === 0;
    if (isNothing && job.after === undefined) {
      // The next of many small jobs follows in the same slice.
      this.#finished(lane, job);
      return;
    }
    const inForce = this.#inForce(change, heads).finally(() => {
      this.#commit = undefined;
    });
    this.#commit = inForce.catch(() => undefined);
    running.finishing = inForce
      .then(() => job.after?.())
      .then(
        () => this.#finished(lane, job),
        (error) => {
          if (change !== undefined) this.#abandon(change);
          this.#finished(lane, job, error);
        },
      );
  }

  async #inForce(change: SegmentChange | undefined, heads: SegmentChange['state']): Promise<void> {
    const { damage, index } = this.#store;
    // Memories whose keys the job could not get are missing from its files. The same transaction notes that.
    const damaged = damage.states();
    const state = [...(change?.state ?? []), ...damaged, ...heads];
    if (state.length > 0) await this.#queue.commitState(state);
    damage.committed(damaged);
    if (change !== undefined) index.commit(change);
  }

  /** Storage refused: the old segments stay in force, and the work is retried later. */
  #abandon(change: SegmentChange): void {
    this.#store.index.abandon(change, { isUncertain: this.#store.log.poisoned !== undefined });
  }

  /** True when others wait for the job whose file is uploaded ahead. */
  get #isPressed(): boolean {
    const { index, purgePending } = this.#store;
    const isAwaited = this.#paused.has('other') || purgePending.size > 0;
    return this.#stopped || isAwaited || index.segments >= SEGMENTS_CROWDED;
  }

  #finished(lane: Lane, job: Job, error?: unknown): void {
    const file = this.#running[lane]?.result?.change?.file;
    if (file !== undefined) this.#store.uploads?.landed(file);
    this.#running[lane] = undefined;
    this.#hasEnded = true;
    if (error !== undefined && !(error instanceof EngineError)) {
      this.#onFatal(error);
      return;
    }
    if (error === undefined) this.#jobs.done(job);
    else this.#jobs.failed(job);
    this.#answerWaiters(lane === 'seal' ? error : undefined);
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

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function gone(): EngineError {
  return new EngineError('STO-E002', 'the shard was abandoned');
}
