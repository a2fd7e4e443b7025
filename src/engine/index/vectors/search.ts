// Plans a search: which vectors to compare with the query.
//
// A scan compares every vector that passes the filter, and is exact. A list of sketches, or a graph over them, selects
// candidates, which are then compared exactly; the filter removes some of them. A search therefore requests more
// candidates than it needs, the more so the more selective the filter is, and twice as many again while late candidates
// still get among the best. When the next round would cost more than a scan, it scans. So whenever `limit` vectors are
// allowed, that many are found.
import { VECTOR_CANDIDATES_MIN } from '../../base/limits.ts';
import { BestGrains, type VectorHit } from './best-grains.ts';
import type { GrainRows } from './grain-rows.ts';
import type { Near } from './near.ts';

export interface VectorFilter {
  /** The number of grains wanted. */
  readonly limit: number;
  /** Whether a grain may be found. Without it, and without a list, all may. */
  readonly allowed?: ((ordinal: number) => boolean) | undefined;
  /**
   * The grains that may be found, ascending; those without a vector are skipped. `allowed` still decides about each.
   */
  readonly allowedOrdinals?: Uint32Array | undefined;
  /** The approximate share of the memory's grains that is allowed, from 0 to 1. Without it, a search measures it. */
  readonly allowedShare?: number | undefined;
}

/** The data of a search: rows, and a source of candidates for the rows below `followed`. */
export interface Searched {
  readonly grains: GrainRows;
  readonly near: Near | undefined;
  readonly followed: number;
}

/** How a search weighs candidates against a scan. */
export interface SearchTuning {
  /** Minimum number of candidates, instead of VECTOR_CANDIDATES_MIN. */
  readonly candidatesMin?: number | undefined;
  /** Factor of their cost. */
  readonly costFactor: number;
}

export const SEARCH_TUNING: SearchTuning = { costFactor: 1 };

/** Rows in one call of the kernel. */
const BATCH_ROWS = 2_048;
/**
 * A search ends when less than this share of the best came late among the candidates. When sketches distinguish little
 * (sparse vectors, neighbours hardly nearer than others), this requests several times as many candidates. With ten
 * hits, none may be late.
 */
const LATE_SHARE_MAX = 0.1;
/** The cost of a row that is not adjacent to the others: the processor waits for its memory. */
const SCATTERED_COST = 3;
/** The cost of filtering one grain, in compared rows. */
const FILTERED_COST = 0.2;

/** The best grains of a unit vector, best first. */
export function searchRows(
  searched: Searched,
  query: Float32Array,
  filter: VectorFilter,
  tuning: SearchTuning = SEARCH_TUNING,
): VectorHit[] {
  const { grains, near } = searched;
  const { allowedOrdinals } = filter;
  const best = new BestGrains(filter.limit);
  if (filter.limit < 1 || grains.live === 0) return [];
  const listed = (allowedOrdinals?.length ?? grains.grains) / grains.grains;
  const share = Math.min(1, Math.max(0, filter.allowedShare ?? listed));
  const scanned = scanCost(grains, filter, share);
  const plan = { best, scanned, share, tuning };
  if (near !== undefined && near.count > 0 && searchNear(near, searched, query, filter, plan)) return best.hits();
  const scan = new Scan(grains, query, new BestGrains(filter.limit));
  if (allowedOrdinals !== undefined) scan.listed(allowedOrdinals, filter.allowed);
  else scan.range(0, grains.count, filter.allowed);
  return scan.finish().hits();
}

/** Exact cosines of `ordinals` (of each its best chunk), NaN when there is no vector. */
export function cosinesOf(grains: GrainRows, query: Float32Array, ordinals: ArrayLike<number>): Float64Array {
  const cosines = new Float64Array(ordinals.length).fill(Number.NaN);
  const places: number[] = [];
  const scan = new Scan(grains, query, {
    offer: (_, cosine) => {
      cosines[places[scanned++]!] = cosine;
    },
  });
  let scanned = 0;
  for (let i = 0; i < ordinals.length; i++) {
    const first = grains.firstRow(ordinals[i]!);
    if (first < 0) continue;
    places.push(i);
    scan.grain(first);
  }
  scan.finish();
  return cosines;
}

/** The cost of a scan, in sequentially compared rows, when this share of the grains passes the filter. */
function scanCost(grains: GrainRows, { allowed, allowedOrdinals }: VectorFilter, share: number): number {
  const left = share * grains.live;
  if (allowed === undefined && allowedOrdinals === undefined) return left;
  const looked = allowedOrdinals === undefined ? FILTERED_COST * grains.live : 0;
  return Math.min(SCATTERED_COST * left, grains.live) + looked;
}

