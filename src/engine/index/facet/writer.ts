// Writes the facets of a chunk (layout.ts): values from a tail, or from a merge.
import { assert } from '../../base/assert.ts';
import { giveWriter, takeWriter, widthOf } from '../files/bytes.ts';
import { orderKeys } from '../files/key-order.ts';
import type { ChunkSink, SectionSink, Sliced } from '../files/section.ts';
import { SectionWriter } from '../files/section-writer.ts';
import {
  DOC_BYTES_MAX,
  FACET_IDS,
  FACET_IDS_MAX,
  FACET_TOKEN_BYTES,
  LIST_HEAD_BYTES_MAX,
  NAME_SECTIONS,
  type NameSection,
  SECTION_OF,
  SLICE_VALUES,
} from './layout.ts';
import { NamesWriter } from './names.ts';
import { writePostings } from './postings.ts';

/** Bytes of a name for which room is made beforehand. */
const NAME_BYTES_GUESSED = 24;

/** Takes values facet by facet in the order of their ids, sorted by token within each. */
export class FacetWriter {
  readonly #dictionary: SectionWriter;
  readonly #postings: SectionSink;
  readonly #names: Readonly<Record<NameSection, NamesWriter>>;
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
      facetNames: new NamesWriter(sink, 'facetNames'),
      tripleNames: new NamesWriter(sink, 'tripleNames'),
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
    this.#names[section].add(facetId, name);
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
