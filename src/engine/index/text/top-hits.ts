// The best `limit` hits seen so far, in a total order: higher score, then later creation, then higher ordinal. So they
// are the same whatever way the docs lie in parts. The scores alone are kept in a heap; documents are written
// down as they come, and sorted out at the end: most comparisons are of equal scores, and most of those never matter.
import { SCORE_STEP } from './bm25.ts';
import type { SearchPart } from './search-part.ts';

/** A document found: index of its part, its doc there, and its BM25 score. */
export interface TextHit {
  readonly part: number;
  readonly doc: number;
  readonly score: number;
}

export class TopHits {
  /** A document that scores less cannot be among the best any more. */
  least = Number.NEGATIVE_INFINITY;
  /** The worst score of the best ones, once there are enough of them. */
  #threshold = Number.NEGATIVE_INFINITY;
  readonly #limit: number;
  readonly #parts: readonly SearchPart[];
  /** The best scores, the worst of them first. */
  readonly #heap: Float64Array;
  #size = 0;
  readonly #scores: Float64Array;
  readonly #partOf: Int32Array;
  readonly #docOf: Int32Array;
  #count = 0;
  /** Time and ordinal of the oldest doc that was offered a place, while docs come from the newest to the oldest. */
  #oldestMs = Number.POSITIVE_INFINITY;
  #oldestOrdinal = Number.POSITIVE_INFINITY;

  constructor(limit: number, parts: readonly SearchPart[]) {
    this.#limit = limit;
    this.#parts = parts;
    this.#heap = new Float64Array(limit);
    const room = limit * 4 + 256;
    this.#scores = new Float64Array(room);
    this.#partOf = new Int32Array(room);
    this.#docOf = new Int32Array(room);
  }

  /** The docs oldest..newest of a part come next. Where all before were newer, an equal score does not suffice. */
  begin(part: number, oldest: number, newest: number): void {
    const { createdAtMs, ordinals, chronological } = this.#parts[part]!;
    const inOrder =
      (createdAtMs === undefined || (chronological === true && createdAtMs[newest]! <= this.#oldestMs)) &&
      (ordinals === undefined || ordinals[newest]! <= this.#oldestOrdinal);
    // Out of order once: docs before it may be older than any that come.
    this.#oldestMs = inOrder ? (createdAtMs?.[oldest] ?? this.#oldestMs) : Number.NEGATIVE_INFINITY;
    this.#oldestOrdinal = inOrder ? (ordinals?.[oldest] ?? this.#oldestOrdinal) : -1;
    this.least = inOrder ? this.#threshold + SCORE_STEP : this.#threshold;
  }

  /** Takes a document that scores at least `least`. */
  offer(score: number, part: number, doc: number): void {
    if (this.#count === this.#scores.length) this.#compact();
    const at = this.#count++;
    this.#scores[at] = score;
    this.#partOf[at] = part;
    this.#docOf[at] = doc;
    if (this.#size < this.#limit) {
      this.#rise(this.#size++, score);
      if (this.#size < this.#limit) return;
    } else if (score > this.#threshold) {
      this.#sink(score);
    } else {
      return;
    }
    this.#threshold = this.#heap[0]!;
    if (this.#threshold > this.least) this.least = this.#threshold;
  }

  /** Best first. */
  hits(): TextHit[] {
    const hits: TextHit[] = [];
    for (let i = 0; i < this.#count; i++) {
      if (this.#scores[i]! < this.#threshold) continue;
      hits.push({ part: this.#partOf[i]!, doc: this.#docOf[i]!, score: this.#scores[i]! });
    }
    hits.sort((a, b) => b.score - a.score || this.#newerFirst(a.part, a.doc, b.part, b.doc));
    if (hits.length > this.#limit) hits.length = this.#limit;
    return hits;
  }

  /** Drops what is out: less than `limit` are above the threshold, and of those on it the `limit` newest stay. */
  #compact(): void {
    const equal: { part: number; doc: number }[] = [];
    let kept = 0;
    for (let i = 0; i < this.#count; i++) {
      const score = this.#scores[i]!;
      if (score < this.#threshold) continue;
      const part = this.#partOf[i]!;
      const doc = this.#docOf[i]!;
      if (score === this.#threshold) equal.push({ part, doc });
      else this.#put(kept++, score, part, doc);
    }
    equal.sort((a, b) => this.#newerFirst(a.part, a.doc, b.part, b.doc));
    for (const { part, doc } of equal.slice(0, this.#limit)) this.#put(kept++, this.#threshold, part, doc);
    this.#count = kept;
  }

  #put(at: number, score: number, part: number, doc: number): void {
    this.#scores[at] = score;
    this.#partOf[at] = part;
    this.#docOf[at] = doc;
  }

  #newerFirst(partA: number, docA: number, partB: number, docB: number): number {
    const a = this.#parts[partA]!;
    const b = this.#parts[partB]!;
    if (a.createdAtMs !== undefined && b.createdAtMs !== undefined) {
      const difference = b.createdAtMs[docB]! - a.createdAtMs[docA]!;
      if (difference !== 0) return difference;
    }
    if (a.ordinals !== undefined && b.ordinals !== undefined) return b.ordinals[docB]! - a.ordinals[docA]!;
    return partB - partA || docB - docA;
  }

  #rise(at: number, score: number): void {
    const heap = this.#heap;
    while (at > 0) {
      const parent = (at - 1) >>> 1;
      if (heap[parent]! <= score) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = score;
  }

  #sink(score: number): void {
    const heap = this.#heap;
    const size = this.#size;
    let at = 0;
    for (let child = 1; child < size; child = 2 * at + 1) {
      if (child + 1 < size && heap[child + 1]! < heap[child]!) child++;
      if (heap[child]! >= score) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = score;
  }
}
