// When a failed delivery is tried again (service contract, section 15.3).

/** Milliseconds after the first, second, … failed try; a try after the last one is not made. */
const WAITS_MS = [10_000, 60_000, 300_000, 1_800_000, 7_200_000] as const;
/** Waits differ by up to a fifth, so that hooks of one receiver do not come back together. */
const JITTER = 0.2;

/** The longest wait that the schedule has. */
export const WAIT_MS_MAX = WAITS_MS[WAITS_MS.length - 1]! * (1 + JITTER);

/**
 * Milliseconds until the next try after `failed` tries; undefined when there is none. `askedMs`: the wish of the receiver.
 * `random`: from 0 to 1.
 */
export function waitAfter(failed: number, askedMs: number | undefined, random: number): number | undefined {
  const wait = WAITS_MS[failed - 1];
  if (wait === undefined) return undefined;
  return askedMs ?? Math.round(wait * (1 - JITTER + 2 * JITTER * random));
}
