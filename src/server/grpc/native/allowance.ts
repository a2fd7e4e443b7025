// A peer's allowance of frames that cost the server work and the peer nothing, such as resets and pings.

export class Allowance {
  private readonly most: number;
  private readonly perMs: number;
  private left: number;
  private filledMs: number;

  /** `atOnce` is also the most that time and work add up to. */
  constructor(atOnce: number, perSecond: number) {
    this.most = atOnce;
    this.perMs = perSecond / 1_000;
    this.left = atOnce;
    this.filledMs = performance.now();
  }

  /** False when nothing is left. */
  spend(): boolean {
    if (this.left < 1) this.fill();
    if (this.left < 1) return false;
    this.left -= 1;
    return true;
  }

  /** The peer has taken an answer. */
  earn(count: number): void {
    this.left = Math.min(this.left + count, this.most);
  }

  /** The clock is read only here. */
  private fill(): void {
    const now = performance.now();
    this.left = Math.min(this.left + (now - this.filledMs) * this.perMs, this.most);
    this.filledMs = now;
  }
}
