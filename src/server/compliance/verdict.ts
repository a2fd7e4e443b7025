// A check's verdict, and how the checks are written: a few lines over evidence each.
import type { Evidence } from './evidence.ts';

export type Status = 'pass' | 'fail' | 'warn' | 'skip';

export interface Verdict {
  readonly status: Status;
  /** With the measured numbers. */
  readonly detail: string;
}

/** `verdicts`: of the checks before it in the order of the table. What it throws is a failure. */
export type Judge = (evidence: Evidence, verdicts: ReadonlyMap<string, Verdict>) => Verdict;

export const pass = (detail: string): Verdict => ({ status: 'pass', detail });
export const fail = (detail: string): Verdict => ({ status: 'fail', detail });
export const warn = (detail: string): Verdict => ({ status: 'warn', detail });
/** Of what a build has not: no evidence either way, and nothing that its operator could mend. */
export const absent = (what: string): Verdict => warn(`not part of this build: ${what}`);
export const skip = (detail: string): Verdict => ({ status: 'skip', detail });

/** Pass or fail by a condition. */
export function passIf(holds: boolean, detail: string): Verdict {
  return holds ? pass(detail) : fail(detail);
}

/** Of a share, or an age: pass up to one bound, warn up to the next, fail beyond. */
export function within(value: number, passUpTo: number, warnUpTo: number, detail: string): Verdict {
  if (value <= passUpTo) return pass(detail);
  return value <= warnUpTo ? warn(detail) : fail(detail);
}
