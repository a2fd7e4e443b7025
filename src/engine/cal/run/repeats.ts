// `WITH dedup`: decides which grains repeat another one.

import { tripleForm } from '../../grain/api/text.ts';
import { type FieldValue, fieldValue } from '../output/fields.ts';
import type { CalGrain } from '../output/grain.ts';

/** The text of a field's value in the form in which conditions compare values. */
export function groupKey(field: string, value: FieldValue): string {
  const text = String(value);
  return TRIPLE.has(field) ? tripleForm(text) : text;
}

const TRIPLE: ReadonlySet<string> = new Set(['subject', 'relation', 'object']);

/** A key of the field's value; undefined for a grain without the field, which repeats nothing. */
export function repeatKey(grain: CalGrain, field: string): string | undefined {
  const value = fieldValue(grain, field);
  return value === undefined ? undefined : `${typeof value}:${groupKey(field, value)}`;
}

/** Keeps the first grain for each value of a field, in order, and all grains without the field. */
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
