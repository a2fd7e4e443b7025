// An answer that waits for the rest of its request's body, since an answer before it could be lost to a reset.
import { BODY_QUIET_MS } from '../../engine/base/limits.ts';

/** Waits until a peer has sent what it sends: `send` is called once. */
export class HeldAnswer {
  private readonly send: () => void;
  private readonly look: NodeJS.Timeout;
  private lastMs = performance.now();
  private isReleased = false;

  constructor(send: () => void) {
    this.send = send;
    this.look = setInterval(() => {
      if (performance.now() - this.lastMs >= BODY_QUIET_MS) this.release();
    }, BODY_QUIET_MS / 4);
  }

  arrived(): void {
    this.lastMs = performance.now();
  }

  release(): void {
    if (this.isReleased) return;
    this.isReleased = true;
    clearInterval(this.look);
    this.send();
  }
}
