/** Time, injected, so that tests and the simulator step it. */
export interface Clock {
  /** Milliseconds since 1970, an integer. */
  nowMs(): number;
}

export const systemClock: Clock = { nowMs: () => Date.now() };
