// A clock that only the test advances.
import type { Clock } from '../../src/engine/base/clock.ts';

const START_MS = 1_700_000_000_000;

export class StepClock implements Clock {
  now: number;

  constructor(now = START_MS) {
    this.now = now;
  }

  nowMs(): number {
    return this.now;
  }

  step(ms: number): void {
    this.now += ms;
  }
}
