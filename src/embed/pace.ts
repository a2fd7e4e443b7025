// Holds a thread to its share of a core: after a run it rests for as long as the share demands. The share is in shared
// memory, so it changes at once, also during a rest, and the thread asks nobody who may be busy.
import { EMBED_REST_MS_MAX } from '../engine/base/limits.ts';

/** A share of a core as it lies in shared memory: this number is a whole one. */
export const WHOLE_SHARE = 1_024;

export interface PaceOptions {
  /** One number, of at most WHOLE_SHARE; absent: the thread never rests. */
  readonly share?: Int32Array | undefined;
  /** Monotonic milliseconds. */
  readonly nowMs?: (() => number) | undefined;
  /** Milliseconds of work so far. */
  readonly workedMs: () => number;
}

export class Pace {
  readonly #share: Int32Array | undefined;
  readonly #nowMs: () => number;
  readonly #workedMs: () => number;
  #beganMs = Number.NEGATIVE_INFINITY;
  #spentMs = 0;

  constructor({ share, nowMs = () => performance.now(), workedMs }: PaceOptions) {
    this.#share = share;
    this.#nowMs = nowMs;
    this.#workedMs = workedMs;
  }

  /** Runs `work`, which counts. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const before = this.#workedMs();
    this.#beganMs = this.#nowMs();
    const made = await work();
    this.#spentMs = this.#workedMs() - before;
    return made;
  }

  /** Milliseconds until the next run, by the share of this moment. However small that is, the rest ends. */
  restMs(): number {
    if (this.#share === undefined) return 0;
    const share = Math.max(1, Atomics.load(this.#share, 0)) / WHOLE_SHARE;
    const restMs = Math.min(this.#spentMs / share, this.#spentMs + EMBED_REST_MS_MAX);
    return Math.max(0, this.#beganMs + restMs - this.#nowMs());
  }
}
