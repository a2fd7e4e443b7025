// The remaining limits of a query and its cost so far.
import { CAL_HELD_BYTES_MAX } from '../../base/limits.ts';
import type { Bounds, Stopped } from '../../calls/cal.ts';
import { CalError } from '../errors.ts';
import { CAL_LIMITS } from '../vocabulary/limits.ts';
import type { Run } from './session.ts';

export function bounds(run: Run): Bounds {
  return { scanMax: Math.max(0, CAL_LIMITS.grainsScannedMax - run.spent.scanned), untilMs: run.untilMs };
}

/** Adds the cost of an answer. Throws if it exceeds a limit. */
export function charge(run: Run, { stopped, scanned }: Stopped): void {
  run.spent.scanned += scanned;
  if (stopped === 'scan' || run.spent.scanned > CAL_LIMITS.grainsScannedMax)
    throw new CalError('CAL-E030', `more than ${CAL_LIMITS.grainsScannedMax} grains would have to be opened`);
  if (stopped === 'bytes')
    throw new CalError('CAL-E030', `the grains exceed ${CAL_HELD_BYTES_MAX / 1_048_576} MiB in total`, {
      suggestion: 'Ask for fewer with LIMIT.',
    });
  if (stopped === 'time') throw timedOut();
  checkTime(run);
}

export function checkTime(run: Run): void {
  if (run.clockMs() > run.untilMs) throw timedOut();
}

/** Steps between two clock reads; they take some microseconds. */
const STEPS_A_LOOK = 64;

/** For work that does not use the store: call it at each step. Throws `late` after the deadline. */
export function pace(run: Run, late: () => CalError = timedOut): () => void {
  let left = STEPS_A_LOOK;
  return () => {
    left -= 1;
    if (left > 0) return;
    left = STEPS_A_LOOK;
    if (run.clockMs() > run.untilMs) throw late();
  };
}

function timedOut(): CalError {
  return new CalError('CAL-E031', 'the query took too long');
}
