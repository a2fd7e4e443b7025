// Ranks the sources of an assembly, drops repeats and shares out a budget. Pure arithmetic.
import { CalError } from '../../errors.ts';
import { fieldValue } from '../fields.ts';
import type { CalGrain } from '../grain.ts';
import type { Project } from '../projection.ts';

/** A source of FROM with the grains of its recall. */
export interface Source {
  readonly label: string;
  /** In the order of its recall. */
  readonly grains: readonly CalGrain[];
  readonly project?: Project | undefined;
  /** True if its recall failed. The source has no grains, and the others get its share. */
  readonly failed?: boolean;
}

export interface RankedSource extends Source {
  /** Index in FROM, from 0. */
  readonly index: number;
  /** Importance, from 1 for the most important. */
  readonly rank: number;
}

/**
 * The sources in rank order: first the labels of PRIORITY, then the others as in FROM. Throws CalError E034 and E035.
 */
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
 * Keeps a grain of several sources only in the most important one (D-26). With `field`, also drops grains whose value
 * of it occurs in a more important source. Grains without the field and repeats within one source stay. Takes and
 * returns sources in rank order.
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

/** A key that is equal for equal values of the field; undefined for a grain without it. */
export function valueKey(grain: CalGrain, field: string): string | undefined {
  const value = fieldValue(grain, field);
  return value === undefined ? undefined : JSON.stringify(value);
}

/** Weights for up to four sources, as whole numbers: .65 : .35, then .5 : .3 : .2, then .4 : .28 : .2 : .12. */
const WEIGHTS: readonly (readonly number[])[] = [[], [1], [13, 7], [5, 3, 2], [10, 7, 5, 3]];

/** Weights by rank (D-27). With more than four sources, each weighs 0.6 times the one before: 3^i * 5^(n-1-i). */
export function weightsOf(count: number): readonly number[] {
  return WEIGHTS[count] ?? Array.from({ length: count }, (_, i) => 3 ** i * 5 ** (count - 1 - i));
}

/**
 * Whole shares by weight, with the sum `total`. Shares are rounded down, then the largest remainders get one more each,
 * the first ones in a tie.
 */
export function shares(weights: readonly number[], total: number): number[] {
  const sum = weights.reduce((a, b) => a + b, 0);
  if (sum === 0) return weights.map(() => 0);
  const given = weights.map((weight) => Math.floor((weight * total) / sum));
  const remainders = weights.map((weight, i) => ({ i, remainder: (weight * total) % sum }));
  const left = total - given.reduce((a, b) => a + b, 0);
  for (const { i } of remainders.sort((a, b) => b.remainder - a.remainder || a.i - b.i).slice(0, left)) given[i]!++;
  return given;
}
