// Options that stand where they change nothing: each is told (section 9).
import type { WithOption } from '../ast.ts';
import { calWarning } from '../errors.ts';
import type { Run } from './session.ts';

type Name = WithOption['option'];

/** Of a search alone. */
export const OF_SEARCH: ReadonlySet<Name> = new Set<Name>(['diversity', 'score_breakdown']);
/** Of a text alone. */
export const OF_TEXT: ReadonlySet<Name> = new Set<Name>(['iso_timestamps', 'progressive_disclosure']);
/** Of an answer: in a part of it they say nothing. */
export const OF_ANSWER: ReadonlySet<Name> = new Set<Name>([
  ...OF_TEXT,
  'score_breakdown',
  'explanation',
  'provenance',
  'contradiction_detection',
  'summarize',
]);

/** Warns of those of `options` that are in `idle`. */
export function warnOfIdle(options: readonly WithOption[], idle: ReadonlySet<Name>, why: string, run: Run): void {
  for (const { option } of options)
    if (idle.has(option)) run.spent.warnings.push(calWarning('CAL-W004', `${option} has no effect: ${why}`));
}
