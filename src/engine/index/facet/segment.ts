// The facets of a chunk (layout.ts), read.
import { assert } from '../../base/assert.ts';
import { readUint } from '../files/bytes.ts';
import { type ChunkSource, CorruptBlock, type Sliced } from '../files/section.ts';
import { SectionCursor } from '../files/section-cursor.ts';
import { compareKeys, entryAt, findKey, TableCursor } from '../files/sorted-table.ts';
import type { DecodedCache } from '../heap-budget.ts';
import { FACETS, type Facet, type FacetList, PAIR_SEPARATOR } from '../parts/part.ts';
import {
  FACET_TOKEN_BYTES,
  type Layout,
  NAMED_FACETS,
  type NamedFacet,
  readLayout,
  readList,
  SECTION_OF,
  SLICE_VALUES,
} from './layout.ts';
import { NamesCursor } from './names.ts';
import { readCount } from './postings.ts';

/** Heap bytes of a decoded list of names, and of each name in addition to its characters. */
const CACHED_NAMES_BYTES = 500;
const CACHED_NAME_BYTES = 40;

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
    // Names of other facets precede these. There may be many, so they are passed over only once.
    const cacheKey = `facet/names/${facet}`;
    const start = this.#cache.get<number>(cacheKey);
    const names = new NamesCursor(this.#source, section, start);
    if (start === undefined) {
      for (const named of NAMED_FACETS[section]) {
        if (named === facet) break;
        names.skip(layout.tables[FACETS[named]]!.count);
      }
      this.#cache.set(cacheKey, names.position, CACHED_NAME_BYTES);
    }
    const table = layout.tables[FACETS[facet]]!;
    for (let at = 0; at < table.count; at++) {
      const name = names.next();
      const reference = readUint(entryAt(table, at), FACET_TOKEN_BYTES, layout.referenceWidth);
      yield [Buffer.from(name.buffer, name.byteOffset, name.length).toString(), reference];
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
