// The keyed entries of a chunk, in the section `keyed`: a sorted table for each kind, then a trailer with the number of
// entries of each kind.
//
//   entry := key 4 or token 16, sequence 4
//
// Numeric keys reveal nothing and are stored as they are. Other keys are stored as blind tokens.

import { FACET_TOKEN_BYTES } from '../facet/layout.ts';
import { readUint } from '../files/bytes.ts';
import { type ChunkSink, type ChunkSource, CorruptBlock, type Sliced } from '../files/section.ts';
import { readTrailer, SectionWriter } from '../files/section-writer.ts';
import {
  compareKeys,
  entryAt,
  lowerBound,
  type SortedTable,
  smallest,
  sortedOrder,
  TableCursor,
} from '../files/sorted-table.ts';
import type { DecodedCache } from '../heap-budget.ts';
import { SLICE_STEPS } from '../parts/merge-input.ts';
import { KEYED, type Keyed } from '../parts/part.ts';

const KIND_IDS: readonly number[] = Object.values(KEYED);
const KIND_IDS_MAX = Math.max(...KIND_IDS);
const NUMBER_KEY_BYTES = 4;
const SEQUENCE_BYTES = 4;
const NUMERIC_IDS: readonly number[] = [
  KEYED.status,
  KEYED.predecessor,
  KEYED.audit,
  KEYED.recall,
  KEYED.furtherSource,
];

/** Bytes of a kind's keys in the section. */
export function keyBytesOf(kindId: number): number {
  return NUMERIC_IDS.includes(kindId) ? NUMBER_KEY_BYTES : FACET_TOKEN_BYTES;
}

/** The key of an entry in the section's form. `token` makes the blind token of a text. */
export function keyOf(kind: Keyed, key: string | number, token: (kind: Keyed, key: string | number) => Uint8Array) {
  if (keyBytesOf(KEYED[kind]) !== NUMBER_KEY_BYTES) return token(kind, key);
  const bytes = new Uint8Array(NUMBER_KEY_BYTES);
  new DataView(bytes.buffer).setUint32(0, Number(key));
  return bytes;
}

export interface KeyedEntry {
  readonly key: Uint8Array;
  readonly sequence: number;
}

/** Writes entries by kind id, in any order. An empty section is not written. */
export function* encodeKeyed(byKind: ReadonlyMap<number, readonly KeyedEntry[]>, sink: ChunkSink): Sliced<void> {
  const writer = new KeyedWriter(sink);
  for (const id of KIND_IDS) {
    const entries = byKind.get(id);
    if (entries === undefined) continue;
    const order = yield* sortedOrder(
      entries.length,
      (i) => readUint(entries[i]!.key, 0, 4),
      (a, b) => compareKeys(entries[a]!.key, entries[b]!.key) || entries[a]!.sequence - entries[b]!.sequence,
    );
    for (let i = 0; i < order.length; i++) {
      writer.add(id, entries[order[i]!]!.key, entries[order[i]!]!.sequence);
      if (i % SLICE_STEPS === SLICE_STEPS - 1) yield;
    }
  }
  writer.finish();
}

class KeyedWriter {
  readonly #section: SectionWriter;
  readonly #counts = new Array<number>(KIND_IDS_MAX + 1).fill(0);

  constructor(sink: ChunkSink) {
    this.#section = new SectionWriter(sink.section('keyed'));
  }

  /** Adds an entry. Kinds come by id, keys and then sequence numbers ascending. */
  add(kindId: number, key: Uint8Array, sequence: number): void {
    this.#section.bytes.bytes(key);
    this.#section.bytes.u32(sequence);
    this.#section.settle();
    this.#counts[kindId]! += 1;
  }

