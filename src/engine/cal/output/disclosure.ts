// Which level of detail holds.
import type { DisclosureLevel } from '../ast.ts';
import type { Level } from './projection.ts';

/** Below so many tokens a bare `progressive_disclosure` shows summaries; up to so few grains it shows everything. */
const SUMMARY_BELOW_TOKENS = 1_000;
const FULL_UP_TO_GRAINS = 5;

export interface Disclosure {
  /** `progressive_disclosure`, with its level where one was written; absent: the option was not. */
  readonly option?: { readonly level?: DisclosureLevel | undefined } | undefined;
  readonly budgetTokens?: number | undefined;
  /** The LIMIT that was written. */
  readonly limit?: number | undefined;
}

/** D-34: `headlines` is another word for `standard`. */
export function levelOf({ option, budgetTokens, limit }: Disclosure): Level {
  if (option === undefined) return 'standard';
  if (option.level !== undefined) return option.level === 'headlines' ? 'standard' : option.level;
  if (budgetTokens !== undefined && budgetTokens < SUMMARY_BELOW_TOKENS) return 'summary';
  return limit !== undefined && limit <= FULL_UP_TO_GRAINS ? 'full' : 'standard';
}
