// The mutable text index of a part: grains are added as they are published. One record per word of a text, linked
// backwards by term, and nothing else: postings are lists that are unrolled when somebody asks for a term, and then
// only from where the last asker stopped. So adding touches no list, and no object is made per posting.
import { assert } from '../../assert.ts';
import type { AnalyzedText } from '../part.ts';
import type { Sliced } from '../section.ts';
import { countedLength } from './bm25.ts';
import { COMMON_TERM_SHARE, type Occurrences, type Postings, type TextPart } from './types.ts';

// A word of a text: [previous word of the same term or -1, doc, position].
const WORD_FIELDS = 3;
const PREVIOUS = 0;
const DOC = 1;
const POSITION = 2;

// A term: [its last word, docs, words, last doc, frequency there, largest frequency, smallest counted length].
const TERM_FIELDS = 7;
const LAST_WORD = 0;
const DOCS = 1;
const WORDS = 2;
const LAST_DOC = 3;
const FREQUENCY = 4;
const MAX_FREQUENCY = 5;
const MIN_LENGTH = 6;

/** Words unrolled between two yields: each may be a cache miss. */
const SLICE_WORDS = 4_096;

export const FREQUENCY_MAX = 65_535;
export const LENGTH_MAX = 65_535;

export class TextTail implements TextPart {
  #docCount = 0;
  #totalLength = 0;
  #lengths = new Uint16Array(64);
  #words = new Int32Array(256 * WORD_FIELDS);
  #wordCount = 0;
  #terms = new Int32Array(64 * TERM_FIELDS);
  readonly #termIds = new Map<string, number>();
  readonly #lists = new Map<number, UnrolledList>();

  get docCount(): number {
    return this.#docCount;
  }

  get lengths(): Uint16Array {
    return this.#lengths;
  }

  get totalLength(): number {
    return this.#totalLength;
  }

  get termCount(): number {
    return this.#termIds.size;
  }

