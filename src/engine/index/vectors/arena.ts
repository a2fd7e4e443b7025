// Rows of half floats in WebAssembly memories, where the kernel reads them.
//
// A memory (here: a *block* of at most BLOCK_BYTES) grows on demand and is freed as a whole once it is empty, since
// WebAssembly memories do not shrink. It consists of pages, each of which is free or belongs to one owner. A freed page
// is overwritten with zeros at once, so that erased vectors remain nowhere.
//
//   block := query (32 KiB)   addresses (16 KiB)   scores (16 KiB)   page*
import { assert } from '../../base/assert.ts';
import { VECTOR_DIMENSIONS_MAX } from '../../base/limits.ts';
import { wasm } from '../../base/wasm.ts';
import { type Hamming, makeHamming } from './hamming.ts';
import { KERNEL_DIMENSIONS, type Kernel, makeKernel, QUERY_SCALE } from './kernel.ts';
import { makeWeighing, type Weighing } from './weighing.ts';

/** A page holds whole rows: 16 of 512 dimensions. Small memories waste half a page on average. */
export const PAGE_BYTES = 16_384;
const QUERY_BYTES = 4 * VECTOR_DIMENSIONS_MAX;
/** Rows, or sketches, in one call of a kernel. */
export const BATCH_ROWS = 4_096;
const ADDRESSES_AT = QUERY_BYTES;
const SCORES_AT = ADDRESSES_AT + 4 * BATCH_ROWS;
const PAGES_AT = SCORES_AT + 4 * BATCH_ROWS;
/** Where the addresses of sketches, and the results of `distances`, `near` and `weights`, begin in `words`. */
export const ADDRESSES_WORD = ADDRESSES_AT / 4;
export const RESULTS_WORD = SCORES_AT / 4;
const BLOCK_BYTES = 1_073_741_824;
const WASM_PAGE_BYTES = 65_536;
const GROW_WASM_PAGES = 16;
const PAGES_PER_BLOCK = (BLOCK_BYTES - PAGES_AT) / PAGE_BYTES;

assert(2 * VECTOR_DIMENSIONS_MAX <= PAGE_BYTES, 'a page holds a row');
assert(PAGES_AT % WASM_PAGE_BYTES === 0, 'pages begin at a page');

/** Bytes of a row of `dimensions`, padding included. */
export function rowBytesOf(dimensions: number): number {
  return 2 * KERNEL_DIMENSIONS * Math.ceil(dimensions / KERNEL_DIMENSIONS);
}

export function rowsPerPage(dimensions: number): number {
  return Math.floor(PAGE_BYTES / rowBytesOf(dimensions));
}

