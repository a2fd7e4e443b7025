// Numbers of a tail's docs: one column a field, created when the first doc has that field.
import { type IndexedGrain, NUMBERS, type NumberField } from '../parts/part.ts';

export const NUMBER_FIELDS = Object.keys(NUMBERS) as readonly NumberField[];

export class NumbersTail {
  readonly #columns = new Map<NumberField, Float64Array>();

  /** Adds the numbers of `doc`. `capacity`: docs before the next growth. */
  add(doc: number, numbers: IndexedGrain['numbers'], capacity: number): void {
    // A grain has one or two of the many numbers.
    for (const name in numbers) {
      const field = name as NumberField; // the keys of `numbers`
      const value = numbers[field];
      if (value === undefined || Number.isNaN(value)) continue;
      this.#column(field, capacity)[doc] = value;
    }
  }

  /** The column, NaN for a doc without a value, at least `capacity` long; undefined when no doc has one. */
  column(field: NumberField, capacity: number): Float64Array | undefined {
    return this.#columns.has(field) ? this.#column(field, capacity) : undefined;
  }

  #column(field: NumberField, capacity: number): Float64Array {
    const known = this.#columns.get(field);
    if (known !== undefined && known.length >= capacity) return known;
    const made = new Float64Array(capacity).fill(Number.NaN);
    if (known !== undefined) made.set(known);
    this.#columns.set(field, made);
    return made;
  }
}
