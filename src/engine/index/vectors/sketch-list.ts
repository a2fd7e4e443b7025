// A list of the sketches of a vector set's rows. It returns the rows whose sketches differ least from a query's. A
// search first counts the bits in which all sketches differ (3 ns each), so nothing but the sketches has to be built. It
// compares their first half alone, which lies in pages of its own, because the processor waits for memory most of the
// time. It then sorts the best of these rows by weighted bits of the whole sketches, which order better: of the 100
// vectors nearest to the mean of two sentences' among 33,000, the first 800 rows by weighted bits of all contain 99.4, of
// the 9,600 nearest by half their bits 99.4, and of the 4,800 nearest (6 for each of the 800) 98.6. Removing a row
// overwrites its sketch with zeros.
import { assert } from '../../base/assert.ts';
import { ADDRESSES_WORD, type Arena, BATCH_ROWS, PAGE_BYTES, RESULTS_WORD, type Rows } from './arena.ts';
import { readHalves } from './half-float.ts';
import { INDEX_BITS, SKETCH_ROUND_BYTES } from './hamming.ts';
import type { Near } from './near.ts';
import { Sketcher } from './sketch.ts';
import { QUERY_HALVES, writeWeights } from './weighing.ts';

export class SketchList implements Near {
  readonly #arena: Arena;
  readonly #sketcher: Sketcher;
  /** Whole sketches. */
  readonly #whole: Plane;
  /** The bits of each sketch that are compared first; the whole ones if they are short. */
  readonly #first: Plane;
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
    this.#whole = new Plane(arena, bits);
    this.#first = bits < FIRST_BITS_MIN * 2 ? this.#whole : new Plane(arena, bits / 2);
    this.#vector = new Float32Array(dimensions);
    this.#rotated = new Float32Array(bits);
    this.#sketch = new Uint16Array(this.#whole.bytes / 2);
    this.#weights = new Uint16Array((QUERY_HALVES * this.#whole.bytes) / 8);
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
    for (const plane of this.#planes) plane.reserve(to);
    for (let row = from; row < to; row++) {
      const { halves, at } = rows.halvesAt(row);
      readHalves(halves, at, this.#vector);
      this.#draw(this.#vector);
      for (const plane of this.#planes) plane.set(row, this.#sketch);
    }
    this.#count = to;
    this.#asked = undefined;
  }

  remove(row: number): void {
    for (const plane of this.#planes) plane.clear(row);
    this.#asked = undefined;
  }

  search(query: Float32Array, count: number): Uint32Array {
    const wanted = Math.min(count, this.#count);
    const isAsked = this.#asked?.query === query && lastList === this;
    // A repeated search asks for twice as many rows. The rows weighed at first suffice for that.
    if (!isAsked || this.#asked!.rows.length < Math.min(weighedFor(wanted, WEIGHED_MIN), this.#count)) {
      this.#prepare(query);
      this.#asked = { query, rows: this.#weighed(this.#nearest(Math.min(weighedFor(wanted, WEIGHED), this.#count))) };
    }
    return this.#asked!.rows.subarray(0, wanted);
  }

  drop(): void {
    for (const plane of this.#planes) plane.drop();
    this.#count = 0;
    this.#asked = undefined;
  }

  get #planes(): readonly Plane[] {
    return this.#first === this.#whole ? [this.#whole] : [this.#first, this.#whole];
  }

  #prepare(query: Float32Array): void {
    this.#draw(query);
    writeWeights(this.#rotated, this.#weights);
    lastList = this;
  }

  /** The `wanted` rows that differ in the fewest bits, ascending, so that their sketches are read in storage order. */
  #nearest(wanted: number): Uint32Array {
    for (let most = this.#distanceOf(wanted); ; most += RAISED_BITS) {
      const found = this.#within(most);
      if (found >= wanted) return this.#least(found, wanted);
    }
  }

  /** The distance within which at least `wanted` rows probably lie, from a sample of the rows. */
  #distanceOf(wanted: number): number {
    const bits = 8 * this.#first.bytes;
    if (histogram.length <= bits) histogram = new Uint32Array(bits + 1);
    histogram.fill(0);
    this.#eachPage((block, page, count) => {
      const end = RESULTS_WORD + block.distances(page, count, this.#first.bytes, SAMPLED_OF);
      const { words } = block;
      for (let at = RESULTS_WORD; at < end; at++) histogram[words[at]!]! += 1;
    });
    // Twice the deviation of such a count is added, so that few searches have to look again.
    const sampled = wanted / SAMPLED_OF;
    const least = sampled + 2 * Math.sqrt(sampled) + 1;
    let distance = 0;
    for (let nearer = histogram[0]!; nearer < least && distance < bits; nearer += histogram[distance]!) distance += 1;
    return distance;
  }

  /**
   * Puts the rows that differ in at most `most` bits into `nearest`, with their distances, and counts these in
   * `histogram`. Returns their number.
   */
  #within(most: number): number {
    let found = 0;
    let first = 0;
    histogram.fill(0);
    this.#eachPage((block, page, count) => {
      const near = block.near(page, count, this.#first.bytes, most);
      if (nearest.length < found + near) {
        nearest = grown(nearest, found + near);
        distances = grown(distances, found + near);
      }
      const { words } = block;
      for (let at = RESULTS_WORD; at < RESULTS_WORD + near; at++) {
        const distance = words[at]! >>> INDEX_BITS;
        histogram[distance]! += 1;
        nearest[found] = first + (words[at]! & INDEX_MASK);
        distances[found++] = distance;
      }
      first += this.#first.perPage;
    });
    return found;
  }

  /** The `wanted` rows of the first `found` in `nearest` that differ in the fewest bits, of equal ones the first. */
  #least(found: number, wanted: number): Uint32Array {
    if (found === wanted) return nearest.subarray(0, wanted);
    let last = 0;
    let nearer = 0;
    for (; nearer + histogram[last]! < wanted; last++) nearer += histogram[last]!;
    let count = 0;
    for (let i = 0, ofLast = wanted - nearer; count < wanted; i++) {
      const distance = distances[i]!;
      if (distance > last || (distance === last && ofLast-- <= 0)) continue;
      nearest[count++] = nearest[i]!;
    }
    return nearest.subarray(0, wanted);
  }

  /** Passes every page with the number of its sketches, in order. The block has the query's sketch. */
  #eachPage(visit: (block: ReturnType<Arena['blockOf']>, page: number, count: number) => void): void {
    const { pages, perPage } = this.#first;
    const sketch = this.#sketch.subarray(0, this.#first.bytes / 2);
    let last: ReturnType<Arena['blockOf']> | undefined;
    for (let at = 0, number = 0; at < this.#count; at += perPage, number++) {
      const page = pages[number]!;
      const block = this.#arena.blockOf(page);
      if (block !== last) block.setSketch(sketch);
      last = block;
      visit(block, page, Math.min(perPage, this.#count - at));
    }
  }

  /** The rows by weighted difference of their sketches from the query. */
  #weighed(rows: Uint32Array): Uint32Array {
    weightsOfRows = roomFor(rows.length, weightsOfRows);
    const weights = weightsOfRows.subarray(0, rows.length);
    const { bytes, perPage } = this.#whole;
    const prepared = new Set<number>();
    for (let start = 0; start < rows.length; ) {
      const number = this.#arena.blockNumber(this.#whole.pageOf(rows[start]!));
      const block = this.#arena.block(number);
      if (!prepared.has(number)) block.setSketch(this.#weights);
      prepared.add(number);
      let end = start;
      const { words } = block;
      const most = Math.min(rows.length, start + BATCH_ROWS);
      // Rows ascend, so many lie in the same page as the previous one.
      for (let pageEnd = 0, base = 0; end < most; end++) {
        const row = rows[end]!;
        if (row >= pageEnd) {
          const page = this.#whole.pageOf(row);
          if (this.#arena.blockNumber(page) !== number) break;
          pageEnd = row - (row % perPage) + perPage;
          base = 2 * block.pageAt(page) + bytes * (perPage - pageEnd);
        }
        words[ADDRESSES_WORD + end - start] = base + row * bytes;
      }
      block.weigh(end - start, bytes);
      weights.set(words.subarray(RESULTS_WORD, RESULTS_WORD + end - start), start);
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
}

/** The first bits of each row's sketch, one row behind the other in pages of the arena. */
class Plane {
  /** Of one sketch, padding included. */
  readonly bytes: number;
  readonly perPage: number;
  readonly pages: number[] = [];
  readonly #arena: Arena;

  constructor(arena: Arena, bits: number) {
    this.#arena = arena;
    this.bytes = SKETCH_ROUND_BYTES * Math.ceil(bits / 8 / SKETCH_ROUND_BYTES);
    this.perPage = Math.floor(PAGE_BYTES / this.bytes);
  }

  /** Makes room for the rows below `count`. */
  reserve(count: number): void {
    while (this.pages.length * this.perPage < count) this.pages.push(this.#arena.take());
  }

  set(row: number, sketch: Uint16Array): void {
    const { halves, at } = this.#placeOf(row);
    for (let i = 0; i < this.bytes / 2; i++) halves[at + i] = sketch[i]!;
  }

  clear(row: number): void {
    const { halves, at } = this.#placeOf(row);
    halves.fill(0, at, at + this.bytes / 2);
  }

  drop(): void {
    for (const page of this.pages.splice(0)) this.#arena.give(page);
  }

  pageOf(row: number): number {
    return this.pages[Math.floor(row / this.perPage)]!;
  }

  #placeOf(row: number): { halves: Uint16Array; at: number } {
    const page = this.pageOf(row);
    const block = this.#arena.blockOf(page);
    return { halves: block.halves, at: block.pageAt(page) + ((row % this.perPage) * this.bytes) / 2 };
  }
}

/** A counting sort: weights are small numbers. It is stable. */
function inOrder(rows: Uint32Array, weights: Uint32Array): Uint32Array {
  if (rows.length === 0) return rows;
  let least = weights[0]!;
  let most = least;
  for (let i = 1; i < weights.length; i++) {
    const weight = weights[i]!;
    if (weight < least) least = weight;
    else if (weight > most) most = weight;
  }
  const places = new Uint32Array(most - least + 2);
  for (let i = 0; i < weights.length; i++) places[weights[i]! - least + 1]! += 1;
  for (let at = 1; at < places.length; at++) places[at]! += places[at - 1]!;
  ordered = roomFor(rows.length, ordered);
  for (let i = 0; i < rows.length; i++) ordered[places[weights[i]! - least]!++] = rows[i]!;
  return ordered.subarray(0, rows.length);
}

function grown(array: Uint32Array, count: number): Uint32Array {
  const longer = new Uint32Array(Math.max(count, 2 * array.length));
  longer.set(array);
  return longer;
}

function roomFor(count: number, array: Uint32Array): Uint32Array {
  return array.length >= count ? array : new Uint32Array(Math.max(count, 2 * array.length));
}

/** Sketches of at least twice as many bits are compared by their first half. */
const FIRST_BITS_MIN = 256;
/** Rows that are weighed for each wanted row, and the number that must have been weighed when a query is repeated. */
const WEIGHED = 12;
const WEIGHED_MIN = 6;
/**
 * More weighed rows cost more than they save. Above this, only twice as many rows as wanted are weighed. A search with
 * a filter may want thousands.
 */
const WEIGHED_MAX = 12_288;

function weighedFor(wanted: number, times: number): number {
  return Math.max(2 * wanted, Math.min(times * wanted, WEIGHED_MAX));
}
/** One row of so many is compared to estimate a distance; by so many bits it is raised if too few rows lie within it. */
const SAMPLED_OF = 64;
const RAISED_BITS = 4;
const INDEX_MASK = 2 ** INDEX_BITS - 1;
/** Sketching this many rows takes about a third of a millisecond. */
const STEP_ROWS = 16;
/** The cost of one sketch, and of one candidate with its weighing, in sequentially compared rows. */
const SKETCH_COST = 0.06;
const LOOK_COST = 3;
/** The cost of a compared candidate, whose row is not adjacent to others. */
const SCATTERED_COST = 3;

// Buffers for the last query, shared by all lists and as large as the largest one needs. Arrays of this size lie
// outside V8's heap. Allocating a few dozen a second would make V8 collect its whole heap several times a second.
/** The number of rows at each distance. */
let histogram = new Uint32Array(0);
/** The rows that are weighed, their distances, their weights, and these rows ordered by weight. */
let nearest: Uint32Array = new Uint32Array(0);
let distances: Uint32Array = new Uint32Array(0);
let weightsOfRows: Uint32Array = new Uint32Array(0);
let ordered: Uint32Array = new Uint32Array(0);
let lastList: SketchList | undefined;
