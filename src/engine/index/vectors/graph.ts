// A graph (HNSW, Malkov and Yashunin 2016) over the sketches of a vector set's rows, in usearch. For a vector it
// returns the rows that may be near, nearest sketches first.
//
// It holds sketches and not the vectors, because usearch returns no vectors, and exact cosines (of candidates, of
// filtered grains, for ranking) need the vectors in heap. Both together would take 2.3 KB for a vector of 512
// dimensions; usearch with half floats alone takes 1.25 KB. With sketches, a row and its place in the graph take 1.2 KB
// together, adding a row is three times as fast, and every candidate is ranked by its exact cosine.
import { createRequire } from 'node:module';
import type { Index, MetricKind, ScalarKind } from 'usearch';
import { assert } from '../../base/assert.ts';
import { VECTOR_GRAPH_COST } from '../../base/limits.ts';
import type { Rows } from './arena.ts';
import { readHalves } from './half-float.ts';
import type { Near } from './near.ts';
import { Sketcher } from './sketch.ts';

const CONNECTIVITY = 5;
const EXPANSION_ADD = 128;
const EXPANSION_SEARCH = 64;
/** With more, every call would start usearch's own threads. */
const THREADS = 1;
/**
 * Heap of usearch in addition to the sketch: a row's edges on all levels, and keys and pointers for each reserved
 * place.
 */
const EDGE_BYTES = 110;
const PLACE_BYTES = 40;
const PLACES_FIRST = 64;
/** Adding this many rows takes about a third of a millisecond. */
const STEP_ROWS = 4;

type Usearch = { readonly Index: typeof Index };

let usearch: Usearch | undefined | 'not tried' = 'not tried';

/** Loaded on demand; undefined when its binary does not load. Everything is then scanned. */
function loadUsearch(): Usearch | undefined {
  if (usearch !== 'not tried') return usearch;
  try {
    usearch = createRequire(import.meta.url)('usearch') as Usearch; // Its own types, which require does not give.
  } catch {
    usearch = undefined;
  }
  return usearch;
}

export class Graph implements Near {
  readonly #index: Index;
  readonly #sketcher: Sketcher;
  readonly #vector: Float32Array;
  #keys = new BigUint64Array(0);
  #sketches = new Float32Array(0);
  #added = 0;
  #removed = 0;

  private constructor(index: Index, sketcher: Sketcher) {
    this.#index = index;
    this.#sketcher = sketcher;
    this.#vector = new Float32Array(sketcher.dimensions);
  }

  /** Undefined where usearch has no binary for this machine. */
  static make(dimensions: number): Graph | undefined {
    const loaded = loadUsearch();
    if (loaded === undefined) return undefined;
    const sketcher = new Sketcher(dimensions);
    const index = new loaded.Index({
      dimensions: sketcher.bits,
      metric: 'hamming' as MetricKind, // A string enum, which erasable syntax cannot name without its import.
      quantization: 'b1' as ScalarKind, // The same.
      connectivity: CONNECTIVITY,
      expansion_add: EXPANSION_ADD,
      expansion_search: EXPANSION_SEARCH,
      multi: false,
    });
    return new Graph(index, sketcher);
  }

  /** Number of rows that a search can return. */
  get count(): number {
    return this.#added - this.#removed;
  }

  get stepRows(): number {
    return STEP_ROWS;
  }

  get candidatesPerHit(): number {
    return 8;
  }

  /** Lower than for a list: a graph misses some rows, so its late candidates are less reliable. */
  get settledPart(): number {
    return 0.25;
  }

  costOf(candidates: number): number {
    return candidates * VECTOR_GRAPH_COST;
  }

  /** Removed rows whose sketches are still held: usearch only marks them. */
  get removed(): number {
    return this.#removed;
  }

  /** An estimate, since usearch does not report it. */
  get bytes(): number {
    const places = 2 ** Math.ceil(Math.log2(Math.max(PLACES_FIRST, this.#added)));
    return this.#added * (this.#sketcher.bits / 8 + EDGE_BYTES) + places * PLACE_BYTES;
  }

  /** Adds the rows from `from` to `to` - 1, none of them twice. About 0.1 ms a row. */
  add(rows: Rows, from: number, to: number): void {
    const { bits } = this.#sketcher;
    const count = to - from;
    // Reused between calls: arrays of this size lie outside V8's heap, which frees them late.
    if (this.#keys.length < count) this.#keys = new BigUint64Array(count);
    if (this.#sketches.length < count * bits) this.#sketches = new Float32Array(count * bits);
    const keys = this.#keys.subarray(0, count);
    const sketches = this.#sketches.subarray(0, count * bits);
    for (let row = from; row < to; row++) {
      keys[row - from] = BigInt(row);
      const { halves, at } = rows.halvesAt(row);
      readHalves(halves, at, this.#vector);
      this.#sketcher.write(this.#vector, sketches, (row - from) * bits);
    }
    this.#index.add(keys, sketches, THREADS);
    this.#added += to - from;
  }

  /** Excludes the row from results. Its sketch stays in heap until the graph is dropped. */
  remove(row: number): void {
    if (this.#index.remove(BigInt(row)) !== 0) this.#removed += 1;
  }

  /** At most `count` rows whose sketches are near that of `query`, nearest first. */
  search(query: Float32Array, count: number): Uint32Array {
    assert(count > 0, 'a search asks for something');
    if (this.#sketches.length === 0) this.#sketches = new Float32Array(this.#sketcher.bits);
    const sketch = this.#sketches.subarray(0, this.#sketcher.bits);
    this.#sketcher.write(query, sketch, 0);
    const { keys } = this.#index.search(sketch, count, THREADS);
    const words = new Uint32Array(keys.buffer, keys.byteOffset, 2 * keys.length);
    // Low halves of little-endian words: rows are below 2^32.
    return Uint32Array.from({ length: keys.length }, (_, at) => words[2 * at]!);
  }

  /** usearch's own memory is freed with the object. */
  drop(): void {}
}
