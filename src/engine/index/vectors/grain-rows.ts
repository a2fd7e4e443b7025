// The rows of one vector set, in heap: which rows belong to a grain, and which are dead.
//
// A grain's chunks are adjacent rows. Grains mostly arrive in the order of their ordinals; those are found by bisection
// in a list, and the others (embedded again after damage) through a map. Rows of removed grains are overwritten at once
// and stay empty until all rows are copied (vector set.ts).
import { assert } from '../../base/assert.ts';
import { evenLowerBound } from '../even-lower-bound.ts';
import { type Arena, Rows } from './arena.ts';

const NONE = -1;
const FIRST_ROOM = 16;
/** Approximate size of an entry in a Map of numbers. */
const MAP_ENTRY_BYTES = 48;

export class GrainRows {
  readonly rows: Rows;
  /** By row. */
  #ordinals = new Uint32Array(FIRST_ROOM);
  /** A bit a row. */
  #dead = new Uint32Array(1);
  /** First rows of grains, their ordinals ascending. */
  #ascending = new Uint32Array(FIRST_ROOM);
  #ascendingCount = 0;
  readonly #late = new Map<number, number>();
  readonly #ordinalAt = (place: number): number => this.#ordinals[this.#ascending[place]!]!;
  #last = -1;
  #deadRows = 0;
  #grains = 0;

  constructor(arena: Arena, dimensions: number) {
    this.rows = new Rows(arena, dimensions);
  }

  /** Rows, dead ones included. */
  get count(): number {
    return this.rows.count;
  }

  get live(): number {
    return this.rows.count - this.#deadRows;
  }

  get dead(): number {
    return this.#deadRows;
  }

  get grains(): number {
    return this.#grains;
  }

  /** Bytes beside those of the rows. */
  get bytes(): number {
    return (
      this.#ordinals.byteLength + this.#dead.byteLength + this.#ascending.byteLength + this.#late.size * MAP_ENTRY_BYTES
    );
  }

  ordinalOf(row: number): number {
    return this.#ordinals[row]!;
  }

  isDead(row: number): boolean {
    return (this.#dead[row >>> 5]! & (1 << (row & 31))) !== 0;
  }

  has(ordinal: number): boolean {
    return this.firstRow(ordinal) !== NONE;
  }

  /** First of the grain's rows, or -1. */
  firstRow(ordinal: number): number {
    if (ordinal > this.#last) return NONE;
    const late = this.#late.size === 0 ? undefined : this.#late.get(ordinal);
    return late ?? this.#rowAt(evenLowerBound(this.#ordinalAt, ordinal, this.#ascendingCount), ordinal);
  }

  /** First rows of those of `ordinals` (ascending) that exist. Faster than single look-ups. */
  *firstRowsOf(ordinals: Uint32Array): IterableIterator<number> {
    let place = 0;
    for (let i = 0; i < ordinals.length; i++) {
      const ordinal = ordinals[i]!;
      // Steps that double from the last place, then bisection between the last two.
      let step = 1;
      while (place + step < this.#ascendingCount && this.#ordinals[this.#ascending[place + step]!]! < ordinal)
        step *= 2;
      place = this.#placeOf(ordinal, place, Math.min(place + step, this.#ascendingCount));
      const row = this.#late.get(ordinal) ?? this.#rowAt(place, ordinal);
      if (row !== NONE) yield row;
    }
  }

  /** First index in the ascending list, from `low` to `high`, whose ordinal is not below `ordinal`. */
  #placeOf(ordinal: number, low: number, high: number): number {
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#ordinals[this.#ascending[middle]!]! < ordinal) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #rowAt(place: number, ordinal: number): number {
    if (place >= this.#ascendingCount) return NONE;
    const row = this.#ascending[place]!;
    return this.#ordinals[row] === ordinal && !this.isDead(row) ? row : NONE;
  }

  /** First row of the grain to which a live row belongs. */
  firstOf(row: number): number {
    const ordinal = this.#ordinals[row]!;
    let first = row;
    while (first > 0 && this.#ordinals[first - 1] === ordinal && !this.isDead(first - 1)) first -= 1;
    return first;
  }

  /** One past the last row of the grain that begins at `first`. */
  endOf(first: number): number {
    const ordinal = this.#ordinals[first]!;
    let end = first + 1;
    while (end < this.rows.count && this.#ordinals[end] === ordinal && !this.isDead(end)) end += 1;
    return end;
  }

  /**
   * Adds a row of zeros: the first of a new grain, or the next of the grain added last. Returns the place to fill with
   * halves, valid until the next row of any memory is added.
   */
  append(ordinal: number, isFirst: boolean): { halves: Uint16Array; at: number } {
    const row = this.rows.push();
    this.#makeRoom(row);
    this.#ordinals[row] = ordinal;
    if (isFirst) {
      this.#grains += 1;
      if (ordinal > this.#last) {
        this.#last = ordinal;
        if (this.#ascendingCount === this.#ascending.length) this.#ascending = grown(this.#ascending);
        this.#ascending[this.#ascendingCount++] = row;
      } else this.#late.set(ordinal, row);
    } else assert(row > 0 && this.#ordinals[row - 1] === ordinal && !this.isDead(row - 1), 'chunks are neighbours');
    return this.rows.halvesAt(row);
  }

  /** Adds a copy of the grain of `from` whose first row is `first`. */
  copy(from: GrainRows, first: number): void {
    const ordinal = from.ordinalOf(first);
    const end = from.endOf(first);
    for (let row = first; row < end; row++) {
      const place = this.append(ordinal, row === first);
      // Read after the row was added, which may move the rows of both.
      const source = from.rows.halvesAt(row);
      place.halves.set(source.halves.subarray(source.at, source.at + this.rows.dimensions), place.at);
    }
  }

  /** Removes a grain and overwrites its vectors. Returns its former rows, none when it did not exist. */
  remove(ordinal: number): { first: number; end: number } {
    const first = this.firstRow(ordinal);
    if (first === NONE) return { first: 0, end: 0 };
    const end = this.endOf(first);
    for (let row = first; row < end; row++) {
      this.rows.clear(row);
      this.#dead[row >>> 5]! |= 1 << (row & 31);
    }
    this.#deadRows += end - first;
    this.#grains -= 1;
    this.#late.delete(ordinal);
    return { first, end };
  }

  /** First rows of all grains, by ascending ordinal. Rows that change during the walk may be missing or dead. */
  *firstRows(): IterableIterator<number> {
    const late = [...this.#late].sort((a, b) => a[0] - b[0]);
    let at = 0;
    for (let i = 0; i < this.#ascendingCount; i++) {
      const row = this.#ascending[i]!;
      const ordinal = this.#ordinals[row]!;
      for (; at < late.length && late[at]![0] < ordinal; at++) yield late[at]![1];
      if (!this.isDead(row)) yield row;
    }
    for (; at < late.length; at++) yield late[at]![1];
  }

  drop(): void {
    this.rows.drop();
    this.#ordinals = new Uint32Array(0);
    this.#ascendingCount = 0;
    this.#late.clear();
    this.#deadRows = 0;
    this.#grains = 0;
  }

  #makeRoom(row: number): void {
    if (row >= this.#ordinals.length) this.#ordinals = grown(this.#ordinals);
    if (row >>> 5 >= this.#dead.length) this.#dead = grown(this.#dead);
  }
}

/** Half as much again. */
function grown(array: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(array.length + Math.max(FIRST_ROOM, array.length >>> 1));
  larger.set(array);
  return larger;
}
