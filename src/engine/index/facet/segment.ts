// The docs of each facet value, in four sections.
//
//   facetDictionary  for each facet, by id: an entry for each value, sorted by token.
//                      entry    token 16, reference (all references have the same width). A reference is doc * 2 + 1
//                               for a value with one doc, otherwise twice the offset of its list in facetPostings.
//                      trailer  width of a reference in bytes; number of values of facet 1, 2, …
//   facetPostings    the lists, without gaps (postings.ts)
//   facetNames       the plain values (length, UTF-8) of type, namespace, tag, session and field, in dictionary order
//   tripleNames      the plain values of subject, relation and object. They are apart because they are many and are
//                    rarely read.
import { assert } from '../../base/assert.ts';
import { CALL_KEYS_MAX, FIELD_VALUES_MAX, TAGS_MAX } from '../../base/limits.ts';
import { giveWriter, readUint, takeWriter, widthOf } from '../files/bytes.ts';
import { orderKeys } from '../files/key-order.ts';
import {
  type ChunkSink,
  type ChunkSource,
  CorruptBlock,
  type SectionName,
  type SectionSink,
  type SectionSource,
  type Sliced,
} from '../files/section.ts';
import { SectionCursor } from '../files/section-cursor.ts';
import { readTrailer, SectionWriter } from '../files/section-writer.ts';
import {
  compareCursors,
  compareKeys,
  entryAt,
  findKey,
  type SortedTable,
  smallest,
  TableCursor,
} from '../files/sorted-table.ts';
import type { DecodedCache } from '../heap-budget.ts';
import { DROPPED, type MergeInput } from '../parts/merge-input.ts';
import { FACETS, type Facet, type FacetList, PAIR_SEPARATOR } from '../parts/part.ts';
import { readCount, readPostings, writePostings } from './postings.ts';

export const FACET_TOKEN_BYTES = 16;
export const FACET_IDS: readonly number[] = Object.values(FACETS);
const FACET_IDS_MAX = Math.max(...FACET_IDS);
/** Facets whose values can be listed, by the section that holds their names, in the order of their ids. */
const NAMED_FACETS = {
  facetNames: ['type', 'namespace', 'tag', 'session', 'field'],
  tripleNames: ['subject', 'relation', 'object'],
} as const satisfies Partial<Record<SectionName, readonly Facet[]>>;
type NameSection = keyof typeof NAMED_FACETS;
export type NamedFacet = (typeof NAMED_FACETS)[NameSection][number];
const NAME_SECTIONS = Object.keys(NAMED_FACETS) as NameSection[]; // its keys
/** The section that holds a facet's names, by the facet's id. */
const SECTION_OF: ReadonlyMap<number, NameSection> = new Map(
  NAME_SECTIONS.flatMap((section) => NAMED_FACETS[section].map((facet) => [FACETS[facet], section] as const)),
);
/** Maximum bytes of a list in addition to its docs (head, number of runs, bitmap head), and of one doc. */
const LIST_HEAD_BYTES_MAX = 16;
const DOC_BYTES_MAX = 5;
/** When lists of different forms are merged, one byte of a bitmap can become eight runs of two integers. */
const MERGED_BYTES_MAX = 16;
/** A dropped doc splits at most one run in each of its lists: its facets, tags, fields, task and call id. */
const SPLIT_BYTES_MAX = (FACET_IDS.length + TAGS_MAX + FIELD_VALUES_MAX + CALL_KEYS_MAX) * 2 * DOC_BYTES_MAX;
/** Heap bytes of a decoded list of names, and of each name in addition to its characters. */
const CACHED_NAMES_BYTES = 500;
const CACHED_NAME_BYTES = 40;
/** Bytes of a name for which room is made beforehand. */
const NAME_BYTES_GUESSED = 24;
/** Values, and docs of one value, between two yields. */
const SLICE_VALUES = 512;
const SLICE_DOCS = 4_096;

/** Takes values facet by facet in the order of their ids, sorted by token within each. */
export class FacetWriter {
  readonly #dictionary: SectionWriter;
  readonly #postings: SectionSink;
  readonly #names: Readonly<Record<NameSection, SectionWriter>>;
  readonly #list = takeWriter();
  readonly #referenceWidth: number;
  readonly #referenceEnd: number;
  readonly #counts = new Array<number>(FACET_IDS_MAX + 1).fill(0);

