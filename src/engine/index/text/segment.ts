// The sealed text index of a chunk: writes a tail's index as sections, and answers the same queries from them.
//
//   textLengths     for each doc: u16
//   textDictionary  see dictionary.ts
//   textPostings    for each term, for each doc: varint of (doc delta << 1 | flag); with the flag, varint frequency.
//                   The doc delta is the distance to the previous doc - 1. Without the flag the frequency is 1.
//   textPositions   for each term, doc and occurrence: varint distance to the previous position in the doc, the first
//                   from 0
//   vocabulary      for each term: varint length | UTF-8
//
// In all sections, terms are in the order of their tokens. So a merge reads and writes each section from front to back,
// and a term that loses its last doc loses its string with it.

import { orderKeys } from '../files/key-order.ts';
import type { ChunkSink, ChunkSource, Sliced } from '../files/section.ts';
import type { DecodedCache } from '../heap-budget.ts';
import { decodeOccurrences, decodePostings } from './decode.ts';
import { Dictionary, DictionaryCursor, type DictionaryEntry, tokenHigh, tokenLow } from './dictionary.ts';
import { NO_POSITIONS, positionsOf, type TextTail } from './tail.ts';
import type { Occurrences, Postings, TextPart } from './types.ts';
import { SectionReader } from './varint.ts';
import { TextWriter } from './writer.ts';

/** The blind token of a term in a segment: eight bytes of a keyed hash, so that the dictionary reveals no words. */
export type BlindToken = (term: string) => Uint8Array;

/** Writes the tokens of `terms[from]` to `terms[to - 1]`, in two halves, to the same places of `high` and `low`. */
export type BlindTerms = (
  terms: readonly string[],
  from: number,
  to: number,
  high: Uint32Array,
  low: Uint32Array,
) => void;

/** Terms, words or postings handled between two yields: some hundred microseconds. */
const SLICE_TERMS = 512;
const SLICE_WORDS = 4_096;
const SLICE_COUNTED = 65_536;

/** The texts of a tail, as a seal reads them. */
export type FrozenText = Pick<TextTail, 'names' | 'wordCount' | 'countWords' | 'spreadWords' | 'lengths' | 'docCount'>;

/** Writes the text sections of a tail that no longer changes. */
export function* encodeText(tail: FrozenText, tokens: BlindTerms, sink: ChunkSink): Sliced<void> {
  const { names } = tail;
  const high = new Uint32Array(names.length);
  const low = new Uint32Array(names.length);
  for (let from = 0; from < names.length; from += SLICE_TERMS) {
    tokens(names, from, Math.min(names.length, from + SLICE_TERMS), high, low);
    yield;
  }
  const order = yield* orderKeys(high, low);

  // The start of each term's words when they are in the order of the tokens.
  const wordsOf = new Uint32Array(names.length);
  for (let from = 0; from < tail.wordCount; from += SLICE_COUNTED) {
    tail.countWords(from, Math.min(tail.wordCount, from + SLICE_COUNTED), wordsOf);
    yield;
  }
  const next = new Uint32Array(names.length);
  for (let i = 0, place = 0; i < order.length; i++) {
    next[order[i]!] = place;
    place += wordsOf[order[i]!]!;
  }
  yield;
  const pairs = new Uint32Array(tail.wordCount * 2);
  for (let from = 0; from < tail.wordCount; from += SLICE_WORDS) {
    tail.spreadWords(from, Math.min(tail.wordCount, from + SLICE_WORDS), next, pairs);
    yield;
  }

  const writer = new TextWriter(sink);
  let sinceYield = 0;
  let from = 0;
  for (let i = 0; i < order.length; i++) {
    const id = order[i]!;
    const end = from + wordsOf[id]!;
    sinceYield += end - from + 8;
    // Nearly every term needs one round; only a common one has more words than a slice.
    while (from < end) {
      from = writer.words(pairs, from, end, SLICE_WORDS);
      if (from < end) yield;
    }
    writer.endTermNamed(high[id]!, low[id]!, names[id]!);
    if (sinceYield > SLICE_WORDS) {
      sinceYield = 0;
      yield;
    }
  }
  yield* writer.end(tail.lengths.subarray(0, tail.docCount));
}

/**
 * Marks a term that the chunk does not contain. It is cached too, because every chunk of a memory is asked for every
 * term.
 */
const ABSENT = Symbol('absent');
const ABSENT_BYTES = 64;
const LISTS_BYTES = 300;

/** A term's postings, and the place of its lists. */
interface TermLists {
  readonly entry: DictionaryEntry;
  readonly postings: Postings;
}

