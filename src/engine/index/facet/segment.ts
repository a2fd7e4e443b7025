// Docs by the values of their facets, in three sections.
//
//   facetDictionary  for each facet by id, its values sorted by token: token 16, reference in a fixed number of bytes,
//                    which is doc * 2 + 1 for a value of one doc, else twice the place of its list in facetPostings;
//                    trailer: bytes of a reference, then the number of values of facet 1, 2, …
//   facetPostings    lists, one after the other (postings.ts)
//   facetNames       the values of NAMED_FACETS in plain text (length, UTF-8), in the order of the dictionary
import { assert } from '../../assert.ts';
import { TAGS_MAX } from '../../limits.ts';
import { giveWriter, readUint, takeWriter, widthOf } from '../bytes.ts';
import type { DecodedCache } from '../heap-budget.ts';
import { DROPPED, type MergeInput } from '../merge-input.ts';
import { FACETS, type Facet } from '../part.ts';
import {
  type ChunkSink,
  type ChunkSource,
  CorruptBlock,
  type SectionSink,
  type SectionSource,
  type Sliced,
} from '../section.ts';
import { SectionCursor } from '../section-cursor.ts';
import { readTrailer, SectionWriter } from '../section-writer.ts';
import {
  compareKeys,
  entryAt,
  findKey,
  type SortedTable,
  smallest,
  sortedOrder,
  TableCursor,
} from '../sorted-table.ts';
import { readCount, readPostings, writePostings } from './postings.ts';

export const FACET_TOKEN_BYTES = 16;
export const FACET_IDS: readonly number[] = Object.values(FACETS);
const FACET_IDS_MAX = Math.max(...FACET_IDS);
/** Facets whose values can be listed. */
export const NAMED_FACETS = ['type', 'namespace', 'tag'] as const satisfies readonly Facet[];
export type NamedFacet = (typeof NAMED_FACETS)[number];
const NAMED_IDS: readonly number[] = NAMED_FACETS.map((facet) => FACETS[facet]);
/** The most that a list takes beyond its docs (head, number of runs, bitmap head), and that a doc of one takes. */
const LIST_HEAD_BYTES_MAX = 16;
const DOC_BYTES_MAX = 5;
/** A byte of a bitmap may become eight runs of two integers when lists of several forms meet in one. */
const MERGED_BYTES_MAX = 16;
/** A dropped doc splits at most one run in every list that it is in: its facets and tags. */
const SPLIT_BYTES_MAX = (FACET_IDS.length + TAGS_MAX) * 2 * DOC_BYTES_MAX;
/** Values between two yields. */
const SLICE_VALUES = 256;

/** Takes values facet by facet in the order of their ids, sorted by token within each. */
export class FacetWriter {
  readonly #dictionary: SectionWriter;
  readonly #postings: SectionSink;
  readonly #names: SectionWriter;
  readonly #list = takeWriter();
  readonly #referenceWidth: number;
  readonly #counts = new Array<number>(FACET_IDS_MAX + 1).fill(0);

  /** `postingBytesMax` bounds what all lists will take; with the docs it fixes the width of references. */
  constructor(sink: ChunkSink, docCount: number, postingBytesMax: number) {
    this.#dictionary = new SectionWriter(sink.section('facetDictionary'));
    this.#postings = sink.section('facetPostings');
    this.#names = new SectionWriter(sink.section('facetNames'));
    this.#referenceWidth = widthOf(2 * Math.max(postingBytesMax, docCount) + 1);
  }