  /**
   * `postingBytesMax` is an upper bound for all lists. Together with the docs it determines the width of references.
   */
  constructor(sink: ChunkSink, docCount: number, postingBytesMax: number) {
    this.#dictionary = new SectionWriter(sink.section('facetDictionary'));
    this.#postings = sink.section('facetPostings');
    this.#names = {
      facetNames: new SectionWriter(sink.section('facetNames')),
      tripleNames: new SectionWriter(sink.section('tripleNames')),
    };
    this.#referenceWidth = widthOf(2 * Math.max(postingBytesMax, docCount) + 1);
    this.#referenceEnd = 256 ** this.#referenceWidth;
  }

  /** Adds the value whose token is at `at` of `bytes`, with `docs[0..count-1]`. */
  *add(facetId: number, bytes: Uint8Array, at: number, docs: Uint32Array, count: number): Sliced<void> {
    assert(count > 0, 'a value has docs');
    if (count === 1) {
      this.addOne(facetId, bytes, at, docs[0]!);
      return;
    }
    const reference = this.#postings.position * 2;
    yield* writePostings(docs, count, this.#list);
    this.#postings.write(this.#list.view());
    this.#list.clear();
    this.#refer(facetId, bytes, at, reference);
  }

  /** Adds a value of one doc. */
  addOne(facetId: number, bytes: Uint8Array, at: number, doc: number): void {
    this.#refer(facetId, bytes, at, doc * 2 + 1);
  }

  /** Adds the text of the last added value, for facets with names. */
  addName(facetId: number, name: Uint8Array): void {
    const section = SECTION_OF.get(facetId);
    assert(section !== undefined, 'a facet with names has a section for them');
    const names = this.#names[section];
    names.bytes.varint(name.length);
    names.bytes.bytes(name);
    names.settle();
  }

  #refer(facetId: number, bytes: Uint8Array, at: number, reference: number): void {
    assert(reference < this.#referenceEnd, 'a reference fits its width');
    this.#dictionary.bytes.copy(bytes, at, FACET_TOKEN_BYTES);
    this.#dictionary.bytes.uint(reference, this.#referenceWidth);
    this.#dictionary.settle();
    this.#counts[facetId]! += 1;
  }

  /** Ends the sections. Without a value, none is written. */
  finish(): void {
    giveWriter(this.#list);
    for (const section of NAME_SECTIONS) this.#names[section].end();
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
    const postings = this.#source.section('facetPostings');
    for (const [value, reference] of this.#references(facet)) {
      yield [value, reference % 2 === 1 ? 1 : readCount(new SectionCursor(postings, reference / 2))];
    }
  }

  /** Every value of a facet with its docs. Nothing is cached. */
  *lists(facet: NamedFacet): IterableIterator<readonly [value: string, docs: Uint32Array]> {
    for (const [value, docs] of this.docsByValue(facet)) yield [value, docs()];
  }

  /** Every value of a facet, with a function that reads its docs. Nothing is cached. */
  *docsByValue(facet: NamedFacet): IterableIterator<readonly [value: string, docs: () => Uint32Array]> {
    const postings = this.#source.section('facetPostings');
    for (const [value, reference] of this.#references(facet))
      yield [value, () => readList(postings, reference, this.#docCount)];
  }

  /** Every value of a facet by its token, with its docs. Nothing is cached. */
  *tokenLists(facet: Facet): IterableIterator<FacetList> {
    const layout = this.#layout();
    const table = layout?.tables[FACETS[facet]];
    if (layout === null || table === undefined || table.count === 0) return;
    const postings = this.#source.section('facetPostings');
    for (const cursor = new TableCursor(table); !cursor.done; cursor.advance()) {
      const { window, offset } = cursor;
      const token = Buffer.from(window.buffer, window.byteOffset + offset, FACET_TOKEN_BYTES).toString('latin1');
      const reference = readUint(window, offset + FACET_TOKEN_BYTES, layout.referenceWidth);
      yield { token, docs: () => readList(postings, reference, this.#docCount) };
    }
  }

  /** The values of a field in facet `field`. */
  fieldValues(name: string): readonly string[] {
    const known = this.#cache.get<ReadonlyMap<string, readonly string[]>>('facet/fields');
    if (known !== undefined) return known.get(name) ?? [];
    const fields = new Map<string, string[]>();
    let bytes = CACHED_NAMES_BYTES;
    for (const [key] of this.#references('field')) {
      const end = key.indexOf(PAIR_SEPARATOR);
      const field = key.slice(0, end);
      const values = fields.get(field);
      if (values === undefined) fields.set(field, [key.slice(end + 1)]);
      else values.push(key.slice(end + 1));
      bytes += CACHED_NAME_BYTES + key.length * 2;
    }
    this.#cache.set('facet/fields', fields, bytes);
    return fields.get(name) ?? [];
  }

  *#references(facet: NamedFacet): IterableIterator<readonly [value: string, reference: number]> {
    const layout = this.#layout();
    if (layout === null) return;
    const section = SECTION_OF.get(FACETS[facet]);
    assert(section !== undefined, 'a facet with names has a section for them');
    // Names of other facets precede these. There may be many, so they are skipped only once.
    const cacheKey = `facet/names/${facet}`;
    const start = this.#cache.get<number>(cacheKey);
    const names = new SectionCursor(this.#source.section(section), start);
    for (const named of NAMED_FACETS[section]) {
      if (start !== undefined && named !== facet) continue;
      if (start === undefined && named === facet) this.#cache.set(cacheKey, names.position, CACHED_NAME_BYTES);
      const table = layout.tables[FACETS[named]]!;
      for (let at = 0; at < table.count; at++) {
        const name = names.bytes(names.varint());
        if (named !== facet) continue;
        const reference = readUint(entryAt(table, at), FACET_TOKEN_BYTES, layout.referenceWidth);
        yield [Buffer.from(name.buffer, name.byteOffset, name.length).toString(), reference];
      }
      if (named === facet) return;
    }
  }

  /** Checks order, ranges and lists of the whole dictionary. Throws CorruptBlock at the first problem. */
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

/** The values of one facet, to be written from a tail into a chunk, in any order. */
export interface FacetValues {
  /** The tokens of the values, concatenated. */
  readonly tokens: Buffer;
  /** The number of docs of each value, and its first doc. */
  readonly counts: Uint32Array;
  readonly docs: Uint32Array;
  /** Copies the docs of value `i` to the front of `into`. */
  copy(i: number, into: Uint32Array): void;
  /** The values themselves, for a facet with names. */
  readonly names: FacetNames | undefined;
}

/** True when a chunk holds the values of the facet themselves. */
export function hasNames(facetId: number): boolean {
  return SECTION_OF.has(facetId);
}

/** The UTF-8 of a facet's values, one behind the other. */
export class FacetNames {
  #bytes: Buffer;
  readonly #ends: Uint32Array;
  #count = 0;
  #used = 0;

  /** `count`: the number of values. */
  constructor(count: number) {
    this.#bytes = Buffer.allocUnsafe(count * NAME_BYTES_GUESSED);
    this.#ends = new Uint32Array(count);
  }

  add(text: string): void {
    // A UTF-16 unit takes at most 3 bytes of UTF-8.
    const most = this.#used + text.length * 3;
    if (most > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(most, this.#bytes.length * 2));
      this.#bytes.copy(larger, 0, 0, this.#used);
      this.#bytes = larger;
    }
    this.#used += this.#bytes.write(text, this.#used, 'utf8');
    this.#ends[this.#count++] = this.#used;
  }

  /** The name of value `i`. */
  at(i: number): Uint8Array {
    return this.#bytes.subarray(i === 0 ? 0 : this.#ends[i - 1]!, this.#ends[i]!);
  }
}

/** Writes the values of a tail, `byFacet` by facet id. `docsOfAll` is the total number of docs of all values. */
export function* encodeFacets(
  byFacet: ReadonlyMap<number, FacetValues>,
  docsOfAll: number,
  docCount: number,
  sink: ChunkSink,
): Sliced<void> {
  let bytesMax = docsOfAll * DOC_BYTES_MAX;
  for (const { counts } of byFacet.values()) bytesMax += counts.length * LIST_HEAD_BYTES_MAX;
  const writer = new FacetWriter(sink, docCount, bytesMax);
  const scratch = new Uint32Array(docCount);
  let written = 0;
  for (const id of FACET_IDS) {
    const values = byFacet.get(id);
    if (values === undefined) continue;
    const { tokens, counts, docs, names } = values;
    const order = yield* orderTokens(tokens, counts.length);
    for (let at = 0; at < order.length; at++) {
      const i = order[at]!;
      const count = counts[i]!;
      if (count === 1) writer.addOne(id, tokens, i * FACET_TOKEN_BYTES, docs[i]!);
      else {
        values.copy(i, scratch);
        yield* writer.add(id, tokens, i * FACET_TOKEN_BYTES, scratch, count);
      }
      if (names !== undefined) writer.addName(id, names.at(i));
      if (++written % SLICE_VALUES === 0) yield;
    }
  }
  writer.finish();
}

function* orderTokens(tokens: Buffer, count: number): Sliced<Uint32Array> {
  const high = new Uint32Array(count);
  const low = new Uint32Array(count);
  for (let i = 0; i < count; i++) {
    high[i] = tokens.readUInt32BE(i * FACET_TOKEN_BYTES);
    low[i] = tokens.readUInt32BE(i * FACET_TOKEN_BYTES + 4);
  }
  return yield* orderKeys(high, low, (a, b) => Buffer.compare(tokenAt(tokens, a), tokenAt(tokens, b)));
}

function tokenAt(tokens: Buffer, i: number): Buffer {
  return tokens.subarray(i * FACET_TOKEN_BYTES, (i + 1) * FACET_TOKEN_BYTES);
}

/** The table of one facet of a merge input, with the data of its entries. */
class FacetCursor extends TableCursor {
  readonly #input: MergeInput;
  readonly #postings: SectionSource;
  readonly #referenceWidth: number;
  /** The names of the facet's values, for a facet that has them. */
  readonly #names: SectionCursor | undefined;

  constructor(input: MergeInput, table: SortedTable, referenceWidth: number, names: SectionCursor | undefined) {
    super(table);
    this.#input = input;
    this.#postings = input.source.section('facetPostings');
    this.#referenceWidth = referenceWidth;
    this.#names = names;
  }

  get reference(): number {
    return readUint(this.window, this.offset + FACET_TOKEN_BYTES, this.#referenceWidth);
  }

  /** The new doc of the current value, which has exactly one, or DROPPED. */
  get onlyDoc(): number {
    return this.#input.docMap[(this.reference - 1) / 2]!;
  }

  /** Copies the new docs of the current value to `into` from `count` on, and returns the new count. */
  copyDocs(into: Uint32Array, count: number): number {
    const { docMap, docCount } = this.#input;
    for (const doc of readList(this.#postings, this.reference, docCount)) {
      const mapped = docMap[doc]!;
      if (mapped !== DROPPED) into[count++] = mapped;
    }
    return count;
  }

  /** The name of the current value. Read it once for each value. */
  name(): Uint8Array | undefined {
    return this.#names?.bytes(this.#names.varint());
  }
}

/** Merges the facets of the inputs, whose docs ascend from one to the next. Values without docs are dropped. */
export function* mergeFacets(inputs: readonly MergeInput[], newDocCount: number, sink: ChunkSink): Sliced<void> {
  const layouts = inputs.map((input) => readLayout(input.source));
  const writer = new FacetWriter(sink, newDocCount, postingBytesMax(inputs, layouts, newDocCount));
  const nameCursors = inputs.map(({ source }) => ({
    facetNames: new SectionCursor(source.section('facetNames')),
    tripleNames: new SectionCursor(source.section('tripleNames')),
  }));
  const scratch = new Uint32Array(newDocCount);
  let values = 0;
  for (const id of FACET_IDS) {
    const cursors: FacetCursor[] = [];
    inputs.forEach((input, i) => {
      const layout = layouts[i];
      const section = SECTION_OF.get(id);
      const names = section === undefined ? undefined : nameCursors[i]?.[section];
      if (layout !== undefined) cursors.push(new FacetCursor(input, layout.tables[id]!, layout.referenceWidth, names));
    });
    for (let next = smallest(cursors, FACET_TOKEN_BYTES); next !== undefined; ) {
      // The window stays valid when its cursor moves on.
      const { window, offset } = next;
      let count = 0;
      let name: Uint8Array | undefined;
      if (next.reference % 2 === 1 && !isShared(next, cursors)) {
        name = next.name();
        scratch[0] = next.onlyDoc;
        count = next.onlyDoc === DROPPED ? 0 : 1;
        next.advance();
      } else {
        const { high, low } = next;
        for (const cursor of cursors) {
          if (cursor.done || cursor.high !== high || cursor.low !== low || !hasToken(cursor, window, offset)) continue;
          name = cursor.name();
          count = cursor.copyDocs(scratch, count);
          cursor.advance();
          if (count > SLICE_DOCS) yield;
        }
      }
      if (count === 1) writer.addOne(id, window, offset, scratch[0]!);
      else if (count > 1) yield* writer.add(id, window, offset, scratch, count);
      if (count > 0 && name !== undefined) writer.addName(id, name);
      if (++values % SLICE_VALUES === 0) yield;
      next = smallest(cursors, FACET_TOKEN_BYTES);
    }
  }
  writer.finish();
}

/** An upper bound for the bytes of the merged lists. */
function postingBytesMax(
  inputs: readonly MergeInput[],
  layouts: readonly (Layout | undefined)[],
  newDocCount: number,
): number {
  let lists = 0;
  let bytes = 0;
  let dropped = -newDocCount;
  for (const layout of layouts) for (const table of layout?.tables ?? []) lists += table.count;
  for (const { source, docCount } of inputs) {
    bytes += source.section('facetPostings').length;
    dropped += docCount;
  }
  return bytes * MERGED_BYTES_MAX + lists * LIST_HEAD_BYTES_MAX + dropped * SPLIT_BYTES_MAX;
}

/** True when another cursor has the same token. */
function isShared(cursor: FacetCursor, cursors: readonly FacetCursor[]): boolean {
  for (let i = 0; i < cursors.length; i++) {
    const other = cursors[i]!;
    if (other !== cursor && !other.done && compareCursors(other, cursor, FACET_TOKEN_BYTES) === 0) return true;
  }
  return false;
}

function hasToken(cursor: FacetCursor, bytes: Uint8Array, at: number): boolean {
  for (let i = 0; i < FACET_TOKEN_BYTES; i++) if (cursor.window[cursor.offset + i] !== bytes[at + i]) return false;
  return true;
}
