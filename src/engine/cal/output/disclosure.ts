// Chooses the level of detail.
import type { DisclosureLevel } from '../ast.ts';
import type { Level } from './projection.ts';

/** `progressive_disclosure` without a level: below this budget it shows summaries; up to this LIMIT, everything. */
const SUMMARY_BELOW_TOKENS = 1_000;
const FULL_UP_TO_GRAINS = 5;

export interface Disclosure {
  /** The option `progressive_disclosure`, with its level if it has one; undefined if the query lacks the option. */
  readonly option?: { readonly level?: DisclosureLevel | undefined } | undefined;
  readonly budgetTokens?: number | undefined;
  /** The LIMIT of the query, without defaults. */
  readonly limit?: number | undefined;
}

/** The level. `headlines` is a synonym of `standard` (D-34). */
export function levelOf({ option, budgetTokens, limit }: Disclosure): Level {
  if (option === undefined) return 'standard';
  if (option.level !== undefined) return option.level === 'headlines' ? 'standard' : option.level;
  if (budgetTokens !== undefined && budgetTokens < SUMMARY_BELOW_TOKENS) return 'summary';
  return limit !== undefined && limit <= FULL_UP_TO_GRAINS ? 'full' : 'standard';
}