  /** Adds the value with `docs[0..count-1]`. `name` is its text for the facets that have names. */
  *add(facetId: number, token: Uint8Array, docs: Uint32Array, count: number, name?: Uint8Array): Sliced<void> {
    assert(count > 0 && token.length === FACET_TOKEN_BYTES, 'a value has a token and docs');
    let reference: number;
    if (count === 1) {
      reference = docs[0]! * 2 + 1;
    } else {
      reference = this.#postings.position * 2;
      yield* writePostings(docs, count, this.#list);
      this.#postings.write(this.#list.view());
      this.#list.clear();
    }
    assert(reference < 256 ** this.#referenceWidth, 'a reference fits its width');
    this.#dictionary.bytes.bytes(token);
    this.#dictionary.bytes.uint(reference, this.#referenceWidth);
    this.#dictionary.settle();
    this.#counts[facetId]! += 1;
    if (!NAMED_IDS.includes(facetId)) return;
    assert(name !== undefined, 'a listed facet has names');
    this.#names.bytes.varint(name.length);
    this.#names.bytes.bytes(name);
    this.#names.settle();
  }

  /** Ends the sections; without a value none is written. */
  finish(): void {
    giveWriter(this.#list);
    this.#names.end();
    if (this.#counts.every((count) => count === 0)) this.#dictionary.end();
    else this.#dictionary.finish([this.#referenceWidth, ...this.#counts.slice(1)]);
  }
}

interface Layout {
  readonly referenceWidth: number;
  /** By facet id; index 0 unused. */
  readonly tables: readonly SortedTable[];
}

function readLayout(source: ChunkSource): Layout | undefined {
  const section = source.section('facetDictionary');
  if (section.length === 0) return undefined;
  const [referenceWidth = 1, ...counts] = readTrailer(section).numbers;
  const width = FACET_TOKEN_BYTES + referenceWidth;
  const tables: SortedTable[] = [];
  let start = 0;
  for (let id = 0; id <= FACET_IDS_MAX; id++) {
    const count = id === 0 ? 0 : (counts[id - 1] ?? 0);
    tables.push({ section, start, count, width, keyBytes: FACET_TOKEN_BYTES });
    start += count * width;
  }
  return { referenceWidth, tables };
}

function readList(postings: SectionSource, reference: number, docCount: number): Uint32Array {
  if (reference % 2 === 1) return Uint32Array.of((reference - 1) / 2);
  return readPostings(new SectionCursor(postings, reference / 2), docCount);
}

export class FacetChunk {
  readonly #source: ChunkSource;
  readonly #docCount: number;
  readonly #token: (facet: Facet, value: string) => Uint8Array;
  readonly #cache: DecodedCache;

  constructor(
    source: ChunkSource,
    docCount: number,
    token: (facet: Facet, value: string) => Uint8Array,
    cache: DecodedCache,
  ) {
    this.#source = source;
    this.#docCount = docCount;
    this.#token = token;
    this.#cache = cache;
  }

  docs(facet: Facet, value: string): Uint32Array | undefined {
    const layout = this.#layout();
    const table = layout?.tables[FACETS[facet]];
    if (layout === null || table === undefined || table.count === 0) return undefined;
    const cacheKey = `facet/${facet}/${value}`;
    const known = this.#cache.get<Uint32Array>(cacheKey);
    if (known !== undefined) return known;
    const at = findKey(table, this.#token(facet, value));
    if (at < 0) return undefined;
    const reference = readUint(entryAt(table, at), FACET_TOKEN_BYTES, layout.referenceWidth);
    const docs = readList(this.#source.section('facetPostings'), reference, this.#docCount);
    this.#cache.set(cacheKey, docs, docs.byteLength + cacheKey.length * 2 + 100);
    return docs;
  }

  cardinality(facet: Facet): number {
    return this.#layout()?.tables[FACETS[facet]]?.count ?? 0;
  }

  *values(facet: NamedFacet): IterableIterator<readonly [value: string, count: number]> {
    const layout = this.#layout();
    if (layout === null) return;
    const names = new SectionCursor(this.#source.section('facetNames'));
    for (const named of NAMED_FACETS) {
      const table = layout.tables[FACETS[named]]!;
      for (let at = 0; at < table.count; at++) {
        const name = names.bytes(names.varint());
        if (named !== facet) continue;
        const reference = readUint(entryAt(table, at), FACET_TOKEN_BYTES, layout.referenceWidth);
        const count =
          reference % 2 === 1 ? 1 : readCount(new SectionCursor(this.#source.section('facetPostings'), reference / 2));
        yield [Buffer.from(name.buffer, name.byteOffset, name.length).toString(), count];
      }
      if (named === facet) return;
    }
  }

  /** Checks order, ranges and lists of the whole dictionary. Throws CorruptBlock at what is wrong. */
  *verify(): Sliced<void> {
    const layout = this.#layout();
    if (layout === null) return;
    const postings = this.#source.section('facetPostings');
    let values = 0;
    for (const table of layout.tables) {
      let before: Uint8Array | undefined;
      for (const cursor = new TableCursor(table); cursor.entry !== undefined; cursor.advance()) {
        const token = cursor.entry.subarray(0, FACET_TOKEN_BYTES);
        if (before !== undefined && compareKeys(before, token) >= 0)
          throw new CorruptBlock('facetDictionary', cursor.at, 'tokens do not ascend');
        before = token;
        const docs = readList(
          postings,
          readUint(cursor.entry, FACET_TOKEN_BYTES, layout.referenceWidth),
          this.#docCount,
        );
        for (let i = 0; i < docs.length; i++)
          if (docs[i]! >= this.#docCount || (i > 0 && docs[i]! <= docs[i - 1]!))
            throw new CorruptBlock('facetPostings', cursor.at, 'docs do not ascend inside the part');
        if (++values % SLICE_VALUES === 0) yield;
      }
    }
  }

  #layout(): Layout | null {
    const known = this.#cache.get<Layout | null>('facet/layout');
    if (known !== undefined) return known;
    const layout = readLayout(this.#source) ?? null;
    this.#cache.set('facet/layout', layout, 1_000);
    return layout;
  }
}

/** A value on its way from a tail into a chunk. */
export interface FacetEntry {
  readonly token: Uint8Array;
  readonly count: number;
  /** Copies the docs to the front of `into`. */
  readonly copy: (into: Uint32Array) => void;
  /** The value itself. */
  readonly value: string;
}

/** Writes the values of a tail, `byFacet` by facet id, in any order. */
export function* encodeFacets(
  byFacet: ReadonlyMap<number, readonly FacetEntry[]>,
  docCount: number,
  sink: ChunkSink,
): Sliced<void> {
  let bytesMax = 0;
  for (const entries of byFacet.values())
    for (const { count } of entries) bytesMax += LIST_HEAD_BYTES_MAX + count * DOC_BYTES_MAX;
  const writer = new FacetWriter(sink, docCount, bytesMax);
  const scratch = new Uint32Array(docCount);
  let values = 0;
  for (const id of FACET_IDS) {
    const entries = byFacet.get(id);
    if (entries === undefined) continue;
    const named = NAMED_IDS.includes(id);
    const order = yield* sortedOrder(
      entries.length,
      (i) => readUint(entries[i]!.token, 0, 4),
      (a, b) => compareKeys(entries[a]!.token, entries[b]!.token),
    );
    for (const i of order) {
      const { token, count, copy, value } = entries[i]!;
      copy(scratch);
      yield* writer.add(id, token, scratch, count, named ? Buffer.from(value) : undefined);
      if (++values % SLICE_VALUES === 0) yield;
    }
  }
  writer.finish();
}

/** A merged input's reader of one facet, with what belongs to its entries. */
interface Merging {
  readonly cursor: TableCursor;
  readonly names: SectionCursor | undefined;
  readonly postings: SectionSource;
  readonly referenceWidth: number;
  readonly docCount: number;
  readonly docMap: Int32Array;
}

/** Merges the facets of the inputs, whose docs ascend from one to the next. Values without docs are dropped. */
export function* mergeFacets(inputs: readonly MergeInput[], newDocCount: number, sink: ChunkSink): Sliced<void> {
  const layouts = inputs.map((input) => readLayout(input.source));
  let lists = 0;
  let bytes = 0;
  let dropped = -newDocCount;
  for (const layout of layouts) for (const table of layout?.tables ?? []) lists += table.count;
  for (const { source, docCount } of inputs) {
    bytes += source.section('facetPostings').length;
    dropped += docCount;
  }
  const bytesMax = bytes * MERGED_BYTES_MAX + lists * LIST_HEAD_BYTES_MAX + dropped * SPLIT_BYTES_MAX;
  const writer = new FacetWriter(sink, newDocCount, bytesMax);
  const nameCursors = inputs.map((input) => new SectionCursor(input.source.section('facetNames')));
  const scratch = new Uint32Array(newDocCount);
  let values = 0;
  for (const id of FACET_IDS) {
    const named = NAMED_IDS.includes(id);
    const merging = new Map<TableCursor, Merging>();
    inputs.forEach((input, i) => {
      const layout = layouts[i];
      if (layout === undefined) return;
      const cursor = new TableCursor(layout.tables[id]!);
      merging.set(cursor, {
        cursor,
        names: named ? nameCursors[i] : undefined,
        postings: input.source.section('facetPostings'),
        referenceWidth: layout.referenceWidth,
        docCount: input.docCount,
        docMap: input.docMap,
      });
    });
    const cursors = [...merging.keys()];
    for (let next = smallest(cursors, FACET_TOKEN_BYTES); next !== undefined; ) {
      const token = next.entry!.subarray(0, FACET_TOKEN_BYTES);
      let count = 0;
      let name: Uint8Array | undefined;
      for (const cursor of cursors) {
        if (cursor.entry === undefined || compareKeys(cursor.entry, token) !== 0) continue;
        const input = merging.get(cursor)!;
        if (input.names !== undefined) name = input.names.bytes(input.names.varint());
        const reference = readUint(cursor.entry, FACET_TOKEN_BYTES, input.referenceWidth);
        const docs = readList(input.postings, reference, input.docCount);
        for (const doc of docs) {
          const mapped = input.docMap[doc]!;
          if (mapped !== DROPPED) scratch[count++] = mapped;
        }
        cursor.advance();
        if (docs.length > SLICE_VALUES) yield;
      }
      if (count > 0) yield* writer.add(id, token, scratch, count, name);
      if (++values % SLICE_VALUES === 0) yield;
      next = smallest(cursors, FACET_TOKEN_BYTES);
    }
  }
  writer.finish();
}
