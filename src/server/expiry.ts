// Deadlines: of gRPC calls, and of waits for answers. One timer for all, every TICK_MS: a timer per call would cost
// more than most calls.

/** Maximum delay after a deadline. */
const TICK_MS = 20;

export interface Expiring {
  /** Called once, unless it was removed before. */
  expire(): void;
}

export class Expiry {
  /** By the tick of their deadline. */
  private readonly waiting = new Map<number, Set<Expiring>>();
  private timer: NodeJS.Timeout | undefined;

  /** `atMs`: on the clock of performance.now(). Returns the tick, which is needed to remove the entry. */
  add(one: Expiring, atMs: number): number {
    const tick = Math.ceil(atMs / TICK_MS);
    let waiting = this.waiting.get(tick);
    if (waiting === undefined) {
      waiting = new Set();
      this.waiting.set(tick, waiting);
      // The timer does not keep the process alive; the caller's connection does.
      this.timer ??= setInterval(() => this.look(), TICK_MS).unref();
    }
    waiting.add(one);
    return tick;
  }

  delete(one: Expiring, tick: number): void {
    const waiting = this.waiting.get(tick);
    if (waiting?.delete(one) === true && waiting.size === 0) this.waiting.delete(tick);
  }

  private look(): void {
    const now = Math.floor(performance.now() / TICK_MS);
    for (const [tick, waiting] of this.waiting) {
      if (tick > now) continue;
      this.waiting.delete(tick);
      for (const one of waiting) one.expire();
    }
    if (this.waiting.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }
}
