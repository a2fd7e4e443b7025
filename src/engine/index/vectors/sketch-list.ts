// A list of the sketches of a vector set's rows. It returns the rows whose sketches differ least from a query's. A
// search first compares all sketches and counts differing bits (5 ns each), so nothing but the sketches has to be
// built. It then sorts the best of these rows by weighted bits, which order better: of the 100 vectors nearest to a
// question among 40,000 of sentences, the first 800 rows by bits contain 80, by weighted bits 92. Removing a row
// overwrites its sketch with zeros.
import { assert } from '../../base/assert.ts';
import { type Arena, BATCH_ROWS, PAGE_BYTES, type Rows } from './arena.ts';
import { readHalves } from './half-float.ts';
import { SKETCH_ROUND_BYTES } from './hamming.ts';
import type { Near } from './near.ts';
import { Sketcher } from './sketch.ts';
import { QUERY_HALVES, writeWeights } from './weighing.ts';

export class SketchList implements Near {
  readonly #arena: Arena;
  readonly #sketcher: Sketcher;
  /** Padding included. */
  readonly #bytes: number;
  readonly #perPage: number;
  readonly #pages: number[] = [];
  readonly #vector: Float32Array;
  readonly #rotated: Float32Array;
  readonly #sketch: Uint16Array;
  readonly #weights: Uint16Array;
  #count = 0;
  /** The last query, and its rows by weighted difference. A search may repeat the query to get more rows. */
  #asked: { readonly query: Float32Array; readonly rows: Uint32Array } | undefined;

  constructor(arena: Arena, dimensions: number) {
    this.#arena = arena;
    this.#sketcher = new Sketcher(dimensions);
    const { bits } = this.#sketcher;
    this.#bytes = SKETCH_ROUND_BYTES * Math.ceil(bits / 8 / SKETCH_ROUND_BYTES);
    this.#perPage = Math.floor(PAGE_BYTES / this.#bytes);
    this.#vector = new Float32Array(dimensions);
    this.#rotated = new Float32Array(bits);
    this.#sketch = new Uint16Array(this.#bytes / 2);
    this.#weights = new Uint16Array((QUERY_HALVES * this.#bytes) / 8);
  }

  get count(): number {
    return this.#count;
  }

  get stepRows(): number {
    return STEP_ROWS;
  }

  get candidatesPerHit(): number {
    return 4;
  }

  get settledPart(): number {
    return 0.5;
  }

  /** Always 0: removing a row overwrites its sketch. */
  get removed(): number {
    return 0;
  }

  /** Bytes outside the arena's pages. */
  get bytes(): number {
    return 0;
  }

  /** Every sketch is compared once. Candidates are weighed and filtered, and those that pass are compared. */
  costOf(candidates: number, share: number): number {
    return SKETCH_COST * this.#count + candidates * (LOOK_COST + SCATTERED_COST * share);
  }

