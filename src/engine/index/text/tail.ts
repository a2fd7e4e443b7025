// The mutable text index of a part, to which grains are added as they are published. It stores one record for each word
// of a text, linked backwards by term. Postings are unrolled into lists on demand, from where the last query stopped.
// Adding therefore touches no list and allocates no object for a posting.
import { assert } from '../../base/assert.ts';
import { type AnalyzedText, NO_NUMBER } from '../parts/part.ts';
import { countedLength } from './bm25.ts';
import { COMMON_TERM_SHARE, type Occurrences, type Postings, type TextPart } from './types.ts';

// A word of a text: [previous word of the same term or -1, doc, position, term]. Searches follow the links. Sealing
// reads the words in storage order, because following links would cost a cache miss for each word.
const WORD_FIELDS = 4;
const PREVIOUS = 0;
const DOC = 1;
const POSITION = 2;
const TERM = 3;

// A term: [its last word, the doc of that, docs, words]. Four numbers, so that a term fits in one cache line.
// Everything else that a search needs is counted when the list is unrolled.
const TERM_FIELDS = 4;
const LAST_WORD = 0;
const LAST_DOC = 1;
const DOCS = 2;
const WORDS = 3;

export const FREQUENCY_MAX = 65_535;
export const LENGTH_MAX = 65_535;

