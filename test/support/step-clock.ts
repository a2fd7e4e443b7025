// A clock that only the test advances, or sets.
import type { Clock } from '../../src/engine/base/clock.ts';

const START_MS = 1_700_000_000_000;

export class StepClock implements Clock {
  now: number;
  /** By how much the clock was set. */
  #setByMs = 0;

  constructor(now = START_MS) {
    this.now = now;
  }

  nowMs(): number {
    return this.now;
  }

  steadyMs(): number {
    return this.now - this.#setByMs;
  }

  /** Lets time pass. */
  step(ms: number): void {
    this.now += ms;
  }

  /** Moves the date alone, as an operator or NTP does. */
  set(ms: number): void {
    this.#setByMs += ms - this.now;
    this.now = ms;
  }
}
