// Measures how much the memory knows about a query. Scores cannot tell, because they are normalised by the best hit: a
// bad best hit has score 1 too. Evidence is absolute: the share of the query's idf that a grain holds, and the raw
// cosine.
import { inverseFrequenciesOf, type TextStatistics } from '../../index/text/search.ts';
import { KNOWN_MIN, knownOf } from './relevance.ts';

/** The evidence of one hit. */
export interface Evidence {
  /** Indexes of the query terms that the grain holds. */
  readonly matchedTerms: readonly number[];
  readonly cosine?: number | undefined;
}

/** Each term's share of the query's idf; the sum is 1. Includes terms that no grain holds. */
export type TermShares = readonly number[];

/** Coverage is `full` if the hits together hold at least this share of the query's idf. */
export const COVERAGE_FULL = 0.7;

export function termShares(terms: readonly string[], statistics: TextStatistics): TermShares {
  const weights = [...inverseFrequenciesOf(terms, statistics)];
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => (all === 0 ? 0 : weight / all));
}

/** Evidence of a hit, 0 to 1. */
export function evidenceOf({ matchedTerms, cosine = 0 }: Evidence, shares: TermShares): number {
  return Math.min(1, Math.max(shareOf(matchedTerms, shares), cosine));
}

/**
 * Coverage by the hits together. `none`: the subject of the query is unknown, by the words of the best hit and by the best
 * cosine (relevance.ts). Some grain always has a positive cosine, and most questions share a word with some grain.
 */
export function coverageOf(hits: readonly Evidence[], shares: TermShares): 'none' | 'partial' | 'full' {
  let bestWords = 0;
  let bestCosine: number | undefined;
  for (const { matchedTerms, cosine } of hits) {
    bestWords = Math.max(bestWords, shareOf(matchedTerms, shares));
    if (cosine !== undefined) bestCosine = Math.max(bestCosine ?? -1, cosine);
  }
  if (knownOf({ words: bestWords, cosine: bestCosine }) < KNOWN_MIN) return 'none';
  const together = shareOf(new Set(hits.flatMap(({ matchedTerms }) => matchedTerms)), shares);
  return Math.max(together, bestCosine ?? 0) < COVERAGE_FULL ? 'partial' : 'full';
}

/** The share of the query's idf that some of its terms have. */
export function shareOf(terms: Iterable<number>, shares: TermShares): number {
  let sum = 0;
  for (const term of terms) sum += shares[term] ?? 0;
  return sum;
}