  add(rows: Rows, from: number, to: number): void {
    assert(from >= this.#count, 'rows are added in their order');
    // Pages start as zeros. Rows between `#count` and `from` are dead and stay zero.
    while (this.#pages.length * this.#perPage < to) this.#pages.push(this.#arena.take());
    for (let row = from; row < to; row++) {
      const { halves, at } = rows.halvesAt(row);
      readHalves(halves, at, this.#vector);
      this.#draw(this.#vector);
      const place = this.#placeOf(row);
      place.halves.set(this.#sketch, place.at);
    }
    this.#count = to;
    this.#asked = undefined;
  }

  remove(row: number): void {
    const { halves, at } = this.#placeOf(row);
    halves.fill(0, at, at + this.#sketch.length);
    this.#asked = undefined;
  }

  search(query: Float32Array, count: number): Uint32Array {
    const wanted = Math.min(count, this.#count);
    const isAsked = this.#asked?.query === query && lastList === this;
    if (!isAsked) this.#compare(query);
    // A repeated search asks for twice as many rows. The rows weighed at first suffice for that.
    if (!isAsked || this.#asked!.rows.length < Math.min(weighedFor(wanted, WEIGHED_MIN), this.#count))
      this.#asked = { query, rows: this.#weighed(this.#nearest(Math.min(weighedFor(wanted, WEIGHED), this.#count))) };
    return this.#asked!.rows.subarray(0, wanted);
  }

  drop(): void {
    for (const page of this.#pages.splice(0)) this.#arena.give(page);
    this.#count = 0;
    this.#asked = undefined;
  }

  #compare(query: Float32Array): void {
    if (distances.length < this.#count) distances = new Uint16Array(this.#count + (this.#count >>> 1));
    if (histogram.length <= 8 * this.#bytes) histogram = new Uint32Array(8 * this.#bytes + 1);
    histogram.fill(0);
    this.#draw(query);
    let last: ReturnType<Arena['blockOf']> | undefined;
    for (let at = 0, page = 0; at < this.#count; at += this.#perPage, page++) {
      const block = this.#arena.blockOf(this.#pages[page]!);
      if (block !== last) block.setSketch(this.#sketch);
      last = block;
      const some = block.distances(this.#pages[page]!, Math.min(this.#perPage, this.#count - at), this.#bytes);
      for (let i = 0; i < some.length; i++) {
        const distance = some[i]!;
        distances[at + i] = distance;
        histogram[distance]! += 1;
      }
    }
    writeWeights(this.#rotated, this.#weights);
    lastList = this;
  }

  /** The `wanted` rows that differ in the fewest bits, ascending, so that their sketches are read in storage order. */
  #nearest(wanted: number): Uint32Array {
    // Counts rows by distance, up to the distance at which there are enough.
    let last = 0;
    let nearer = 0;
    for (; nearer + histogram[last]! < wanted; last++) nearer += histogram[last]!;
    nearest = roomFor(wanted, nearest);
    const rows = nearest.subarray(0, wanted);
    let count = 0;
    for (let row = 0, ofLast = wanted - nearer; count < wanted; row++) {
      const distance = distances[row]!;
      if (distance > last || (distance === last && ofLast-- <= 0)) continue;
      rows[count++] = row;
    }
    return rows;
  }

  /** The rows by weighted difference of their sketches from the query. */
  #weighed(rows: Uint32Array): Uint32Array {
    weightsOfRows = roomFor(rows.length, weightsOfRows);
    const weights = weightsOfRows.subarray(0, rows.length);
    const prepared = new Set<number>();
    for (let start = 0; start < rows.length; ) {
      const number = this.#arena.blockNumber(this.#pageOf(rows[start]!));
      const block = this.#arena.block(number);
      if (!prepared.has(number)) block.setSketch(this.#weights);
      prepared.add(number);
      let end = start;
      // Rows ascend, so many lie in the same page as the previous one.
      for (let pageEnd = 0, base = 0; end < rows.length && end - start < BATCH_ROWS; end++) {
        const row = rows[end]!;
        if (row >= pageEnd) {
          const page = this.#pageOf(row);
          if (this.#arena.blockNumber(page) !== number) break;
          pageEnd = row - (row % this.#perPage) + this.#perPage;
          base = 2 * block.pageAt(page) + this.#bytes * (this.#perPage - pageEnd);
        }
        block.setAddress(end - start, base + row * this.#bytes);
      }
      weights.set(block.weights(end - start, this.#bytes), start);
      start = end;
    }
    return inOrder(rows, weights);
  }

  /** Computes the sketch of a vector: a bit for each rotated component, set when that is positive. */
  #draw(vector: Float32Array): void {
    const { bits } = this.#sketcher;
    this.#sketcher.write(vector, this.#rotated, 0);
    for (let word = 0; word < bits / 16; word++) {
      let sixteen = 0;
      for (let bit = 0; bit < 16; bit++) if (this.#rotated[16 * word + bit]! > 0) sixteen |= 1 << bit;
      this.#sketch[word] = sixteen;
    }
  }

  #pageOf(row: number): number {
    return this.#pages[Math.floor(row / this.#perPage)]!;
  }

  #placeOf(row: number): { halves: Uint16Array; at: number } {
    const page = this.#pageOf(row);
    const block = this.#arena.blockOf(page);
    return { halves: block.halves, at: block.pageAt(page) + ((row % this.#perPage) * this.#bytes) / 2 };
  }
}

/** A counting sort: weights are small numbers. It is stable. */
function inOrder(rows: Uint32Array, weights: Uint32Array): Uint32Array {
  let [least, most] = [Number.POSITIVE_INFINITY, 0];
  for (let i = 0; i < weights.length; i++) {
    least = Math.min(least, weights[i]!);
    most = Math.max(most, weights[i]!);
  }
  if (rows.length === 0) return rows;
  const places = new Uint32Array(most - least + 2);
  for (let i = 0; i < weights.length; i++) places[weights[i]! - least + 1]! += 1;
  for (let at = 1; at < places.length; at++) places[at]! += places[at - 1]!;
  ordered = roomFor(rows.length, ordered);
  for (let i = 0; i < rows.length; i++) ordered[places[weights[i]! - least]!++] = rows[i]!;
  return ordered.subarray(0, rows.length);
}

function roomFor(count: number, array: Uint32Array): Uint32Array {
  return array.length >= count ? array : new Uint32Array(Math.max(count, 2 * array.length));
}

/** Rows that are weighed for each wanted row, and the number that must have been weighed when a query is repeated. */
const WEIGHED = 8;
const WEIGHED_MIN = 4;
/**
 * More weighed rows cost more than they save. Above this, only twice as many rows as wanted are weighed. A search with
 * a filter may want thousands.
 */
const WEIGHED_MAX = 12_288;

function weighedFor(wanted: number, times: number): number {
  return Math.max(2 * wanted, Math.min(times * wanted, WEIGHED_MAX));
}
/** Sketching this many rows takes about a third of a millisecond. */
const STEP_ROWS = 16;
/** The cost of one sketch, and of one candidate with its weighing, in sequentially compared rows. */
const SKETCH_COST = 0.06;
const LOOK_COST = 3;
/** The cost of a compared candidate, whose row is not adjacent to others. */
const SCATTERED_COST = 3;

// Buffers for the last query, shared by all lists and as large as the largest one needs. Arrays of this size lie
// outside V8's heap. Allocating a few dozen a second would make V8 collect its whole heap several times a second.
/** The distance of each row, and the number of rows at each distance. */
let distances = new Uint16Array(0);
let histogram = new Uint32Array(0);
/** The rows that are weighed, their weights, and these rows ordered by weight. */
let nearest: Uint32Array = new Uint32Array(0);
let weightsOfRows: Uint32Array = new Uint32Array(0);
let ordered: Uint32Array = new Uint32Array(0);
let lastList: SketchList | undefined;
