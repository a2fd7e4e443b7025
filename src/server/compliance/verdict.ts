// A check's verdict, and helpers for the checks, each of which is a few lines over evidence.
import type { Evidence } from './evidence.ts';

export type Status = 'pass' | 'fail' | 'warn' | 'skip';

export interface Verdict {
  readonly status: Status;
  /** Includes the measured numbers. */
  readonly detail: string;
}

/** `verdicts`: those of earlier checks in table order. A judge that throws means a failed check. */
export type Judge = (evidence: Evidence, verdicts: ReadonlyMap<string, Verdict>) => Verdict;

export const pass = (detail: string): Verdict => ({ status: 'pass', detail });
export const fail = (detail: string): Verdict => ({ status: 'fail', detail });
export const warn = (detail: string): Verdict => ({ status: 'warn', detail });
export const skip = (detail: string): Verdict => ({ status: 'skip', detail });

/** Pass or fail by a condition. */
export function passIf(holds: boolean, detail: string): Verdict {
  return holds ? pass(detail) : fail(detail);
}

/** For a share or an age: pass up to the first bound, warn up to the second, then fail. */
export function within(value: number, passUpTo: number, warnUpTo: number, detail: string): Verdict {
  if (value <= passUpTo) return pass(detail);
  return value <= warnUpTo ? warn(detail) : fail(detail);
}
