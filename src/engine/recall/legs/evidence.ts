// Measures how much the memory knows about a query. Scores cannot tell, because they are normalised by the best hit: a
// bad best hit has score 1 too. Evidence is absolute: the share of the query's idf that a grain holds, and the raw
// cosine.
import { inverseFrequenciesOf, type TextStatistics } from '../../index/text/search.ts';

/** The evidence of one hit. */
export interface Evidence {
  /** Indexes of the query terms that the grain holds. */
  readonly held: readonly number[];
  readonly cosine?: number | undefined;
}

/** Each term's share of the query's idf; the sum is 1. Includes terms that no grain holds. */
export type TermShares = readonly number[];

/** Coverage is `full` if the hits together hold at least this share of the query's idf. */
export const COVERAGE_FULL = 0.7;

/**
 * If no word of the query matches and the best cosine is below this, the memory counts as knowing nothing. Measured
 * with the built-in encoder on three chats: the best cosine is .24 to .47 for unrelated queries and .36 to .78 for
 * answerable questions, so no bound separates them completely.
 */
const COVERAGE_PARTLY_COSINE = 0.5;

export function termShares(terms: readonly string[], statistics: TextStatistics): TermShares {
  const weights = [...inverseFrequenciesOf(terms, statistics)];
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => (all === 0 ? 0 : weight / all));
}

/** Evidence of a hit, 0 to 1. Minimum scores are compared with this. */
export function evidenceOf({ held, cosine = 0 }: Evidence, shares: TermShares): number {
  return Math.min(1, Math.max(sharesOf(held, shares), cosine));
}

/**
 * Coverage from the terms that the hits hold together, or from their best cosine. Some grain always has a positive
 * cosine, so a low cosine without a matching word counts as none.
 */
export function coverageOf(hits: readonly Evidence[], shares: TermShares): 'none' | 'partial' | 'full' {
  const words = sharesOf(new Set(hits.flatMap(({ held }) => held)), shares);
  const cosine = hits.reduce((best, hit) => Math.max(best, hit.cosine ?? 0), 0);
  if (words === 0 && cosine < COVERAGE_PARTLY_COSINE) return 'none';
  return Math.max(words, cosine) < COVERAGE_FULL ? 'partial' : 'full';
}

function sharesOf(terms: Iterable<number>, shares: TermShares): number {
  let sum = 0;
  for (const term of terms) sum += shares[term] ?? 0;
  return sum;
}
