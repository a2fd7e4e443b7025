// How far a query may still go, and what it has cost.
import { CalError } from '../errors.ts';
import { CAL_LIMITS } from '../vocabulary/limits.ts';
import type { Bounds, Stopped } from './asks.ts';
import type { Run } from './session.ts';

export function bounds(run: Run): Bounds {
  return { scanMax: Math.max(0, CAL_LIMITS.grainsScannedMax - run.spent.scanned), untilMs: run.untilMs };
}

/** Counts what an answer cost; throws where it went too far. */
export function account(run: Run, { stopped, scanned }: Stopped): void {
  run.spent.scanned += scanned;
  if (stopped === 'scan' || run.spent.scanned > CAL_LIMITS.grainsScannedMax)
    throw new CalError('CAL-E030', `more than ${CAL_LIMITS.grainsScannedMax} grains would have to be looked at`);
  if (stopped === 'time') throw timedOut();
  checkTime(run);
}

export function checkTime(run: Run): void {
  if (run.clockMs() > run.untilMs) throw timedOut();
}

function timedOut(): CalError {
  return new CalError('CAL-E031', 'the query took too long');
}
