// Sorted tables of fixed-width entries in a section: look-up, iteration, and sorting for the writer. Entries are
// compared by their first `keyBytes` bytes. Keys are nearly uniform (hashes) or ascending numbers, so interpolation
// finds one in a few probes that lie close together, mostly in one block.
import { assert } from '../../base/assert.ts';
import { readUint } from './bytes.ts';
import type { SectionSource, Sliced } from './section.ts';

export interface SortedTable {
  readonly section: SectionSource;
  /** Position of the first entry in the section. */
  readonly start: number;
  readonly count: number;
  /** Bytes of an entry, and of the key at its beginning. */
  readonly width: number;
  readonly keyBytes: number;
}

/** Probes by interpolation before plain bisection takes over, for keys that are not uniform. */
const INTERPOLATIONS_MAX = 8;

/** Index of the first entry whose key is >= `key`; `count` when there is none. */
export function lowerBound(table: SortedTable, key: Uint8Array): number {
  assert(key.length === table.keyBytes, 'a key has the table’s key width');
  const wanted = readUint(key, 0, 4);
  let low = 0;
  let high = table.count;
  let lowValue = 0;
  let highValue = 0xffff_ffff;
  for (let probe = 0; low < high; probe++) {
    let at = (low + high) >>> 1;
    if (probe < INTERPOLATIONS_MAX && highValue > lowValue) {
      const share = (wanted - lowValue) / (highValue - lowValue);
      at = low + Math.min(high - low - 1, Math.max(0, Math.floor(share * (high - low))));
    }
    const entry = entryAt(table, at);
    if (compareKeys(entry, key) < 0) {
      low = at + 1;
      lowValue = readUint(entry, 0, 4);
    } else {
      high = at;
      highValue = readUint(entry, 0, 4);
    }
  }
  return low;
}

/** Index of the first entry with exactly that key, or -1. */
export function findKey(table: SortedTable, key: Uint8Array): number {
  const at = lowerBound(table, key);
  return at < table.count && compareKeys(entryAt(table, at), key) === 0 ? at : -1;
}

export function entryAt(table: SortedTable, at: number): Uint8Array {
  const start = table.start + at * table.width;
  return table.section.bytes(start, start + table.width);
}

