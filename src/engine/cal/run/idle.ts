// Warns of options without effect where they are written (section 9).
import type { WithOption } from '../ast.ts';
import { calWarning } from '../errors.ts';
import type { Run } from './session.ts';

type Name = WithOption['option'];

/** Options that only affect a search. */
export const OF_SEARCH: ReadonlySet<Name> = new Set<Name>(['diversity', 'score_breakdown']);
/** Options that only affect text output. */
export const OF_TEXT: ReadonlySet<Name> = new Set<Name>(['iso_timestamps', 'progressive_disclosure']);
/** Options of a whole answer, without effect in a part of it. */
export const OF_ANSWER: ReadonlySet<Name> = new Set<Name>([
  ...OF_TEXT,
  'score_breakdown',
  'explanation',
  'provenance',
  'contradiction_detection',
  'summarize',
]);

/** Warns of each option in `options` that is also in `idle`. */
export function warnOfIdle(options: readonly WithOption[], idle: ReadonlySet<Name>, why: string, run: Run): void {
  for (const { option } of options)
    if (idle.has(option)) run.spent.warnings.push(calWarning('CAL-W004', `${option} has no effect: ${why}`));
}