  finish(): void {
    if (this.#counts.some((count) => count > 0)) this.#section.finish(this.#counts.slice(1));
    else this.#section.end();
  }
}

type Layout = readonly SortedTable[];

function readLayout(source: ChunkSource): Layout {
  const section = source.section('keyed');
  const counts = section.length === 0 ? [] : readTrailer(section).numbers;
  const tables: SortedTable[] = [];
  let start = 0;
  for (let id = 0; id <= KIND_IDS_MAX; id++) {
    const keyBytes = keyBytesOf(id);
    const width = keyBytes + SEQUENCE_BYTES;
    const count = id === 0 ? 0 : (counts[id - 1] ?? 0);
    tables.push({ section, start, count, width, keyBytes });
    start += count * width;
  }
  return tables;
}

const NO_SEQUENCES: readonly number[] = [];

export class KeyedChunk {
  readonly #source: ChunkSource;
  readonly #token: (kind: Keyed, key: string | number) => Uint8Array;
  readonly #cache: DecodedCache;

  constructor(source: ChunkSource, token: (kind: Keyed, key: string | number) => Uint8Array, cache: DecodedCache) {
    this.#source = source;
    this.#token = token;
    this.#cache = cache;
  }

  sequences(kind: Keyed, key: string | number): readonly number[] {
    const table = this.#layout()[KEYED[kind]]!;
    if (table.count === 0) return NO_SEQUENCES;
    const wanted = keyOf(kind, key, this.#token);
    const found: number[] = [];
    for (let at = lowerBound(table, wanted); at < table.count; at++) {
      const entry = entryAt(table, at);
      if (compareKeys(entry, wanted) !== 0) break;
      found.push(readUint(entry, table.keyBytes, SEQUENCE_BYTES));
    }
    return found;
  }

  all(kind: Keyed): readonly number[] {
    const table = this.#layout()[KEYED[kind]]!;
    if (table.count === 0) return NO_SEQUENCES;
    const cacheKey = `keyed/${kind}`;
    const known = this.#cache.get<readonly number[]>(cacheKey);
    if (known !== undefined) return known;
    const found: number[] = [];
    for (const cursor = new TableCursor(table); !cursor.done; cursor.advance())
      found.push(readUint(cursor.window, cursor.offset + table.keyBytes, SEQUENCE_BYTES));
    found.sort((a, b) => a - b);
    this.#cache.set(cacheKey, found, found.length * 8);
    return found;
  }

  /** Throws CorruptBlock when a table is not sorted. */
  *verify(): Sliced<void> {
    for (const table of this.#layout()) {
      let before: Uint8Array | undefined;
      for (const cursor = new TableCursor(table); cursor.entry !== undefined; cursor.advance()) {
        if (before !== undefined && compareKeys(before, cursor.entry) > 0)
          throw new CorruptBlock('keyed', cursor.at, 'entries do not ascend');
        before = cursor.entry;
        if (cursor.at % SLICE_STEPS === SLICE_STEPS - 1) yield;
      }
    }
  }

  #layout(): Layout {
    const known = this.#cache.get<Layout>('keyed/layout');
    if (known !== undefined) return known;
    const layout = readLayout(this.#source);
    this.#cache.set('keyed/layout', layout, 800);
    return layout;
  }
}

/** Merges the entries whose record still exists, by `keeps`. */
export function* mergeKeyed(
  sources: readonly ChunkSource[],
  keeps: (sequence: number) => boolean,
  sink: ChunkSink,
): Sliced<void> {
  const layouts = sources.map(readLayout);
  const writer = new KeyedWriter(sink);
  let steps = 0;
  for (const id of KIND_IDS) {
    const cursors = layouts.map((layout) => new TableCursor(layout[id]!));
    const keyBytes = keyBytesOf(id);
    const width = keyBytes + SEQUENCE_BYTES;
    for (let next = smallest(cursors, width); next !== undefined; next = smallest(cursors, width)) {
      const sequence = readUint(next.window, next.offset + keyBytes, SEQUENCE_BYTES);
      if (keeps(sequence)) writer.add(id, next.window.subarray(next.offset, next.offset + keyBytes), sequence);
      next.advance();
      if (++steps % SLICE_STEPS === 0) yield;
    }
  }
  writer.finish();
}

/** The sequences of every keyed entry of a chunk, kind by kind in key order. */
export function* keyedSequencesOf(source: ChunkSource): IterableIterator<number> {
  for (const table of readLayout(source))
    for (const cursor = new TableCursor(table); !cursor.done; cursor.advance())
      yield readUint(cursor.window, cursor.offset + table.keyBytes, SEQUENCE_BYTES);
}
