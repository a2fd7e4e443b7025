// Which source of an assembly comes first, what is said twice, and how a budget is shared: pure arithmetic over ranks.
import { CalError } from '../../errors.ts';
import { fieldValue } from '../fields.ts';
import type { CalGrain } from '../grain.ts';
import type { Project } from '../projection.ts';

/** A source of FROM with what its recall found. */
export interface Source {
  readonly label: string;
  /** In the order of its recall. */
  readonly grains: readonly CalGrain[];
  readonly project?: Project | undefined;
  /** Its recall did not end well: it has no grains, and its share goes to the others. */
  readonly failed?: boolean;
}

export interface RankedSource extends Source {
  /** Place in FROM, from 0. */
  readonly index: number;
  /** From 1, the most important first. */
  readonly rank: number;
}

/** PRIORITY's labels first, the others as in FROM. Throws CalError E034 and E035. */
export function ranked(sources: readonly Source[], priority: readonly string[]): RankedSource[] {
  const left = new Map<string, { readonly source: Source; readonly index: number }>();
  for (const [index, source] of sources.entries()) {
    if (left.has(source.label)) throw new CalError('CAL-E034', `two sources are labelled ${source.label}`);
    left.set(source.label, { source, index });
  }
  const order = [];
  for (const label of priority) {
    const found = left.get(label);
    if (found === undefined) throw new CalError('CAL-E035', `no source is labelled ${label}`);
    left.delete(label);
    order.push(found);
  }
  return [...order, ...left.values()].map(({ source, index }, i) => ({ ...source, index, rank: i + 1 }));
}

/**
 * D-26: a grain of several sources is kept in the most important one. With a field, a value of it that a more important
 * source has removes the grains that have it too from the others; grains without the field stay, repeats within one
 * source stay. Takes and gives sources in rank order.
 */
export function withoutRepeats(sources: readonly RankedSource[], field: string | undefined): RankedSource[] {
  const hashes = new Set<string>();
  const values = new Set<string>();
  return sources.map((source) => {
    const met: string[] = [];
    const grains = source.grains.filter((grain) => {
      const key = field === undefined ? undefined : valueKey(grain, field);
      if (hashes.has(grain.hash) || (key !== undefined && values.has(key))) return false;
      hashes.add(grain.hash);
      if (key !== undefined) met.push(key);
      return true;
    });
    for (const key of met) values.add(key);
    return { ...source, grains };
  });
}

/** Two grains have the same value of a field exactly when they have the same key; undefined: it has none. */
export function valueKey(grain: CalGrain, field: string): string | undefined {
  const value = fieldValue(grain, field);
  return value === undefined ? undefined : JSON.stringify(value);
}

/** For up to four sources, in whole numbers whose ratios are .65 to .35, .5 to .3 to .2, and .4 to .28 to .2 to .12. */
const WEIGHTS: readonly (readonly number[])[] = [[], [1], [13, 7], [5, 3, 2], [10, 7, 5, 3]];

/** D-27: of more than four, each weighs 0.6 of the one before it; 3^i 5^(n-1-i) are such numbers. By rank. */
export function weightsOf(count: number): readonly number[] {
  return WEIGHTS[count] ?? Array.from({ length: count }, (_, i) => 3 ** i * 5 ** (count - 1 - i));
}

/** Whole shares by weight that add up to `total`: rounded down, then one more to the largest remainders, first ones first. */
export function shares(weights: readonly number[], total: number): number[] {
  const sum = weights.reduce((a, b) => a + b, 0);
  if (sum === 0) return weights.map(() => 0);
  const given = weights.map((weight) => Math.floor((weight * total) / sum));
  const remainders = weights.map((weight, i) => ({ i, remainder: (weight * total) % sum }));
  const left = total - given.reduce((a, b) => a + b, 0);
  for (const { i } of remainders.sort((a, b) => b.remainder - a.remainder || a.i - b.i).slice(0, left)) given[i]!++;
  return given;
}
