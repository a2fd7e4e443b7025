/** The injected source of time. Tests and the simulator advance it themselves. */
export interface Clock {
  /** Milliseconds since 1970, an integer. */
  nowMs(): number;
}

export const systemClock: Clock = { nowMs: () => Date.now() };

export const DAY_MS = 86_400_000;
