// The docs of each hash prefix of 8 bytes (sections `address` and `identity`).
//
//   entries  prefix 8, doc (all docs have the same width); sorted by prefix, then doc
//   filter   Bloom filter over the prefixes, if there are at least FILTER_ENTRIES_MIN entries
//   trailer  number of entries, length of the filter in bytes, width of a doc in bytes
import { bloomAdd, bloomBytes, bloomHas } from '../files/bloom.ts';
import { readUint, widthOf } from '../files/bytes.ts';
import { orderKeys } from '../files/key-order.ts';
import { type ChunkSink, type ChunkSource, CorruptBlock, type Sliced } from '../files/section.ts';
import { readTrailer, SectionWriter } from '../files/section-writer.ts';
import { compareKeys, entryAt, lowerBound, type SortedTable, smallest, TableCursor } from '../files/sorted-table.ts';
import type { DecodedCache } from '../heap-budget.ts';
import { DROPPED, type MergeInput, SLICE_STEPS } from '../parts/merge-input.ts';
import type { Doc } from '../parts/part.ts';
import { findPrefix, NO_DOCS, prefix } from './tail.ts';

export type PrefixSection = 'address' | 'identity';

/** Cache keys, built once: a new string for each look-up would be hashed each time. */
const LAYOUT_KEYS: Record<PrefixSection, string> = { address: 'address/layout', identity: 'identity/layout' };
const HEADS_KEYS: Record<PrefixSection, string> = { address: 'address/heads', identity: 'identity/heads' };
const USES_PER_GET = 64;
const PREFIX_BYTES = 8;
/** With fewer entries, all of them lie in the chunk's one block, and a filter saves nothing. */
const FILTER_ENTRIES_MIN = 64;

/**
 * Takes entries in order. `count` and `docCount` are known beforehand: they fix the filter's size and the width of a
 * doc.
 */
class PrefixWriter {
  readonly #section: SectionWriter;
  readonly #filter: Uint8Array;
  readonly #docWidth: number;
  #count = 0;

  constructor(sink: ChunkSink, name: PrefixSection, count: number, docCount: number) {
    this.#section = new SectionWriter(sink.section(name));
    this.#filter = new Uint8Array(count < FILTER_ENTRIES_MIN ? 0 : bloomBytes(count));
    this.#docWidth = widthOf(docCount);
  }

  add(high: number, low: number, doc: number): void {
    this.#section.bytes.u32(high);
    this.#section.bytes.u32(low);
    this.#section.bytes.uint(doc, this.#docWidth);
    this.#section.settle();
    if (this.#filter.length > 0) bloomAdd(this.#filter, high, low);
    this.#count += 1;
  }

  finish(): void {
    this.#section.bytes.bytes(this.#filter);
    this.#section.finish([this.#count, this.#filter.length, this.#docWidth]);
  }
}

/** Prefixes and docs in parallel; docs of equal prefixes ascend. */
export interface PrefixEntries {
  readonly high: Uint32Array;
  readonly low: Uint32Array;
  readonly docs: Uint32Array;
}

/** Writes a section from entries in any order. An empty section is not written. */
export function* encodePrefixes(
  name: PrefixSection,
  entries: PrefixEntries,
  docCount: number,
  sink: ChunkSink,
): Sliced<void> {
  const { high, low, docs } = entries;
  if (docs.length === 0) return;
  const order = yield* orderKeys(high, low);
  const writer = new PrefixWriter(sink, name, docs.length, docCount);
  for (let i = 0; i < order.length; i++) {
    const entry = order[i]!;
    writer.add(high[entry]!, low[entry]!, docs[entry]!);
    if (i % SLICE_STEPS === SLICE_STEPS - 1) yield;
  }
  writer.finish();
}

interface Layout {
  readonly table: SortedTable;
  readonly filter: Uint8Array;
  readonly docWidth: number;
}

function readLayout(source: ChunkSource, name: PrefixSection): Layout | undefined {
  const section = source.section(name);
  if (section.length === 0) return undefined;
  const { numbers, end } = readTrailer(section);
  const [count = 0, filterBytes = 0, docWidth = 1] = numbers;
  const table = { section, start: 0, count, width: PREFIX_BYTES + docWidth, keyBytes: PREFIX_BYTES };
  return { table, filter: section.bytes(end - filterBytes, end), docWidth };
}

const key = new Uint8Array(PREFIX_BYTES);
const keyView = new DataView(key.buffer);

export class PrefixChunk {
  readonly #source: ChunkSource;
  readonly #name: PrefixSection;
  readonly #cache: DecodedCache;
  readonly #layoutKey: string;
  /** The layout, while the cache has it. */
  #cachedLayout: Layout | null | undefined;
  #uses = 0;

  constructor(source: ChunkSource, name: PrefixSection, cache: DecodedCache) {
    this.#source = source;
    this.#name = name;
    this.#layoutKey = LAYOUT_KEYS[name];
    this.#cache = cache;
  }

