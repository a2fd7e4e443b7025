// A term's postings in one part while a search walks them, from the newest doc to the oldest.
import { type LengthNorms, termScore } from './bm25.ts';
import { lowerBound } from './tail.ts';
import type { Postings, TextPart } from './types.ts';

/** The list of each term in the part, if there is one. */
export function termListsOf(
  text: TextPart,
  terms: readonly string[],
  { inverseFrequencies, norms }: { readonly inverseFrequencies: Float64Array; readonly norms: LengthNorms },
): (TermList | undefined)[] {
  return terms.map((term, i) => {
    const postings = text.postings(term);
    if (postings === undefined) return undefined;
    const inverseFrequency = inverseFrequencies[i]!;
    const bound = termScore(inverseFrequency, postings.maxFrequency, norms.of(postings.minLength));
    return new TermList(postings, inverseFrequency, norms, bound);
  });
}

const ONCE_LENGTHS = 128;
const NO_SCORES = new Float64Array(0);

/** A term's postings in one part, and the position of the walk. */
export class TermList {
  readonly docs: Uint32Array;
  readonly frequencies: Uint16Array;
  readonly count: number;
  readonly inverseFrequency: number;
  readonly bound: number;
  readonly #norms: LengthNorms;
  readonly #byDoc: Uint8Array | undefined;
  #once: Float64Array | undefined;
  /** The postings before this index were not walked yet. */
  at: number;

  constructor(
    { docs, frequencies, count, byDoc }: Postings,
    inverseFrequency: number,
    norms: LengthNorms,
    bound: number,
  ) {
    this.docs = docs;
    this.frequencies = frequencies;
    this.count = count;
    this.at = count;
    this.#byDoc = byDoc;
    this.inverseFrequency = inverseFrequency;
    this.#norms = norms;
    this.bound = bound;
  }

  /** The newest doc not walked yet; -1 at the end. */
  doc(): number {
    return this.at > 0 ? this.docs[this.at - 1]! : -1;
  }

  /**
   * Scores of a single occurrence by length, when the list is long enough to make it worthwhile: most frequencies are
   * 1.
   */
  scoresOfOne(): Float64Array {
    if (this.#once === undefined) {
      this.#once = this.count < 1_024 ? NO_SCORES : new Float64Array(ONCE_LENGTHS);
      for (let length = 0; length < this.#once.length; length++) {
        this.#once[length] = termScore(this.inverseFrequency, 1, this.#norms.of(length));
      }
    }
    return this.#once;
  }

  /** Skips the docs newer than `doc`. */
  seek(doc: number): void {
    if (this.#byDoc === undefined) this.at = lowerBoundBefore(this.docs, doc + 1, this.at);
  }

  /**
   * Adds the term's score in a doc that was not skipped, with its length, to `scores[at]`. Returns whether the doc contains
   * the term.
   */
  addScore(scores: Float64Array, at: number, doc: number, length: number): boolean {
    const frequency = this.#frequencyIn(doc);
    if (frequency === 0) return false;
    const once = this.scoresOfOne();
    scores[at]! +=
      frequency === 1 && length < once.length
        ? once[length]!
        : termScore(this.inverseFrequency, frequency, this.#norms.of(length));
    return true;
  }

  #frequencyIn(doc: number): number {
    if (this.#byDoc !== undefined) {
      // A doc that was added after the list was unrolled lies beyond the array, and does not contain the term.
      const frequency = this.#byDoc[doc] ?? 0;
      if (frequency < 255) return frequency;
    }
    const at = lowerBoundBefore(this.docs, doc, this.at);
    return at === this.at || this.docs[at] !== doc ? 0 : this.frequencies[at]!;
  }
}

/** First index below `end` whose doc is at least `doc`, or `end`; searches backwards in growing steps. */
function lowerBoundBefore(docs: Uint32Array, doc: number, end: number): number {
  let step = 1;
  let high = end;
  while (high >= step && docs[high - step]! >= doc) {
    high -= step;
    step *= 2;
  }
  return lowerBound(docs, doc, Math.max(0, high - step), high);
}
