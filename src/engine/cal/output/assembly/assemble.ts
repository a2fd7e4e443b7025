// ASSEMBLE: writes the grains of several sources as one text within a budget. A pure function: the same grains and the
// same time give the same text.

import { defined } from '../../../base/defined.ts';
import type { JsonObject } from '../../../grain/api/json-value.ts';
import { CAL_LIMITS } from '../../vocabulary/limits.ts';
import { formatName, type Rendering } from '../formats/choice.ts';
import type { Tally } from '../formats/format.ts';
import type { CalGrain } from '../grain.ts';
import type { Level } from '../projection.ts';
import { skippedWarning } from '../render.ts';
import { summaryOf } from '../summary.ts';
import { utilization } from '../template-variables.ts';
import type { Assembly } from './assembly.ts';
import { AUTO_TOON_WARNING, autoToon } from './auto-toon.ts';
import { Bin, type Choice } from './bin.ts';
import { fitting } from './document.ts';
import { type Filling, fill } from './fill.ts';
import { frameTokens, type Page, pageOf } from './page.ts';
import { type RankedSource, ranked, weightsOf, withoutRepeats } from './ranking.ts';

export interface AssembledSource {
  readonly label: string;
  readonly rank: number;
  readonly grainCount: number;
  /** In the unit of the budget, like `tokensUsed`. */
  readonly tokensAllocated: number;
  readonly tokensUsed: number;
  readonly truncated: boolean;
  readonly hashes: readonly string[];
  /** With `summarizes`: a summary in one line of all grains of the source, those left out included. */
  readonly summary?: string | undefined;
}

export interface Assembled {
  readonly renderings: readonly {
    readonly key: string;
    /** The name of the format or template. */
    readonly format: string;
    readonly content: string | JsonObject[];
  }[];
  /** The included grains, by rank of their source. */
  readonly grains: readonly CalGrain[];
  /** In rank order. */
  readonly sources: readonly AssembledSource[];
  readonly budget: Tally & { readonly remaining: number; readonly utilization: number };
  /** Tokens of the longest rendering. */
  readonly tokensUsed: number;
  readonly disclosure: Level;
  readonly warnings: readonly string[];
}

const DEFAULT_RENDERINGS: readonly Rendering[] = [{ key: 'sml', format: { kind: 'named', name: 'sml' } }];

/** Throws CalError E034 and E035. */
export function assemble(assembly: Assembly): Assembled {
  const { budget = { value: CAL_LIMITS.budgetTokensDefault, unit: 'tokens' } } = assembly;
  const sources = withoutRepeats(ranked(assembly.sources, assembly.priority), assembly.dedupField);
  const wanted = assembly.renderings ?? DEFAULT_RENDERINGS;
  const renderings = autoToon(assembly, budget, { renderings: wanted, sources });
  const warnings: string[] = renderings === wanted ? [] : [AUTO_TOON_WARNING];
  const page = pageOf(assembly, budget, renderings);
  const { chosen, allocated } = choose(assembly, sources, page);
  const kept = fitting(chosen, sources, page);
  if (kept === undefined)
    warnings.push(`a budget of ${budget.value} ${budget.unit} has no room for the frame of the format`);
  const included = chosen.slice(0, kept?.count ?? 0).filter((one) => one.kind === 'element');
  for (const i of page.formats.keys()) {
    const skipped = included.filter(({ texts }) => texts[i] === undefined).length;
    if (skipped > 0) warnings.push(skippedWarning(skipped));
  }
  const tokensUsed = Math.max(0, ...(kept?.documents ?? []).map(({ tokens }) => tokens));
  const used = budget.unit === 'tokens' ? tokensUsed : included.length;
  const tally: Tally = { unit: budget.unit, total: budget.value, used };
  return {
    renderings: renderings.map(({ key, format: resolved }, i) => ({
      key,
      format: formatName(resolved),
      content: page.formats[i]!.data?.(kept?.documents[i]?.groups ?? []) ?? kept?.documents[i]?.text ?? '',
    })),
    grains: included.map(({ grain }) => grain),
    sources: sources.map((source, i) =>
      described(
        source,
        included.filter((one) => one.source === i),
        allocated[i]!,
        assembly.summarizes === true ? summaryOf(source.grains) : undefined,
      ),
    ),
    budget: { ...tally, remaining: tally.total - used, utilization: utilization(tally) },
    tokensUsed,
    disclosure: assembly.level,
    warnings,
  };
}

/** All choices: grains by rank of their source, then omissions. If they do not fit, the last are given up first. */
function choose(
  { level, squeezes = false }: Assembly,
  sources: readonly RankedSource[],
  page: Page,
): { chosen: Choice[]; allocated: readonly number[] } {
  const weights = weightsOf(sources.length);
  const bins = sources.map((source, i) => new Bin(source, i, page));
  const fillings = bins.map((bin, i): Filling => {
    const { failed = false, grains } = sources[i]!;
    const hasSummary = page.formats.some((format) => format.hasSummary === true);
    const canSqueeze = page.unit === 'tokens' && level !== 'summary' && (squeezes || hasSummary);
    return {
      weight: failed ? 0 : weights[i]!,
      count: grains.length,
      cost: (grain) => bin.element(grain, level).cost,
      summaryCost: canSqueeze ? (grain) => bin.element(grain, 'summary').cost : undefined,
    };
  });
  const reserve = frameTokens(page);
  const filled = fill(fillings, page.value, reserve);
  const elements = filled.flatMap(({ taken, squeezed }, i) =>
    Array.from({ length: taken + squeezed }, (_, grain) => bins[i]!.element(grain, grain < taken ? level : 'summary')),
  );
  let left = page.unit === 'tokens' ? page.value - reserve - filled.reduce((sum, { used }) => sum + used, 0) : Infinity;
  const omissions: Choice[] = [];
  for (const [i, { taken, squeezed }] of filled.entries()) {
    for (let grain = taken + squeezed; grain < sources[i]!.grains.length; grain++) {
      const omission = bins[i]!.omission(grain);
      if (omission === undefined || omission.cost > left) break;
      left -= omission.cost;
      omissions.push(omission);
    }
  }
  return { chosen: [...elements, ...omissions], allocated: filled.map(({ allocated }) => allocated) };
}

function described(
  { label, rank, grains }: RankedSource,
  included: readonly { readonly grain: CalGrain; readonly cost: number }[],
  tokensAllocated: number,
  summary: string | undefined,
): AssembledSource {
  return defined({
    label,
    rank,
    grainCount: included.length,
    tokensAllocated,
    tokensUsed: included.reduce((sum, { cost }) => sum + cost, 0),
    truncated: included.length < grains.length,
    hashes: included.map(({ grain }) => grain.hash),
    summary,
  });
}
