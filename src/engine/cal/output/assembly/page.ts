// The settings for writing an assembly: its formats, its budget and its token counter.

import { CAL_LIMITS } from '../../vocabulary/limits.ts';
import { formatOf, type Rendering } from '../formats/choice.ts';
import type { Format, Setting } from '../formats/format.ts';
import { ESTIMATE, type TokenCounter } from '../tokens.ts';
import type { Assembly, Budget } from './assembly.ts';

/** The counter and formats of an assembly, together with its budget. */
export interface Page extends Budget {
  readonly counter: TokenCounter;
  readonly formats: readonly Format[];
}

/**
 * A page for these renderings. A template's text is bounded by the budget, or by the largest budget if it counts
 * grains.
 */
export function pageOf(assembly: Assembly, { value, unit }: Budget, renderings: readonly Rendering[]): Page {
  const { level, nowMs, isoTimestamps = false, name, intent, counter = ESTIMATE, step } = assembly;
  const setting: Setting = { shape: 'assemble', level, nowMs, isoTimestamps, name, intent, step };
  const tokens = unit === 'tokens' ? value : CAL_LIMITS.budgetTokensMax;
  return { value, unit, counter, formats: renderings.map(({ format }) => formatOf(format, setting, tokens)) };
}

/** Tokens of the longest document without grains, if it states full use. 0 if the budget counts grains. */
export function frameTokens({ unit, value, counter, formats }: Page): number {
  if (unit === 'grains') return 0;
  return Math.max(...formats.map((format) => counter.count(format.document([], { unit, total: value, used: value }))));
}
