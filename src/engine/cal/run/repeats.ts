// `WITH dedup`: what makes one grain the repeat of another.

import { tripleForm } from '../../grain/api/text.ts';
import { type FieldValue, fieldValue } from '../output/fields.ts';
import type { CalGrain } from '../output/grain.ts';

/** The text by which values of a field are told apart: as conditions compare them. */
export function groupKey(field: string, value: FieldValue): string {
  const text = String(value);
  return TRIPLE.has(field) ? tripleForm(text) : text;
}

const TRIPLE: ReadonlySet<string> = new Set(['subject', 'relation', 'object']);

/** Equal for grains with the same value of the field; undefined for one without it, which repeats nothing. */
export function repeatKey(grain: CalGrain, field: string): string | undefined {
  const value = fieldValue(grain, field);
  return value === undefined ? undefined : `${typeof value}:${groupKey(field, value)}`;
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
