// `WITH dedup`: what makes one grain the repeat of another.
import { fieldValue } from '../output/fields.ts';
import type { CalGrain } from '../output/grain.ts';

/** Equal for grains with the same value of the field; undefined for one without it, which repeats nothing. */
export function repeatKey(grain: CalGrain, field: string): string | undefined {
  const value = fieldValue(grain, field);
  return value === undefined ? undefined : `${typeof value}:${String(value)}`;
}

/** The first grain of each value of a field, in their order; grains without it stay. */
export function withoutRepeats<T>(items: readonly T[], grainOf: (item: T) => CalGrain, field: string): T[] {
  const seen = new Set<string>();
  return items.filter((item) => {
    const key = repeatKey(grainOf(item), field);
    if (key === undefined) return true;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
