// Callers that wait until a time and no longer. One timer for all of them, which looks every TICK_MS: a timer a request
// costs more than what most requests do on this thread.
import { EngineError } from '../engine/errors.ts';

/** How much later than its deadline a caller may hear that it has passed. */
const TICK_MS = 20;

type Late = () => void;

export class Deadlines {
  /** Those who wait, by the tick after which they do not. */
  readonly #waiting = new Map<number, Set<Late>>();
  #timer: NodeJS.Timeout | undefined;

  /** Settles as `work` does, or rejects with SYS-E005 once `waitMs` have passed; the work itself goes on. */
  race<T>(work: Promise<T>, waitMs: number): Promise<T> {
    return new Promise((resolve, reject) => {
      const tick = Math.ceil((performance.now() + waitMs) / TICK_MS);
      const late = (): void => reject(new EngineError('SYS-E005', 'timed out'));
      const waiting = this.#waitingUntil(tick);
      waiting.add(late);
      work.then(
        (value) => {
          waiting.delete(late);
          resolve(value);
        },
        (error: unknown) => {
          waiting.delete(late);
          reject(error);
        },
      );
    });
  }

  #waitingUntil(tick: number): Set<Late> {
    let waiting = this.#waiting.get(tick);
    if (waiting === undefined) {
      waiting = new Set();
      this.#waiting.set(tick, waiting);
      // It keeps no process alive: whoever waits has something else that does.
      this.#timer ??= setInterval(() => this.#look(), TICK_MS).unref();
    }
    return waiting;
  }

  #look(): void {
    const now = Math.floor(performance.now() / TICK_MS);
    for (const [tick, waiting] of this.#waiting) {
      if (tick > now) continue;
      this.#waiting.delete(tick);
      for (const late of waiting) late();
    }
    if (this.#waiting.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
