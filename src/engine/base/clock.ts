/** The injected source of time. Tests and the simulator advance it themselves. */
export interface Clock {
  /** Milliseconds since 1970, an integer. */
  nowMs(): number;
  /** See `steadyMs`. Absent: the clock is never set. */
  steadyMs?(): number;
}

/** Monotonic time as all threads of the process see it, less `performance.now()`, which begins anew in each thread. */
const PERFORMANCE_BEGAN_MS = Number(process.hrtime.bigint()) / 1e6 - performance.now();

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  steadyMs: () => PERFORMANCE_BEGAN_MS + performance.now(),
};

/**
 * The time for deadlines, in milliseconds since some moment: it goes on when an operator or NTP sets the clock. All threads
 * of the process have the same time; another process has another one.
 */
export function steadyMs(clock: Clock): number {
  return clock.steadyMs?.() ?? clock.nowMs();
}

export const DAY_MS = 86_400_000;
