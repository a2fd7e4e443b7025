// The mutable text index of a part, to which grains are added as they are published. It stores one record for each word
// of a text (word-log.ts), linked backwards by term. Postings are unrolled into lists on demand, from where the last query
// stopped. Adding therefore touches no list and allocates no object for a posting.
import { assert } from '../../base/assert.ts';
import type { AnalyzedText, NumberedText } from '../parts/part.ts';
import { countedLength } from './bm25.ts';
import { numbered, termNumbers } from './term-numbers.ts';
import { COMMON_TERM_SHARE, type Occurrences, type Postings, type TextPart } from './types.ts';
import { NO_WORD, WordLog } from './word-log.ts';

export const FREQUENCY_MAX = 65_535;
export const LENGTH_MAX = 65_535;

export class TextTail implements TextPart {
  #docCount = 0;
  #totalLength = 0;
  #lengths = new Uint16Array(64);
  readonly #words = new WordLog();
  /** The last word of each term. */
  #lastWords = new Int32Array(64);
  readonly #names: string[] = [];
  /** Ids of terms by text, for queries: the first `#termIds.size` terms. */
  readonly #termIds = new Map<string, number>();
  /** Pairs of a term's number + 1 and its id, by the number; 0 is free. At most half full. */
  #numbers = new Int32Array(64);
  #numbersUsed = 0;
  /** The epoch of the numbers. */
  #epoch = termNumbers.epoch;
  readonly #lists = new Map<number, UnrolledList>();
  /** The docs of each term, of the first `#counted` words. Only the vocabulary needs them. */
  #docCounts = new Uint32Array(0);
  #counted = 0;

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

