// The remaining limits of a query and its cost so far.
import { CAL_HELD_BYTES_MAX } from '../../base/limits.ts';
import type { Bounds, Stopped } from '../../calls/cal.ts';
import type { GrainView } from '../../calls/grain.ts';
import { CalError } from '../errors.ts';
import { CAL_LIMITS } from '../vocabulary/limits.ts';
import type { Run } from './session.ts';

export function bounds(run: Run): Bounds {
  return {
    scanMax: Math.max(0, CAL_LIMITS.grainsScannedMax - run.spent.scanned),
    untilMs: run.untilMs,
    heldMax: Math.max(0, CAL_HELD_BYTES_MAX - run.spent.heldBytes),
  };
}

/** Adds the cost of an answer. Throws if it exceeds a limit. */
export function charge(run: Run, { stopped, scanned, grains = [] }: Stopped & Held): void {
  run.spent.scanned += scanned;
  if (stopped === 'scan' || run.spent.scanned > CAL_LIMITS.grainsScannedMax)
    throw new CalError('CAL-E030', `more than ${CAL_LIMITS.grainsScannedMax} grains would have to be opened`);
  hold(run, grains);
  if (stopped === 'bytes') throw tooLarge();
  if (stopped === 'time') throw timedOut();
  checkTime(run);
}

interface Held {
  readonly grains?: readonly GrainView[];
}

/** Adds grains that the query holds until its end. Throws if there are too many bytes of them. */
export function hold(run: Run, grains: readonly GrainView[]): void {
  for (const { sizeBytes } of grains) run.spent.heldBytes += sizeBytes;
  if (run.spent.heldBytes > CAL_HELD_BYTES_MAX) throw tooLarge();
}

function tooLarge(): CalError {
  return new CalError('CAL-E030', `the grains exceed ${CAL_HELD_BYTES_MAX / 1_048_576} MiB in total`, {
    suggestion: 'Ask for fewer with LIMIT.',
  });
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
