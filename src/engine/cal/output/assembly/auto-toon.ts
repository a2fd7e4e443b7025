// Chooses TOON, the shortest format, if the query chose none, the budget is short and the server allows it.
import { calWarning } from '../../errors.ts';
import type { Rendering } from '../formats/choice.ts';
import type { Assembly, Budget } from './assembly.ts';
import { Bin } from './bin.ts';
import { frameTokens, pageOf } from './page.ts';
import type { RankedSource } from './ranking.ts';

/** TOON is chosen if all grains would take more than this share of the budget. */
const TOON_ABOVE = 0.85;
const TOON: readonly Rendering[] = [{ key: 'toon', format: { kind: 'named', name: 'toon' } }];

/** TOON if a budget of tokens is nearly used up and each source has a single type; otherwise `renderings`. */
export function autoToon(
  assembly: Assembly,
  budget: Budget,
  { renderings, sources }: { readonly renderings: readonly Rendering[]; readonly sources: readonly RankedSource[] },
): readonly Rendering[] {
  if (assembly.autoToon !== true || budget.unit !== 'tokens' || sources.some(hasSeveralTypes)) return renderings;
  const page = pageOf(assembly, budget, renderings);
  let estimate = frameTokens(page);
  for (const [i, source] of sources.entries()) {
    const bin = new Bin(source, i, page);
    for (const grain of source.grains.keys()) estimate += bin.element(grain, assembly.level).cost;
  }
  return estimate <= TOON_ABOVE * budget.value ? renderings : TOON;
}

function hasSeveralTypes({ grains }: RankedSource): boolean {
  return grains.some(({ grainType }) => grainType !== grains[0]?.grainType);
}

export const AUTO_TOON_WARNING = calWarning(
  'CAL-W005',
  'the budget is nearly spent, so the format is toon; a FORMAT clause decides otherwise',
);