  /** Approximate heap bytes: 16 a word, 88 a term, and the lists that searches have unrolled. */
  get heapBytes(): number {
    let bytes = this.#words.heapBytes + this.#lengths.byteLength + this.#lastWords.byteLength;
    bytes += this.#names.length * 88 + this.#numbers.byteLength;
    for (const list of this.#lists.values()) bytes += list.heapBytes;
    return bytes;
  }

  /** Adds the text of the next doc (`doc` must be `docCount`; a doc without text has no terms). */
  add(doc: number, text: AnalyzedText | NumberedText): void {
    assert(doc === this.#docCount, 'docs are added in order');
    const { pairs, start, count } = 'pairs' in text ? text : numbered(text);
    if (this.#epoch !== termNumbers.epoch) this.#forgetNumbers();
    if (doc >= this.#lengths.length) this.#lengths = grown(this.#lengths, new Uint16Array(doc * 2));
    this.#lengths[doc] = Math.min(count, LENGTH_MAX);
    let numbers = this.#numbers;
    let lastWords = this.#lastWords;
    const log = this.#words;
    for (let from = start; from < start + count * 2; from += 2) {
      const number = pairs[from]!;
      const slot = (number * 2) & (numbers.length - 1);
      let term = numbers[slot + 1]!;
      if (numbers[slot] !== number + 1) {
        term = this.#numberedId(number);
        numbers = this.#numbers;
        lastWords = this.#lastWords;
      }
      lastWords[term] = log.add(lastWords[term]!, doc, pairs[from + 1]!, term);
    }
    this.#totalLength += countedLength(Math.min(count, LENGTH_MAX));
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
    this.#countDocs();
    for (const [id, term] of this.#names.entries()) yield [term, this.#docCounts[id]!];
  }

  /** For sealing: the terms by id, 0..termCount-1. Read-only. */
  get names(): readonly string[] {
    return this.#names;
  }

  /** For sealing in another thread: the words of all texts. */
  get words(): WordLog {
    return this.#words;
  }

  /** For sealing: words of all texts. */
  get wordCount(): number {
    return this.#words.count;
  }

  /** For sealing: adds the words `from` to `to - 1` to the counts of their terms, by id. */
  countWords(from: number, to: number, counts: Uint32Array): void {
    this.#words.countWords(from, to, counts);
  }

  /**
   * For sealing: writes (doc, position) of the words `from` to `to - 1` in reading order. Each goes to the index in
   * `pairs` that `next` has for its term, which is then advanced.
   */
  spreadWords(from: number, to: number, next: Uint32Array, pairs: Uint32Array): void {
    this.#words.spread(from, to, next, pairs);
  }

  #countDocs(): void {
    if (this.#docCounts.length < this.#names.length)
      this.#docCounts = grown(this.#docCounts, new Uint32Array(this.#lastWords.length));
    this.#words.countDocs(this.#counted, this.#docCounts);
    this.#counted = this.#words.count;
  }

  #list(term: string): UnrolledList | undefined {
    const id = this.#termId(term);
    if (id === undefined) return undefined;
    let list = this.#lists.get(id);
    if (list === undefined) {
      list = new UnrolledList();
      this.#lists.set(id, list);
    }
    if (this.#lastWords[id] !== list.lastWord) this.#unroll(id, list);
    return list;
  }

  /** Brings a list up to date. */
  #unroll(id: number, list: UnrolledList): void {
    const log = this.#words;
    const last = this.#lastWords[id]!;
    let words = list.wordCount;
    let docs = list.count;
    // All words of a doc are added together, so new words always begin with a new doc.
    for (let word = last, doc = -1; word !== list.lastWord; word = log.previous(word)) {
      words += 1;
      if (log.doc(word) !== doc) docs += 1;
      doc = log.doc(word);
    }
    list.reserve(docs, words);
    let posting = docs - 1;
    let doc = log.doc(last);
    list.starts[docs] = words;
    list.docs[posting] = doc;
    for (let word = last, at = words - 1; at >= list.wordCount; at--, word = log.previous(word)) {
      if (log.doc(word) !== doc) {
        list.close(posting--, at + 1, this.#lengths[doc]!);
        doc = log.doc(word);
        list.docs[posting] = doc;
      }
      list.positions[at] = log.position(word);
    }
    list.close(posting, list.wordCount, this.#lengths[doc]!);
    list.finish(docs, words, this.#docCount);
    list.lastWord = last;
  }

  /** The id of the term with that number, which is new to this tail or not. */
  #numberedId(number: number): number {
    const mask = this.#numbers.length / 2 - 1;
    const numbers = this.#numbers;
    for (let slot = number & mask; ; slot = (slot + 1) & mask) {
      const entered = numbers[slot * 2]!;
      if (entered === number + 1) return numbers[slot * 2 + 1]!;
      if (entered === 0) return this.#enterNumber(number);
    }
  }

  #enterNumber(number: number): number {
    const term = termNumbers.term(number);
    // Terms of an earlier epoch have no number any more.
    const known = this.#names.length > this.#numbersUsed ? this.#termId(term) : undefined;
    const id = known ?? this.#newTerm(term);
    if ((this.#numbersUsed + 1) * 4 > this.#numbers.length) {
      const { length } = this.#numbers;
      const entered = this.#numbers;
      this.#numbers = new Int32Array(length * 2);
      for (let at = 0; at < length; at += 2) if (entered[at] !== 0) this.#placeNumber(entered[at]!, entered[at + 1]!);
    }
    this.#placeNumber(number + 1, id);
    this.#numbersUsed += 1;
    return id;
  }

  #placeNumber(entered: number, id: number): void {
    const mask = this.#numbers.length / 2 - 1;
    let slot = (entered - 1) & mask;
    while (this.#numbers[slot * 2] !== 0) slot = (slot + 1) & mask;
    this.#numbers[slot * 2] = entered;
    this.#numbers[slot * 2 + 1] = id;
  }

  #forgetNumbers(): void {
    this.#numbers.fill(0);
    this.#numbersUsed = 0;
    this.#epoch = termNumbers.epoch;
  }

  /** The id of a term that this tail has. */
  #termId(term: string): number | undefined {
    for (let id = this.#termIds.size; id < this.#names.length; id++) this.#termIds.set(this.#names[id]!, id);
    return this.#termIds.get(term);
  }

  #newTerm(term: string): number {
    const id = this.#names.length;
    if (id === this.#lastWords.length) this.#lastWords = grown(this.#lastWords, new Int32Array(id * 2));
    this.#lastWords[id] = NO_WORD;
    this.#names.push(term);
    return id;
  }
}

/**
 * A term's postings and occurrences, filled from the back. The arrays grow in place while nobody else can be reading
 * them.
 */
class UnrolledList implements Postings, Occurrences {
  docs = new Uint32Array(0);
  frequencies = new Uint16Array(0);
  starts = new Uint32Array(1);
  positions = new Uint32Array(0);
  byDoc: Uint8Array | undefined = undefined;
  count = 0;
  wordCount = 0;
  /** The newest word of the term that is in the list. */
  lastWord = NO_WORD;
  maxFrequency = 0;
  minLength = LENGTH_MAX;

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
