// Limits of the time for which a server's threads may be blocked, in CPU time, so that other processes on a busy machine
// do not count. A slow machine does: beyond a limit, it grows by the machine's slowdown.
import type { StallReport } from '../support/stall-probe.ts';
import { slowdown } from '../support/yardstick.ts';
import type { Victim } from './victim.ts';

/** CPU milliseconds on the reference machine. */
export interface StallLimits {
  readonly mainMs: number;
  readonly workersMs: number;
}

/** Other processes evict caches and delay the exchange of messages between cores, which costs CPU time too. */
const TRIES = 5;

/** The threads that were blocked for longer than allowed, in words. */
export async function tooLong(
  stalls: StallReport,
  limits: StallLimits,
  measure: () => Promise<number> = slowdown,
): Promise<readonly string[]> {
  return beyond(stalls, limits, 1).length === 0 ? [] : beyond(stalls, limits, await measure());
}

/** Does the work, again while it blocks a thread for longer than allowed: what every try blocked too long, in words. */
export async function stalledBy(
  victim: Pick<Victim, 'stalls'>,
  limits: StallLimits,
  work: () => Promise<void>,
): Promise<readonly string[]> {
  let slow: readonly string[] = [];
  for (let i = 0; i < TRIES; i++) {
    await work();
    slow = await tooLong(await victim.stalls(), limits);
    if (slow.length === 0) break;
  }
  return slow;
}

function beyond({ mainMs, workersMs }: StallReport, limits: StallLimits, factor: number): readonly string[] {
  const said = (thread: string, ms: number, limitMs: number): string[] =>
    ms <= limitMs * factor ? [] : [`${thread}: ${Math.round(ms)} ms, allowed are ${Math.round(limitMs * factor)} ms`];
  return [...said('the main thread', mainMs, limits.mainMs), ...said('a worker', workersMs, limits.workersMs)];
}
