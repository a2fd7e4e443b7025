// What an assembly is written on: its formats, its budget, and what counts tokens.

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

/** A page for these renderings. What bounds a template is its budget, or the largest one where grains are counted. */
export function pageOf(assembly: Assembly, { value, unit }: Budget, renderings: readonly Rendering[]): Page {
  const { level, nowMs, isoTimestamps = false, name, intent, counter = ESTIMATE, step } = assembly;
  const setting: Setting = { shape: 'assemble', level, nowMs, isoTimestamps, name, intent, step };
  const tokens = unit === 'tokens' ? value : CAL_LIMITS.budgetTokensMax;
  return { value, unit, counter, formats: renderings.map(({ format }) => formatOf(format, setting, tokens)) };
}

/** Tokens of the longest document without grains, which says that it uses all; 0 where grains are counted. */
export function frameTokens({ unit, value, counter, formats }: Page): number {
  if (unit === 'grains') return 0;
  return Math.max(...formats.map((format) => counter.count(format.document([], { unit, total: value, used: value }))));
}