export class TextTail implements TextPart {
  #docCount = 0;
  #totalLength = 0;
  #lengths = new Uint16Array(64);
  #words = new Int32Array(256 * WORD_FIELDS);
  #wordCount = 0;
  #terms = new Int32Array(64 * TERM_FIELDS);
  readonly #names: string[] = [];
  readonly #termIds = new Map<string, number>();
  /** Pairs of a term's number + 1 and its id, by the number's low bits. A slot keeps the latest pair. */
  #numbered = new Float64Array(64);
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
    return this.#names.length;
  }

  /** Approximate heap bytes: 16 a word, 16 a term and its map entry, and the lists that searches have unrolled. */
  get heapBytes(): number {
    let bytes = this.#words.byteLength + this.#terms.byteLength + this.#lengths.byteLength + this.#names.length * 88;
    bytes += this.#numbered.byteLength;
    for (const list of this.#lists.values()) bytes += list.heapBytes;
    return bytes;
  }

  /** Adds the text of the next doc (`doc` must be `docCount`; a doc without text has no terms). */
  add(doc: number, text: AnalyzedText): void {
    assert(doc === this.#docCount, 'docs are added in order');
    const { terms, positions, numbers } = text;
    const length = text.count ?? terms.length;
    if (doc >= this.#lengths.length) this.#lengths = grown(this.#lengths, new Uint16Array(doc * 2));
    this.#lengths[doc] = Math.min(length, LENGTH_MAX);
    this.#reserveWords(this.#wordCount + length);
    const words = this.#words;
    for (let i = 0; i < length; i++) {
      const number = numbers === undefined ? NO_NUMBER : numbers[i]!;
      const term = number === NO_NUMBER ? this.#termId(terms[i]!) : this.#numberedTermId(number, terms[i]!);
      const entry = term * TERM_FIELDS;
      const entries = this.#terms;
      const word = this.#wordCount++;
      const at = word * WORD_FIELDS;
      words[at + PREVIOUS] = entries[entry + LAST_WORD]!;
      words[at + DOC] = doc;
      words[at + POSITION] = positions[i]!;
      words[at + TERM] = term;
      entries[entry + LAST_WORD] = word;
      entries[entry + WORDS]!++;
      if (entries[entry + LAST_DOC] === doc) continue;
      entries[entry + LAST_DOC] = doc;
      entries[entry + DOCS]!++;
    }
    this.#totalLength += countedLength(Math.min(length, LENGTH_MAX));
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
    for (const [id, term] of this.#names.entries()) yield [term, this.#terms[id * TERM_FIELDS + DOCS]!];
  }

  /** For sealing: the terms by id, 0..termCount-1. Read-only. */
  get names(): readonly string[] {
    return this.#names;
  }

  /** For sealing: words of all texts, and those of a term. */
  get wordCount(): number {
    return this.#wordCount;
  }

  wordsOf(id: number): number {
    return this.#terms[id * TERM_FIELDS + WORDS]!;
  }

  /**
   * For sealing: writes (doc, position) of the words `from` to `to - 1` in reading order. Each goes to the index in
   * `pairs` that `next` has for its term, which is then advanced.
   */
  spreadWords(from: number, to: number, next: Uint32Array, pairs: Uint32Array): void {
    const log = this.#words;
    for (let at = from * WORD_FIELDS; at < to * WORD_FIELDS; at += WORD_FIELDS) {
      const term = log[at + TERM]!;
      const place = next[term]!;
      next[term] = place + 1;
      pairs[place * 2] = log[at + DOC]!;
      pairs[place * 2 + 1] = log[at + POSITION]!;
    }
  }

  #list(term: string): UnrolledList | undefined {
    const id = this.#termIds.get(term);
    if (id === undefined) return undefined;
    let list = this.#lists.get(id);
    if (list === undefined) {
      list = new UnrolledList(this.#terms[id * TERM_FIELDS + DOCS]!, this.#terms[id * TERM_FIELDS + WORDS]!);
      this.#lists.set(id, list);
    }
    if (this.#terms[id * TERM_FIELDS + WORDS] !== list.wordCount) this.#unroll(id, list);
    return list;
  }

  /** Brings a list up to date. */
  #unroll(id: number, list: UnrolledList): void {
    const entry = id * TERM_FIELDS;
    const words = this.#terms[entry + WORDS]!;
    const docs = this.#terms[entry + DOCS]!;
    // All words of a doc are added together, so new words always begin with a new doc.
    list.reserve(docs, words);
    const log = this.#words;
    let posting = docs - 1;
    let word = this.#terms[entry + LAST_WORD]!;
    let doc = this.#terms[entry + LAST_DOC]!;
    list.starts[docs] = words;
    list.docs[posting] = doc;
    for (let at = words - 1; at >= list.wordCount; at--) {
      const record = word * WORD_FIELDS;
      if (log[record + DOC] !== doc) {
        list.close(posting--, at + 1, this.#lengths[doc]!);
        doc = log[record + DOC]!;
        list.docs[posting] = doc;
      }
      list.positions[at] = log[record + POSITION]!;
      word = log[record + PREVIOUS]!;
    }
    list.close(posting, list.wordCount, this.#lengths[doc]!);
    list.finish(docs, words, this.#docCount);
  }

  /** Finds the term by its number, which avoids the map of strings most of the time. */
  #numberedTermId(number: number, term: string): number {
    const slot = (number & (this.#numbered.length / 2 - 1)) * 2;
    if (this.#numbered[slot] === number + 1) return this.#numbered[slot + 1]!;
    const id = this.#termId(term);
    // Twice as many slots as terms. Numbers are consecutive, so few share a slot.
    if (this.#names.length * 4 > this.#numbered.length) {
      this.#numbered = new Float64Array(this.#numbered.length * 2);
      return id;
    }
    this.#numbered[slot] = number + 1;
    this.#numbered[slot + 1] = id;
    return id;
  }

  #termId(term: string): number {
    const known = this.#termIds.get(term);
    if (known !== undefined) return known;
    const id = this.#names.length;
    if ((id + 1) * TERM_FIELDS > this.#terms.length) {
      this.#terms = grown(this.#terms, new Int32Array(this.#terms.length * 2));
    }
    const entry = id * TERM_FIELDS;
    this.#terms[entry + LAST_WORD] = -1;
    this.#terms[entry + LAST_DOC] = -1;
    this.#termIds.set(term, id);
    this.#names.push(term);
    return id;
  }

  #reserveWords(count: number): void {
    if (count * WORD_FIELDS <= this.#words.length) return;
    this.#words = grown(this.#words, new Int32Array(Math.max(count * WORD_FIELDS, this.#words.length * 2)));
  }
}

/**
 * A term's postings and occurrences, filled from the back. The arrays grow in place while nobody else can be reading
 * them.
 */
class UnrolledList implements Postings, Occurrences {
  docs: Uint32Array;
  frequencies: Uint16Array;
  starts: Uint32Array;
  positions: Uint32Array;
  byDoc: Uint8Array | undefined = undefined;
  count = 0;
  wordCount = 0;
  maxFrequency = 0;
  minLength = LENGTH_MAX;

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

  /**
   * The posting's words begin at `start` and end where those of the next posting begin. Its doc has `length` words in
   * all.
   */
  close(posting: number, start: number, length: number): void {
    const frequency = Math.min(this.starts[posting + 1]! - start, FREQUENCY_MAX);
    this.starts[posting] = start;
    this.frequencies[posting] = frequency;
    this.maxFrequency = Math.max(this.maxFrequency, frequency);
    this.minLength = Math.min(this.minLength, countedLength(length));
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