/** One WebAssembly memory. */
class Block {
  readonly #memory = new wasm.Memory({
    initial: PAGES_AT / WASM_PAGE_BYTES,
    maximum: BLOCK_BYTES / WASM_PAGE_BYTES,
  });
  readonly #kernel: Kernel = makeKernel(this.#memory);
  /** By bytes of a sketch. */
  readonly #hamming = new Map<number, Hamming>();
  #weighing: Weighing | undefined;
  readonly #free: number[] = [];
  #made = 0;
  used = 0;
  // Views of the memory, which must be created again when it grows.
  halves = new Uint16Array(this.#memory.buffer);
  words = new Uint32Array(this.#memory.buffer);
  #floats = new Float32Array(this.#memory.buffer);

  get isFull(): boolean {
    return this.#free.length === 0 && this.#made === PAGES_PER_BLOCK;
  }

  take(): number {
    this.used += 1;
    const free = this.#free.pop();
    if (free !== undefined) return free;
    const page = this.#made++;
    const end = PAGES_AT + this.#made * PAGE_BYTES;
    if (end > this.halves.byteLength) {
      const room = (BLOCK_BYTES - this.halves.byteLength) / WASM_PAGE_BYTES;
      this.#memory.grow(Math.min(GROW_WASM_PAGES, room));
      this.halves = new Uint16Array(this.#memory.buffer);
      this.#floats = new Float32Array(this.#memory.buffer);
      this.words = new Uint32Array(this.#memory.buffer);
    }
    return page;
  }

  give(page: number): void {
    const start = (PAGES_AT + page * PAGE_BYTES) / 2;
    this.halves.fill(0, start, start + PAGE_BYTES / 2);
    this.#free.push(page);
    this.used -= 1;
  }

  setQuery(query: Float32Array, rowBytes: number): void {
    const floats = this.#floats;
    const padded = rowBytes / 2;
    for (let i = 0; i < query.length; i++) floats[i] = query[i]! * QUERY_SCALE;
    floats.fill(0, query.length, padded);
  }

  setAddress(at: number, address: number): void {
    this.words[ADDRESSES_WORD + at] = address;
  }

  /** Runs the kernel over `count` addresses; the scores are valid until the next run. */
  run(count: number, rowBytes: number): Float32Array {
    this.#kernel(ADDRESSES_AT, count, rowBytes, 0, SCORES_AT);
    return this.#floats.subarray(SCORES_AT / 4, SCORES_AT / 4 + count);
  }

  /** Start of a page in `halves`. */
  pageAt(page: number): number {
    return (PAGES_AT + (page % PAGES_PER_BLOCK) * PAGE_BYTES) / 2;
  }

  /** Sets the query for `distances`, `near` or `weights`. */
  setSketch(sketch: Uint16Array): void {
    this.halves.set(sketch, 0);
  }

  /**
   * Counts the bits in which every `step`-th of the first `count` sketches of a page differs from the query, from the
   * first one on. Returns how many it compared; their distances are in `words` until the next run.
   */
  distances(page: number, count: number, sketchBytes: number, step: number): number {
    const some = Math.ceil(count / step);
    this.#hammingFor(sketchBytes).all(2 * this.pageAt(page), some, step * sketchBytes, 0, SCORES_AT);
    return some;
  }

  /**
   * Finds those of the first `count` sketches of a page that differ from the query in at most `most` bits. Returns how
   * many; of each `words` has its distance << INDEX_BITS | its index in the page, ascending by index, until the next run.
   */
  near(page: number, count: number, sketchBytes: number, most: number): number {
    const end = this.#hammingFor(sketchBytes).near(2 * this.pageAt(page), count, sketchBytes, 0, SCORES_AT, most);
    return end / 4 - RESULTS_WORD;
  }

  #hammingFor(sketchBytes: number): Hamming {
    let hamming = this.#hamming.get(sketchBytes);
    if (hamming === undefined) {
      hamming = makeHamming(this.#memory, sketchBytes);
      this.#hamming.set(sketchBytes, hamming);
    }
    return hamming;
  }

  /**
   * Computes the weighted difference of the sketches at `count` addresses from the query; it is in `words` until the next
   * run.
   */
  weigh(count: number, sketchBytes: number): void {
    this.#weighing ??= makeWeighing(this.#memory);
    this.#weighing(ADDRESSES_AT, count, sketchBytes, 0, SCORES_AT);
  }
}

/** The pages of a shard. */
export class Arena {
  /** By number. A freed block leaves a gap, which the next one fills. */
  readonly #blocks: (Block | undefined)[] = [];
  #pages = 0;

  /** Bytes of the pages that have an owner. */
  get bytes(): number {
    return this.#pages * PAGE_BYTES;
  }

  /** A page of zeros. */
  take(): number {
    let at = this.#blocks.findIndex((block) => block !== undefined && !block.isFull);
    if (at < 0) {
      at = this.#blocks.indexOf(undefined);
      if (at < 0) at = this.#blocks.length;
      this.#blocks[at] = new Block();
    }
    this.#pages += 1;
    return at * PAGES_PER_BLOCK + this.#blocks[at]!.take();
  }

  give(page: number): void {
    const at = Math.floor(page / PAGES_PER_BLOCK);
    const block = this.#blocks[at];
    assert(block !== undefined, 'a page belongs to a block');
    block.give(page % PAGES_PER_BLOCK);
    this.#pages -= 1;
    if (block.used === 0) this.#blocks[at] = undefined;
  }

  block(number: number): Block {
    const block = this.#blocks[number];
    assert(block !== undefined, 'a page belongs to a block');
    return block;
  }

  blockOf(page: number): Block {
    return this.block(this.blockNumber(page));
  }

  blockNumber(page: number): number {
    return Math.floor(page / PAGES_PER_BLOCK);
  }
}

/** Rows of one width, numbered from 0. Their number only grows; their pages come from an arena. */
export class Rows {
  readonly dimensions: number;
  readonly #arena: Arena;
  readonly #rowBytes: number;
  readonly #perPage: number;
  readonly #pages: number[] = [];
  count = 0;

  constructor(arena: Arena, dimensions: number) {
    assert(dimensions >= 1 && dimensions <= VECTOR_DIMENSIONS_MAX, 'dimensions are within the limit');
    this.#arena = arena;
    this.dimensions = dimensions;
    this.#rowBytes = rowBytesOf(dimensions);
    this.#perPage = rowsPerPage(dimensions);
  }

  /** Adds a row of zeros and returns its number. Fill it at `halvesAt`. */
  push(): number {
    const row = this.count++;
    if (row === this.#pages.length * this.#perPage) this.#pages.push(this.#arena.take());
    return row;
  }

  /** The place of a row's halves; valid until the next `push` to any rows of the arena. */
  halvesAt(row: number): { halves: Uint16Array; at: number } {
    assert(row < this.count, 'a row is there');
    const page = this.#pages[Math.floor(row / this.#perPage)]!;
    return {
      halves: this.#arena.block(Math.floor(page / PAGES_PER_BLOCK)).halves,
      at: this.#address(page, row) / 2,
    };
  }

  /** A copy of a row's halves, without padding. */
  read(row: number): Uint16Array {
    const { halves, at } = this.halvesAt(row);
    return halves.slice(at, at + this.dimensions);
  }

  /** Overwrites a row with zeros. */
  clear(row: number): void {
    const { halves, at } = this.halvesAt(row);
    halves.fill(0, at, at + this.dimensions);
  }

  /**
   * Inner products of `query` (of `dimensions`) with the first `count` of `rows`, written to `scores` at the same
   * indexes. Group neighbouring rows: those of one block are computed in one call.
   */
  score(query: Float32Array, rows: Uint32Array, count: number, scores: Float32Array): void {
    assert(query.length === this.dimensions, 'a query has the dimensions of the rows');
    const prepared = new Set<number>();
    let start = 0;
    while (start < count) {
      const number = this.#blockOf(rows[start]!);
      const block = this.#arena.block(number);
      if (!prepared.has(number)) {
        block.setQuery(query, this.#rowBytes);
        prepared.add(number);
      }
      let end = start;
      while (end < count && end - start < BATCH_ROWS) {
        const row = rows[end]!;
        const page = this.#pages[Math.floor(row / this.#perPage)]!;
        if (Math.floor(page / PAGES_PER_BLOCK) !== number) break;
        block.setAddress(end - start, this.#address(page, row));
        end += 1;
      }
      scores.set(block.run(end - start, this.#rowBytes), start);
      start = end;
    }
  }

  /** Returns every page, overwritten. */
  drop(): void {
    for (const page of this.#pages.splice(0)) this.#arena.give(page);
    this.count = 0;
  }

  #blockOf(row: number): number {
    return Math.floor(this.#pages[Math.floor(row / this.#perPage)]! / PAGES_PER_BLOCK);
  }

  #address(page: number, row: number): number {
    return PAGES_AT + (page % PAGES_PER_BLOCK) * PAGE_BYTES + (row % this.#perPage) * this.#rowBytes;
  }
}
