// Shutdown of a server: parts close once, in the reverse order of opening.
import { DRAIN_LATER_MS, DRAIN_MS } from '../engine/base/limits.ts';
import { isSettledWithin } from '../engine/base/settled-within.ts';
import type { Logger } from './log.ts';

interface Opened {
  readonly what: string;
  readonly close: () => void | Promise<void>;
  readonly isBounded: boolean;
}

/** For parts after one that was left behind. */
const LATER_PART_MS = 1_000;

export class Lifecycle {
  readonly #log: Logger;
  readonly #stopping: AbortSignal | undefined;
  readonly #opened: Opened[] = [];
  #closing: Promise<void> | undefined;
  /** How long a part may take to close. */
  #partMs: number | undefined;
  #endingSinceMs: number | undefined;
  #current: string | undefined;

  /** `stopping`: no further part is opened after its abort. */
  constructor(log: Logger, stopping?: AbortSignal) {
    this.#log = log;
    this.#stopping = stopping;
  }

  /** True once shutdown has begun: health reports unavailable. */
  get isEnding(): boolean {
    return this.#closing !== undefined;
  }

  /** The part that `close` waits for; undefined when it waits for none. */
  get current(): string | undefined {
    return this.#current;
  }

  /**
   * Registers a part, to be closed before all parts opened earlier. `isBounded`: it ends on its own in any case, and is always
   * waited for. Throws the signal's reason when the start is to stop: the caller then closes everything, this part too.
   */
  opened(what: string, close: () => void | Promise<void>, { isBounded = false } = {}): void {
    this.#opened.push({ what, close, isBounded });
    this.#stopping?.throwIfAborted();
  }

  /** Parts may wait for something that is away: one that takes longer than this to close is left behind. */
  bound(partMs: number): void {
    this.#partMs = partMs;
  }

  /** How long a part may wait for requests under way: all parts together have DRAIN_MS, and each has a moment in any case. */
  get drainMs(): number {
    const gone = this.#endingSinceMs === undefined ? 0 : performance.now() - this.#endingSinceMs;
    return Math.max(DRAIN_LATER_MS, DRAIN_MS - gone);
  }

  /** Closes everything. A failing part is logged, and the others are closed nevertheless. */
  close(): Promise<void> {
    this.#endingSinceMs ??= performance.now();
    this.#closing ??= this.#closeAll();
    return this.#closing;
  }

  async #closeAll(): Promise<void> {
    for (let last = this.#opened.pop(); last !== undefined; last = this.#opened.pop()) {
      this.#current = last.what;
      try {
        const closing = Promise.resolve(last.close());
        if (this.#partMs === undefined || last.isBounded) await closing;
        else if (!(await isSettledWithin(closing, this.#partMs))) {
          this.#log.warn(`${last.what} did not close within ${this.#partMs} ms: abandoned`);
          // The others wait for the same.
          this.#partMs = Math.min(this.#partMs, LATER_PART_MS);
        }
      } catch (error) {
        this.#log.error({ err: error }, `${last.what} did not close`);
      }
    }
    this.#current = undefined;
  }
}
