// A score that the best documents of a search reach at least, known before the search: it is taken from a few hundred
// documents with the rarest words. With it, the search passes over most documents that hold only frequent words. Any
// documents give a valid floor; those with rare words give a high one.
import { type LengthNorms, termScore } from './bm25.ts';
import { ScoreHeap } from './score-heap.ts';
import type { SearchPart } from './search-part.ts';
import type { TermList } from './term-list.ts';

/** Documents that are scored for each wanted one. */
const SCORED_A_HIT = 4;
/** Documents that are looked at for each that is scored, where a filter allows some. */
const LOOKED_AT_A_SCORED = 8;
/** Shorter lists are walked sooner than a floor is found. */
const POSTINGS_A_SCORED = 4;

/** By part, then by term of the query. */
type Lists = readonly (readonly (TermList | undefined)[])[];

/**
 * At least `limit` documents that can be found score this or more; -Infinity when no such score is known. The query has
 * no clauses, and the walk of the lists has not begun.
 */
export function scoreFloor(parts: readonly SearchPart[], lists: Lists, norms: LengthNorms, limit: number): number {
  // The lists of a part where nothing can be found are left out.
  const terms = Math.max(0, ...lists.map((of) => of.length));
  const counts = Array.from({ length: terms }, (_, term) => lists.reduce((sum, of) => sum + (of[term]?.count ?? 0), 0));
  let left = SCORED_A_HIT * limit;
  const postings = counts.reduce((sum, count) => sum + count, 0);
  if (postings < POSTINGS_A_SCORED * left) return Number.NEGATIVE_INFINITY;
  const rarestFirst = [...counts.keys()].sort((a, b) => counts[a]! - counts[b]!);
  const ranked = lists.map((of) => rarestFirst.map((term) => of[term]));
  const best = new ScoreHeap(limit);
  for (let rank = 0; rank < rarestFirst.length && left > 0; rank++)
    for (let part = parts.length - 1; part >= 0 && left > 0; part--)
      left -= scoreDocs(parts[part]!, ranked[part]!, { rank, norms, best, most: left });
  return best.lowest;
}

interface Scoring {
  /** The list whose docs are scored. Those of the lists before it are scored already. */
  readonly rank: number;
  readonly norms: LengthNorms;
  readonly best: ScoreHeap;
  readonly most: number;
}

/** The score of one doc. */
const score = new Float64Array(1);

/** Scores the newest docs of a list. Returns how many allowed ones it looked at. */
function scoreDocs(
  { text: { lengths }, allowed, removed }: SearchPart,
  lists: readonly (TermList | undefined)[],
  { rank, norms, best, most }: Scoring,
): number {
  const own = lists[rank];
  if (own === undefined) return 0;
  const { docs, frequencies, count, inverseFrequency } = own;
  const end = Math.max(0, count - most * (allowed === undefined ? 1 : LOOKED_AT_A_SCORED));
  let looked = 0;
  for (let i = count - 1; i >= end && looked < most; i--) {
    const doc = docs[i]!;
    if (allowed !== undefined && (allowed.words[doc >>> 5]! & (1 << (doc & 31))) === 0) continue;
    looked += 1;
    if (removed?.(doc) === true) continue;
    const length = lengths[doc]!;
    score[0] = termScore(inverseFrequency, frequencies[i]!, norms.of(length));
    let isScored = false;
    for (let other = 0; other < lists.length && !isScored; other++) {
      if (other === rank) continue;
      isScored = lists[other]?.addScore(score, 0, doc, length) === true && other < rank;
    }
    if (!isScored) best.add(score, 0);
  }
  return looked;
}