/** Compares over the length of `key`. */
export function compareKeys(entry: Uint8Array, key: Uint8Array): number {
  for (let i = 0; i < key.length; i++) {
    const difference = entry[i]! - key[i]!;
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Entries that a cursor reads at once. */
const CURSOR_ENTRIES = 256;

/**
 * Walks a table in order, for merges. The current entry lies in `window` at `offset`, and merges read it there: a view
 * of every entry would cost more than their work on it.
 */
export class TableCursor {
  readonly #table: SortedTable;
  window: Uint8Array = new Uint8Array(0);
  offset = 0;
  at = -1;
  /** True after the last entry. */
  done = false;
  /** The first 32 bits of the current entry, and the 32 after them. */
  high = 0;
  low = 0;

  constructor(table: SortedTable) {
    assert(table.width >= 8, 'an entry has two words to compare by');
    this.#table = table;
    this.advance();
  }

  /** A view of the current entry, undefined after the last. */
  get entry(): Uint8Array | undefined {
    return this.done ? undefined : this.window.subarray(this.offset, this.offset + this.#table.width);
  }

  advance(): void {
    const { section, start, count, width } = this.#table;
    this.at += 1;
    if (this.at >= count) {
      this.done = true;
      return;
    }
    this.offset += width;
    if (this.offset >= this.window.length) {
      const last = Math.min(count, this.at + CURSOR_ENTRIES);
      this.window = section.bytes(start + this.at * width, start + last * width);
      this.offset = 0;
    }
    this.high = readUint32(this.window, this.offset);
    this.low = readUint32(this.window, this.offset + 4);
  }
}

function readUint32(bytes: Uint8Array, at: number): number {
  return ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0;
}

/** Compares the current entries of two cursors by their first `keyBytes` bytes, at least 8. */
export function compareCursors(a: TableCursor, b: TableCursor, keyBytes: number): number {
  if (a.high !== b.high) return a.high - b.high;
  if (a.low !== b.low) return a.low - b.low;
  for (let i = 8; i < keyBytes; i++) {
    const difference = a.window[a.offset + i]! - b.window[b.offset + i]!;
    if (difference !== 0) return difference;
  }
  return 0;
}

/** The cursor with the smallest key, the first one among equal keys. Undefined when all have ended. */
export function smallest<Cursor extends TableCursor>(cursors: readonly Cursor[], keyBytes: number): Cursor | undefined {
  let best: Cursor | undefined;
  for (let i = 0; i < cursors.length; i++) {
    const cursor = cursors[i]!;
    if (cursor.done) continue;
    if (best === undefined || compareCursors(cursor, best, keyBytes) < 0) best = cursor;
  }
  return best;
}

/** Up to this count, insertion is faster than the sort with its buffers. */
const INSERTION_COUNT_MAX = 32;
/** Beyond this, a number composed of prefix and index would exceed the exact integers of a double. */
const ORDER_COUNT_MAX = 1 << 20;

/** Entries that are sorted natively at once, and merge steps between two yields. */
const RUN_COUNT = 2_048;
const SLICE_STEPS_SORT = 16_384;

/**
 * The order that sorts `count` entries: by `prefix` (unsigned first 32 bits of the key) and, for equal ones, by
 * `compare` of two entry indexes. Numbers are sorted, and the comparator is called only for ties.
 */
export function* sortedOrder(
  count: number,
  prefix: (index: number) => number,
  compare: (a: number, b: number) => number,
): Sliced<Uint32Array> {
  const order = new Uint32Array(count);
  if (count <= INSERTION_COUNT_MAX) {
    insertionSort(order, (a, b) => prefix(a) - prefix(b) || compare(a, b));
    return order;
  }
  assert(count <= ORDER_COUNT_MAX, 'a tail has fewer entries');
  let composites = new Float64Array(count);
  for (let i = 0; i < count; i++) composites[i] = prefix(i) * ORDER_COUNT_MAX + i;
  composites = yield* sortInRuns(composites);
  for (let i = 0; i < count; i++) order[i] = composites[i]! % ORDER_COUNT_MAX;
  for (let i = 0; i < count; ) {
    let end = i + 1;
    const front = Math.floor(composites[i]! / ORDER_COUNT_MAX);
    while (end < count && Math.floor(composites[end]! / ORDER_COUNT_MAX) === front) end += 1;
    if (end - i > 1) order.subarray(i, end).sort(compare);
    i = end;
  }
  return order;
}

function insertionSort(order: Uint32Array, compare: (a: number, b: number) => number): void {
  for (let i = 0; i < order.length; i++) {
    let at = i;
    for (; at > 0 && compare(order[at - 1]!, i) > 0; at--) order[at] = order[at - 1]!;
    order[at] = i;
  }
}

/** Sorts runs natively and merges them in pairs. The result is the given array or its twin. */
function* sortInRuns(values: Float64Array<ArrayBuffer>): Sliced<Float64Array<ArrayBuffer>> {
  const count = values.length;
  for (let start = 0; start < count; start += RUN_COUNT) {
    values.subarray(start, start + RUN_COUNT).sort();
    yield;
  }
  let from = values;
  let to = new Float64Array(count > RUN_COUNT ? count : 0);
  let steps = 0;
  for (let width = RUN_COUNT; width < count; width *= 2) {
    for (let start = 0; start < count; start += width * 2) {
      const middle = Math.min(count, start + width);
      const end = Math.min(count, start + width * 2);
      let left = start;
      let right = middle;
      for (let at = start; at < end; at++) {
        const takesLeft = left < middle && (right >= end || from[left]! <= from[right]!);
        to[at] = takesLeft ? from[left++]! : from[right++]!;
        if (++steps % SLICE_STEPS_SORT === 0) yield;
      }
    }
    [from, to] = [to, from];
  }
  return from;
}