  /** Bytes of heap, roughly: 12 a word, 28 a term and its map entry, and what searches have unrolled. */
  get heapBytes(): number {
    let bytes = this.#words.byteLength + this.#terms.byteLength + this.#lengths.byteLength + this.#termIds.size * 80;
    for (const list of this.#lists.values()) bytes += list.heapBytes;
    return bytes;
  }

  /** Takes the text of the next doc (`doc` must be `docCount`; one without text has no terms). */
  add(doc: number, text: AnalyzedText): void {
    assert(doc === this.#docCount, 'docs are added in order');
    const { terms, positions } = text;
    const length = terms.length;
    if (doc >= this.#lengths.length) this.#lengths = grown(this.#lengths, new Uint16Array(doc * 2));
    this.#lengths[doc] = Math.min(length, LENGTH_MAX);
    const counted = countedLength(Math.min(length, LENGTH_MAX));
    this.#reserveWords(this.#wordCount + length);
    const words = this.#words;
    for (let i = 0; i < length; i++) {
      const term = this.#termId(terms[i]!);
      const entry = term * TERM_FIELDS;
      const entries = this.#terms;
      const word = this.#wordCount++;
      const at = word * WORD_FIELDS;
      words[at + PREVIOUS] = entries[entry + LAST_WORD]!;
      words[at + DOC] = doc;
      words[at + POSITION] = positions[i]!;
      entries[entry + LAST_WORD] = word;
      entries[entry + WORDS]!++;
      if (entries[entry + LAST_DOC] === doc) {
        entries[entry + FREQUENCY]!++;
      } else {
        entries[entry + LAST_DOC] = doc;
        entries[entry + FREQUENCY] = 1;
        entries[entry + DOCS]!++;
        if (counted < entries[entry + MIN_LENGTH]!) entries[entry + MIN_LENGTH] = counted;
      }
      if (entries[entry + FREQUENCY]! > entries[entry + MAX_FREQUENCY]!) {
        entries[entry + MAX_FREQUENCY] = entries[entry + FREQUENCY]!;
      }
    }
    this.#totalLength += counted;
    this.#docCount = doc + 1;
  }

  postings(term: string): Postings | undefined {
    return this.#list(term);
  }

  occurrences(term: string): Occurrences | undefined {
    return this.#list(term);
  }

  positions(term: string, doc: number): Uint32Array {
    const list = this.#list(term);
    return list === undefined ? NO_POSITIONS : positionsOf(list, list, doc);
  }

  *vocabulary(): Iterable<readonly [term: string, documentFrequency: number]> {
    for (const [term, id] of this.#termIds) yield [term, this.#terms[id * TERM_FIELDS + DOCS]!];
  }

  /** For sealing, which reads every list once: the list of a term that the tail holds, not kept, made in slices. */
  *unrolling(term: string): Sliced<UnrolledList> {
    const id = this.#termIds.get(term);
    assert(id !== undefined, 'the tail holds the term');
    const list = this.#lists.get(id) ?? this.#newList(id);
    yield* this.#unrolling(id, list, SLICE_WORDS);
    return list;
  }

  #list(term: string): UnrolledList | undefined {
    const id = this.#termIds.get(term);
    if (id === undefined) return undefined;
    let list = this.#lists.get(id);
    if (list === undefined) {
      list = this.#newList(id);
      this.#lists.set(id, list);
    }
    if (this.#terms[id * TERM_FIELDS + WORDS] !== list.wordCount) {
      this.#unrolling(id, list, Number.POSITIVE_INFINITY).next();
    }
    return list;
  }

  #newList(id: number): UnrolledList {
    return new UnrolledList(this.#terms[id * TERM_FIELDS + DOCS]!, this.#terms[id * TERM_FIELDS + WORDS]!);
  }

  /** Brings a list up to date, yielding after every `sliceWords` words. */
  *#unrolling(id: number, list: UnrolledList, sliceWords: number): Sliced<void> {
    const entry = id * TERM_FIELDS;
    const words = this.#terms[entry + WORDS]!;
    if (words === list.wordCount) return;
    // All words of a doc are added together, so that what is new begins with a new doc.
    list.reserve(this.#terms[entry + DOCS]!, words);
    const log = this.#words;
    let posting = this.#terms[entry + DOCS]! - 1;
    let at = words - 1;
    let word = this.#terms[entry + LAST_WORD]!;
    let doc = -1;
    let left = sliceWords;
    list.starts[posting + 1] = words;
    for (; at >= list.wordCount; at--) {
      const record = word * WORD_FIELDS;
      const ofDoc = log[record + DOC]!;
      if (ofDoc !== doc) {
        if (doc !== -1) list.close(posting--, at + 1);
        doc = ofDoc;
        list.docs[posting] = doc;
      }
      list.positions[at] = log[record + POSITION]!;
      word = log[record + PREVIOUS]!;
      if (--left === 0) {
        left = sliceWords;
        yield;
      }
    }
    list.close(posting, list.wordCount);
    list.finish(this.#terms[entry + DOCS]!, words, this.#docCount);
    list.maxFrequency = Math.min(this.#terms[entry + MAX_FREQUENCY]!, FREQUENCY_MAX);
    list.minLength = this.#terms[entry + MIN_LENGTH]!;
  }

  #termId(term: string): number {
    const known = this.#termIds.get(term);
    if (known !== undefined) return known;
    const id = this.#termIds.size;
    if ((id + 1) * TERM_FIELDS > this.#terms.length) {
      this.#terms = grown(this.#terms, new Int32Array(this.#terms.length * 2));
    }
    const entry = id * TERM_FIELDS;
    this.#terms[entry + LAST_WORD] = -1;
    this.#terms[entry + LAST_DOC] = -1;
    this.#terms[entry + MIN_LENGTH] = LENGTH_MAX;
    this.#termIds.set(term, id);
    return id;
  }

  #reserveWords(count: number): void {
    if (count * WORD_FIELDS <= this.#words.length) return;
    this.#words = grown(this.#words, new Int32Array(Math.max(count * WORD_FIELDS, this.#words.length * 2)));
  }
}

/** A term's postings and occurrences, filled from the back; grows in place while nobody else may be reading. */
class UnrolledList implements Postings, Occurrences {
  docs: Uint32Array;
  frequencies: Uint16Array;
  starts: Uint32Array;
  positions: Uint32Array;
  byDoc: Uint8Array | undefined = undefined;
  count = 0;
  wordCount = 0;
  maxFrequency = 0;
  minLength = 0;

  constructor(docs: number, words: number) {
    this.docs = new Uint32Array(docs);
    this.frequencies = new Uint16Array(docs);
    this.starts = new Uint32Array(docs + 1);
    this.positions = new Uint32Array(words);
  }

  get heapBytes(): number {
    return this.docs.length * 10 + this.positions.length * 4 + (this.byDoc?.length ?? 0) + 200;
  }

  reserve(docs: number, words: number): void {
    if (docs > this.docs.length) {
      const room = Math.max(docs, this.docs.length * 2);
      this.docs = grown(this.docs, new Uint32Array(room));
      this.frequencies = grown(this.frequencies, new Uint16Array(room));
      this.starts = grown(this.starts, new Uint32Array(room + 1));
    }
    if (words > this.positions.length) {
      this.positions = grown(this.positions, new Uint32Array(Math.max(words, this.positions.length * 2)));
    }
  }

  /** The posting's words begin at `start`; they end where the next posting's begin. */
  close(posting: number, start: number): void {
    this.starts[posting] = start;
    this.frequencies[posting] = Math.min(this.starts[posting + 1]! - start, FREQUENCY_MAX);
  }

  finish(count: number, wordCount: number, docCount: number): void {
    if (this.byDoc !== undefined || count * COMMON_TERM_SHARE >= docCount) this.#spread(count, docCount);
    this.count = count;
    this.wordCount = wordCount;
  }

  #spread(count: number, docCount: number): void {
    let byDoc = this.byDoc;
    const from = byDoc === undefined ? 0 : this.count;
    if (byDoc === undefined || byDoc.length < docCount) {
      const longer = new Uint8Array(docCount * 2);
      if (byDoc !== undefined) longer.set(byDoc);
      byDoc = longer;
      this.byDoc = byDoc;
    }
    for (let i = from; i < count; i++) byDoc[this.docs[i]!] = Math.min(this.frequencies[i]!, 255);
  }
}

export const NO_POSITIONS = new Uint32Array(0);

/** A view of the positions of a term in one doc. */
export function positionsOf(postings: Postings, occurrences: Occurrences, doc: number): Uint32Array {
  const at = lowerBound(postings.docs, doc, 0, postings.count);
  if (at === postings.count || postings.docs[at] !== doc) return NO_POSITIONS;
  return occurrences.positions.subarray(occurrences.starts[at]!, occurrences.starts[at + 1]!);
}

/** First index in low..high-1 whose doc is at least `doc`, or `high`. */
export function lowerBound(docs: Uint32Array, doc: number, low: number, high: number): number {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (docs[middle]! < doc) low = middle + 1;
    else high = middle;
  }
  return low;
}

function grown<T extends { set(from: T): void }>(from: T, to: T): T {
  to.set(from);
  return to;
}
