// The best `limit` hits so far, in a total order: higher score, then later creation, then higher ordinal. The result is
// the same however docs are distributed over parts. Only scores are kept in a heap; documents are recorded as they come
// and sorted at the end, because most comparisons are of equal scores and most of those never matter.
import { SCORE_STEP } from './bm25.ts';
import { ScoreHeap } from './score-heap.ts';
import type { SearchPart } from './search-part.ts';

/** A document found: the index of its part, its doc there, and its BM25 score. */
export interface TextHit {
  readonly part: number;
  readonly doc: number;
  readonly score: number;
}

export class TopHits {
  /** A document with a lower score cannot be among the best any more. */
  least = Number.NEGATIVE_INFINITY;
  readonly #limit: number;
  readonly #parts: readonly SearchPart[];
  readonly #best: ScoreHeap;
  /** Known from the start: so many documents reach this score that none below it is among the best. */
  readonly #floor: number;
  readonly #scores: Float64Array;
  readonly #partOf: Int32Array;
  readonly #docOf: Int32Array;
  #count = 0;
  /** Time and ordinal of the oldest doc offered so far, as long as docs come from newest to oldest. */
  #oldestMs = Number.POSITIVE_INFINITY;
  #oldestOrdinal = Number.POSITIVE_INFINITY;

  constructor(limit: number, parts: readonly SearchPart[], floor: number = Number.NEGATIVE_INFINITY) {
    this.#limit = limit;
    this.#parts = parts;
    this.#best = new ScoreHeap(limit);
    this.#floor = floor;
    const room = limit * 4 + 256;
    this.#scores = new Float64Array(room);
    this.#partOf = new Int32Array(room);
    this.#docOf = new Int32Array(room);
  }

  /** Announces the docs oldest..newest of a part. When all earlier docs were newer, an equal score is not enough. */
  begin(part: number, oldest: number, newest: number): void {
    const { createdAtMs, ordinals, chronological } = this.#parts[part]!;
    const inOrder =
      (createdAtMs === undefined || (chronological === true && createdAtMs[newest]! <= this.#oldestMs)) &&
      (ordinals === undefined || ordinals[newest]! <= this.#oldestOrdinal);
    // Out of order: earlier docs may be older than later ones.
    this.#oldestMs = inOrder ? (createdAtMs?.[oldest] ?? this.#oldestMs) : Number.NEGATIVE_INFINITY;
    this.#oldestOrdinal = inOrder ? (ordinals?.[oldest] ?? this.#oldestOrdinal) : -1;
    const { lowest } = this.#best;
    this.least = Math.max(this.#floor, inOrder ? lowest + SCORE_STEP : lowest);
  }

  /** Takes a document whose score, `scores[from]`, is at least `least`. */
  offer(scores: Float64Array, from: number, part: number, doc: number): void {
    if (this.#count === this.#scores.length) this.#compact();
    const at = this.#count++;
    this.#scores[at] = scores[from]!;
    this.#partOf[at] = part;
    this.#docOf[at] = doc;
    this.#best.add(scores, from);
    const { lowest } = this.#best;
    if (lowest > this.least) this.least = lowest;
  }

  /** Best first. */
  hits(): TextHit[] {
    const scores = this.#scores;
    const places: number[] = [];
    const { lowest } = this.#best;
    for (let i = 0; i < this.#count; i++) if (scores[i]! >= lowest) places.push(i);
    places.sort((a, b) => (scores[a]! > scores[b]! ? -1 : scores[a]! < scores[b]! ? 1 : this.#newerFirst(a, b)));
    if (places.length > this.#limit) places.length = this.#limit;
    return places.map((at): TextHit => ({ part: this.#partOf[at]!, doc: this.#docOf[at]!, score: scores[at]! }));
  }

  /** Drops hits that are out: fewer than `limit` are above the threshold, and of those at it the newest stay. */
  #compact(): void {
    const { lowest } = this.#best;
    const equal: number[] = [];
    for (let i = 0; i < this.#count; i++) if (this.#scores[i]! === lowest) equal.push(i);
    equal.sort((a, b) => this.#newerFirst(a, b));
    if (equal.length > this.#limit) equal.length = this.#limit;
    const newest = equal.map((at) => ({ part: this.#partOf[at]!, doc: this.#docOf[at]! }));
    let kept = 0;
    for (let i = 0; i < this.#count; i++)
      if (this.#scores[i]! > lowest) this.#put(kept++, this.#scores[i]!, this.#partOf[i]!, this.#docOf[i]!);
    for (const { part, doc } of newest) this.#put(kept++, lowest, part, doc);
    this.#count = kept;
  }

  #put(at: number, score: number, part: number, doc: number): void {
    this.#scores[at] = score;
    this.#partOf[at] = part;
    this.#docOf[at] = doc;
  }

  /** Orders the documents at two places: negative when the first one goes first. */
  #newerFirst(atA: number, atB: number): number {
    const partA = this.#partOf[atA]!;
    const partB = this.#partOf[atB]!;
    const docA = this.#docOf[atA]!;
    const docB = this.#docOf[atB]!;
    const a = this.#parts[partA]!;
    const b = this.#parts[partB]!;
    if (a.createdAtMs !== undefined && b.createdAtMs !== undefined) {
      const difference = b.createdAtMs[docB]! - a.createdAtMs[docA]!;
      if (difference !== 0) return difference;
    }
    if (a.ordinals !== undefined && b.ordinals !== undefined) return b.ordinals[docB]! - a.ordinals[docA]!;
    return partB - partA || docB - docA;
  }
}
