// What ends at a time: calls of gRPC, and waiting for an answer. One timer for all of them, which looks every TICK_MS: a timer a
// call would cost more than most calls do.

/** How much later than its time something may end. */
const TICK_MS = 20;

export interface Expiring {
  /** Called once, unless it was taken out before. */
  expire(): void;
}

export class Expiry {
  /** By the tick at which they end. */
  private readonly waiting = new Map<number, Set<Expiring>>();
  private timer: NodeJS.Timeout | undefined;

  /** `atMs`: of the clock of performance.now(). Returns the tick, to be taken out by. */
  add(one: Expiring, atMs: number): number {
    const tick = Math.ceil(atMs / TICK_MS);
    let waiting = this.waiting.get(tick);
    if (waiting === undefined) {
      waiting = new Set();
      this.waiting.set(tick, waiting);
      // It keeps no process alive: the connection of whoever waits does.
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