/** True when `best` has the answer; false when a scan must find it. */
function searchNear(
  near: Near,
  { grains, followed }: Searched,
  query: Float32Array,
  filter: VectorFilter,
  plan: { readonly best: BestGrains; readonly tuning: SearchTuning; scanned: number; share: number },
): boolean {
  const { best, tuning } = plan;
  const isAllowed = predicateOf(filter);
  const wanted = Math.max(tuning.candidatesMin ?? VECTOR_CANDIDATES_MIN, near.candidatesPerHit * filter.limit);
  const compared = noRows(grains.count);
  let isTailScanned = false;
  let passed = 0;
  for (let count = wanted / Math.max(plan.share, 1e-6); ; count *= 2) {
    count = Math.ceil(count);
    if (near.costOf(count, plan.share) * tuning.costFactor > plan.scanned || count > near.count) return false;
    if (!isTailScanned) new Scan(grains, query, best).range(followed, grains.count, isAllowed).finish();
    isTailScanned = true;
    const scan = new Scan(grains, query, best);
    const rows = near.search(query, count);
    for (let at = 0; at < rows.length; at++) {
      const row = rows[at]!;
      if (grains.isDead(row)) continue;
      const first = grains.firstOf(row);
      const bit = 1 << (first & 31);
      if ((compared[first >>> 5]! & bit) !== 0 || isAllowed?.(grains.ordinalOf(first)) === false) continue;
      compared[first >>> 5]! |= bit;
      passed += 1;
      scan.grain(first, at);
    }
    scan.finish();
    // Nearly all of the best came early, so later candidates are unlikely to be better.
    if (best.isFull && best.placedFrom(count * near.settledPart) < LATE_SHARE_MAX * filter.limit) return true;
    if (filter.allowedShare !== undefined || isAllowed === undefined || plan.share < 1) continue;
    // The first round has measured the share that passes the filter.
    plan.share = Math.max(passed, 1) / count;
    plan.scanned = scanCost(grains, filter, plan.share);
    count = Math.max(count, wanted / plan.share / 2);
  }
}

/** A bit for each compared grain, at its first row. Kept between searches: it lies outside V8's heap. */
let comparedRows = new Uint32Array(0);

/** Room for the bits of `count` rows, none of which is set. */
function noRows(count: number): Uint32Array {
  const words = (count >>> 5) + 1;
  if (comparedRows.length < words) comparedRows = new Uint32Array(2 * words);
  else comparedRows.fill(0, 0, words);
  return comparedRows;
}

function predicateOf({ allowed, allowedOrdinals }: VectorFilter): VectorFilter['allowed'] {
  if (allowedOrdinals === undefined) return allowed;
  return (ordinal) => includes(allowedOrdinals, ordinal) && allowed?.(ordinal) !== false;
}

function includes(ascending: Uint32Array, value: number): boolean {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ascending[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return ascending[low] === value;
}

const batchRows = new Uint32Array(BATCH_ROWS);
const batchPlaces = new Uint32Array(BATCH_ROWS);
const batchScores = new Float32Array(BATCH_ROWS);

/** Compares grains with a query in batches of rows. Reports each grain's best chunk, in the given order. */
class Scan<Sink extends { offer(ordinal: number, cosine: number, place: number): void }> {
  readonly #grains: GrainRows;
  readonly #query: Float32Array;
  readonly #sink: Sink;
  #count = 0;
  #ordinal = -1;
  #cosine = 0;
  #place = 0;

  constructor(grains: GrainRows, query: Float32Array, sink: Sink) {
    this.#grains = grains;
    this.#query = query;
    this.#sink = sink;
  }

  /** Adds the grains with rows from `from` to `to` - 1; a grain is inside with all its rows or none. */
  range(from: number, to: number, allowed: VectorFilter['allowed']): this {
    const grains = this.#grains;
    let ordinal = -1;
    let isAllowed = true;
    for (let row = from; row < to; row++) {
      if (grains.isDead(row)) continue;
      const of = grains.ordinalOf(row);
      if (of !== ordinal) {
        ordinal = of;
        isAllowed = allowed === undefined || allowed(of);
      }
      if (isAllowed) this.#row(row, 0);
    }
    return this;
  }

  listed(ordinals: Uint32Array, allowed: VectorFilter['allowed']): this {
    const grains = this.#grains;
    for (const first of grains.firstRowsOf(ordinals))
      if (allowed === undefined || allowed(grains.ordinalOf(first))) this.grain(first);
    return this;
  }

  /** Adds the grain whose first row is `first`; `place` is reported with its cosine. */
  grain(first: number, place = 0): void {
    const end = this.#grains.endOf(first);
    for (let row = first; row < end; row++) this.#row(row, place);
  }

  finish(): Sink {
    this.#compare();
    this.#tell();
    return this.#sink;
  }

  #row(row: number, place: number): void {
    batchPlaces[this.#count] = place;
    batchRows[this.#count++] = row;
    if (this.#count === BATCH_ROWS) this.#compare();
  }

  #compare(): void {
    const grains = this.#grains;
    const count = this.#count;
    this.#count = 0;
    if (count === 0) return;
    grains.rows.score(this.#query, batchRows, count, batchScores);
    for (let i = 0; i < count; i++) {
      const ordinal = grains.ordinalOf(batchRows[i]!);
      const cosine = batchScores[i]!;
      if (ordinal === this.#ordinal) {
        if (cosine > this.#cosine) this.#cosine = cosine;
        continue;
      }
      this.#tell();
      this.#ordinal = ordinal;
      this.#cosine = cosine;
      this.#place = batchPlaces[i]!;
    }
  }

  #tell(): void {
    if (this.#ordinal >= 0) this.#sink.offer(this.#ordinal, this.#cosine, this.#place);
    this.#ordinal = -1;
  }
}
