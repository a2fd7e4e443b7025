// Measures what requests leave of the processors, and gives it to the embedders of this process. A backlog of texts
// would otherwise take a processor from the threads that answer, however low its priority is.
//
// A thread is as busy for requests as its event loop is active while calls are under way: a loop that merges segments
// without a caller may be disturbed, and a call that waits for the disk needs no processor. A rise of the demand counts at
// once, a fall within about a second.
import { availableParallelism } from 'node:os';
import { WHOLE_SHARE } from '../../embed/pace.ts';
import type { Spare } from '../../embed/spare.ts';
import {
  SPARE_FALL,
  SPARE_FORGOTTEN_MS,
  SPARE_IDLE_CORES,
  SPARE_LOOK_MS,
  SPARE_SHARE_MIN,
} from '../../engine/base/limits.ts';
import type { WorkerLoad } from '../../shards/transport/shard-set.ts';

export interface SpareCoresOptions {
  /** Of the workers. */
  readonly loads: () => readonly WorkerLoad[];
  /** Milliseconds so far in which this thread's event loop was not idle. */
  readonly mainMs?: (() => number) | undefined;
  /** True while a read waits for vectors: then embedding is what was asked for. */
  readonly isAwaited?: (() => boolean) | undefined;
  readonly cores?: number | undefined;
  /** Monotonic milliseconds. */
  readonly nowMs?: (() => number) | undefined;
  /** Calls `run` every so many milliseconds; the result ends it. */
  readonly every?: ((ms: number, run: () => void) => () => void) | undefined;
}

interface Sample {
  readonly atMs: number;
  readonly mainMs: number;
  readonly loads: readonly WorkerLoad[];
}

export class SpareCores implements Spare {
  readonly shares = [newShare(), newShare()] as const;
  readonly #options: SpareCoresOptions;
  readonly #cores: number;
  #holds = 0;
  #end: () => void = () => undefined;
  #last: Sample | undefined;
  /** Cores that requests use. */
  #demand = 0;

  constructor(options: SpareCoresOptions) {
    this.#options = options;
    this.#cores = options.cores ?? availableParallelism();
    this.#give(false);
  }

  hold(): () => void {
    if (this.#holds++ === 0) {
      this.#look();
      this.#end = (this.#options.every ?? everyByTimer)(SPARE_LOOK_MS, () => this.#look());
    }
    let isHeld = true;
    return () => {
      if (isHeld && --this.#holds === 0) this.#end();
      isHeld = false;
    };
  }

  #look(): void {
    const { loads, mainMs = loopActiveMs, nowMs = () => performance.now() } = this.#options;
    const last = this.#last;
    const now: Sample = { atMs: nowMs(), mainMs: mainMs(), loads: loads() };
    const passedMs = last === undefined ? Number.POSITIVE_INFINITY : now.atMs - last.atMs;
    if (last === undefined || passedMs > SPARE_FORGOTTEN_MS) {
      this.#last = now;
      this.#demand = 0;
    } else if (passedMs >= SPARE_LOOK_MS / 2) {
      this.#last = now;
      const demand = demandBetween(last, now) / passedMs;
      this.#demand = demand > this.#demand ? demand : this.#demand + (demand - this.#demand) * SPARE_FALL;
    }
    this.#give(this.#options.isAwaited?.() === true);
  }

  #give(isAwaited: boolean): void {
    const [first, second] = this.shares;
    const spare = spareOf(this.#demand, this.#cores);
    set(first, isAwaited ? 1 : Math.max(SPARE_SHARE_MIN, spare));
    set(second, Math.max(SPARE_SHARE_MIN, spare - 1));
  }
}

/**
 * Cores for embedding: two while hardly anything is asked. Otherwise half of all are left out, because two processors
 * are often threads of one core, and share memory and caches in any case.
 */
export function spareOf(demand: number, cores: number): number {
  return demand < SPARE_IDLE_CORES ? Math.min(2, cores) : cores / 2 - demand;
}

function demandBetween(before: Sample, after: Sample): number {
  const asked = after.loads.map(({ askedMs }, i) => since(askedMs, before.loads[i]?.askedMs));
  const workers = after.loads.map(({ activeMs }, i) => Math.min(since(activeMs, before.loads[i]?.activeMs), asked[i]!));
  return workers.reduce((sum, one) => sum + one, Math.min(since(after.mainMs, before.mainMs), Math.max(0, ...asked)));
}

/** A counter that began anew counts from there. */
function since(now: number, before = 0): number {
  return now < before ? now : now - before;
}

function newShare(): Int32Array {
  return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
}

function set(share: Int32Array, part: number): void {
  Atomics.store(share, 0, Math.round(Math.min(1, part) * WHOLE_SHARE));
}

function loopActiveMs(): number {
  return performance.eventLoopUtilization().active;
}

function everyByTimer(ms: number, run: () => void): () => void {
  const timer = setInterval(run, ms);
  timer.unref();
  return () => clearInterval(timer);
}