/** The text index of a sealed chunk. Lists are decoded on demand and cached while the heap budget has room. */
export class TextChunk implements TextPart {
  readonly docCount: number;
  readonly #source: ChunkSource;
  readonly #token: BlindToken;
  readonly #cache: DecodedCache;
  /** By term: TermLists, or ABSENT. */
  readonly #terms: DecodedCache;
  /** By term: Occurrences. */
  readonly #occurrences: DecodedCache;
  /** By name: lists that were computed from others, or ABSENT. */
  readonly #made: DecodedCache;

  constructor(source: ChunkSource, docCount: number, token: BlindToken, cache: DecodedCache) {
    this.#terms = cache.scope();
    this.#occurrences = cache.scope();
    this.#made = cache.scope();
    this.docCount = docCount;
    this.#source = source;
    this.#token = token;
    this.#cache = cache;
  }

  get lengths(): Uint16Array {
    const kept = this.#cache.get<Uint16Array>('text lengths');
    if (kept !== undefined) return kept;
    const bytes = this.#source.section('textLengths').bytes(0, this.docCount * 2);
    const lengths = new Uint16Array(this.docCount);
    for (let doc = 0; doc < lengths.length; doc++) lengths[doc] = bytes[doc * 2]! | (bytes[doc * 2 + 1]! << 8);
    this.#cache.set('text lengths', lengths, lengths.byteLength);
    return lengths;
  }

  get totalLength(): number {
    return this.dictionary().totalLength;
  }

  get termCount(): number {
    return this.dictionary().termCount;
  }

  /** For merging. */
  get source(): ChunkSource {
    return this.#source;
  }

  /** For merging. */
  dictionary(): Dictionary {
    const kept = this.#cache.get<Dictionary>('text dictionary');
    if (kept !== undefined) return kept;
    const dictionary = new Dictionary(this.#source.section('textDictionary'));
    this.#cache.set('text dictionary', dictionary, dictionary.heapBytes);
    return dictionary;
  }

  postings(term: string): Postings | undefined {
    const kept = this.#terms.get<TermLists | typeof ABSENT>(term);
    if (kept !== undefined) return kept === ABSENT ? undefined : kept.postings;
    return this.#read(term)?.postings;
  }

  #read(term: string): TermLists | undefined {
    const token = this.#token(term);
    const entry = this.dictionary().find(tokenHigh(token), tokenLow(token));
    if (entry === undefined) {
      this.#terms.set(term, ABSENT, ABSENT_BYTES);
      return undefined;
    }
    const bytes = this.#source.section('textPostings').bytes(entry.postingsStart, entry.postingsEnd);
    const lists = { entry, postings: decodePostings(bytes, entry.docs, this.lengths) };
    this.#terms.set(term, lists, entry.docs * 6 + (lists.postings.byDoc?.length ?? 0) + LISTS_BYTES);
    return lists;
  }

  keep(name: string, make: () => Postings | undefined): Postings | undefined {
    const kept = this.#made.get<Postings | typeof ABSENT>(name);
    if (kept !== undefined) return kept === ABSENT ? undefined : kept;
    const made = make();
    this.#made.set(name, made ?? ABSENT, ABSENT_BYTES + name.length * 2 + (made?.count ?? 0) * 6);
    return made;
  }

  occurrences(term: string): Occurrences | undefined {
    const kept = this.#occurrences.get<Occurrences>(term);
    if (kept !== undefined) return kept;
    const known = this.#terms.get<TermLists | typeof ABSENT>(term);
    const lists = known === undefined ? this.#read(term) : known;
    if (lists === undefined || lists === ABSENT) return undefined;
    const { entry } = lists;
    const postings = this.#source.section('textPostings').bytes(entry.postingsStart, entry.postingsEnd);
    const positions = this.#source.section('textPositions').bytes(entry.positionsStart, entry.positionsEnd);
    const occurrences = decodeOccurrences(postings, positions, entry.docs);
    this.#occurrences.set(term, occurrences, occurrences.starts.byteLength + occurrences.positions.byteLength + 200);
    return occurrences;
  }

  positions(term: string, doc: number): Uint32Array {
    const postings = this.postings(term);
    const occurrences = postings && this.occurrences(term);
    return occurrences === undefined ? NO_POSITIONS : positionsOf(postings!, occurrences, doc);
  }

  *vocabulary(): Iterable<readonly [term: string, documentFrequency: number]> {
    const cursor = new DictionaryCursor(this.dictionary());
    const names = new SectionReader(this.#source.section('vocabulary'));
    while (cursor.next()) yield [names.text(names.varint()), cursor.docs];
  }
}