  /** Docs whose hash (hex) has the first 16 characters of `hash`, ascending. */
  docs(hash: string): readonly Doc[] {
    const layout = this.#layout();
    if (layout === null) return NO_DOCS;
    findPrefix(hash);
    const high = prefix[0]!;
    const low = prefix[1]!;
    if (layout.filter.length > 0 && !bloomHas(layout.filter, high, low)) return NO_DOCS;
    keyView.setUint32(0, high);
    keyView.setUint32(4, low);
    let found: Doc[] | undefined;
    for (let at = lowerBound(layout.table, key); at < layout.table.count; at++) {
      const entry = entryAt(layout.table, at);
      if (compareKeys(entry, key) !== 0) break;
      found ??= [];
      found.push(readUint(entry, PREFIX_BYTES, layout.docWidth));
    }
    return found ?? NO_DOCS;
  }

  /** The first 32 bits of the hash of each doc; 0 for a doc without an entry. Cached while the heap budget has room. */
  heads(docCount: number): Uint32Array {
    const known = this.#cache.get<Uint32Array>(HEADS_KEYS[this.#name]);
    if (known !== undefined) return known;
    const heads = new Uint32Array(docCount);
    const layout = this.#layout();
    if (layout !== null) {
      for (const cursor = new TableCursor(layout.table); !cursor.done; cursor.advance())
        heads[readUint(cursor.window, cursor.offset + PREFIX_BYTES, layout.docWidth)] = cursor.high;
    }
    this.#cache.set(HEADS_KEYS[this.#name], heads, heads.byteLength);
    return heads;
  }

  /** Throws CorruptBlock when prefixes do not ascend, a doc is out of range or the filter denies an entry. */
  *verify(docCount: number): Sliced<void> {
    const layout = this.#layout();
    if (layout === null) return;
    let before: Uint8Array | undefined;
    for (const cursor = new TableCursor(layout.table); cursor.entry !== undefined; cursor.advance()) {
      const { entry } = cursor;
      const passes =
        layout.filter.length === 0 || bloomHas(layout.filter, readUint(entry, 0, 4), readUint(entry, 4, 4));
      const inRange = readUint(entry, PREFIX_BYTES, layout.docWidth) < docCount;
      if (!passes || !inRange || (before !== undefined && compareKeys(before, entry) >= 0))
        throw new CorruptBlock(this.#name, cursor.at, 'an entry is out of order, out of range or not in the filter');
      before = entry;
      if (cursor.at % SLICE_STEPS === SLICE_STEPS - 1) yield;
    }
  }

  #layout(): Layout | null {
    // Every write looks into every chunk of its memory, so the cache is notified of only one look-up in USES_PER_GET.
    if (this.#cachedLayout !== undefined && ++this.#uses % USES_PER_GET !== 0) return this.#cachedLayout;
    const known = this.#cache.get<Layout | null>(this.#layoutKey);
    if (known !== undefined) return known;
    const layout = readLayout(this.#source, this.#name) ?? null;
    this.#cache.set(this.#layoutKey, layout, 200 + (layout?.filter.length ?? 0), () => {
      this.#cachedLayout = undefined;
    });
    this.#cachedLayout = layout;
    return layout;
  }
}

/** The table of one input of a merge. */
class PrefixCursor extends TableCursor {
  readonly #docWidth: number;
  readonly #docMap: Int32Array;

  constructor({ table, docWidth }: Layout, docMap: Int32Array) {
    super(table);
    this.#docWidth = docWidth;
    this.#docMap = docMap;
  }

  /** The new doc of the current entry, or DROPPED. */
  get doc(): number {
    return this.#docMap[readUint(this.window, this.offset + PREFIX_BYTES, this.#docWidth)]!;
  }
}

/** Merges the sections of that name, without dropped docs. */
export function* mergePrefixes(
  name: PrefixSection,
  inputs: readonly MergeInput[],
  newDocCount: number,
  sink: ChunkSink,
): Sliced<void> {
  const cursors: PrefixCursor[] = [];
  let count = 0;
  let steps = 0;
  for (const { source, docMap } of inputs) {
    const layout = readLayout(source, name);
    if (layout === undefined) continue;
    cursors.push(new PrefixCursor(layout, docMap));
    // The filter's size follows from the number of entries, which must be counted when docs are dropped.
    if (!docMap.includes(DROPPED)) {
      count += layout.table.count;
      continue;
    }
    for (const cursor = new PrefixCursor(layout, docMap); !cursor.done; cursor.advance()) {
      if (cursor.doc !== DROPPED) count += 1;
      if (++steps % SLICE_STEPS === 0) yield;
    }
  }
  if (count === 0) return;
  const writer = new PrefixWriter(sink, name, count, newDocCount);
  for (let next = smallest(cursors, PREFIX_BYTES); next !== undefined; next = smallest(cursors, PREFIX_BYTES)) {
    const { doc } = next;
    if (doc !== DROPPED) writer.add(next.high, next.low, doc);
    next.advance();
    if (++steps % SLICE_STEPS === 0) yield;
  }
  writer.finish();
}
