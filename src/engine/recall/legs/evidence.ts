// How much of a query the memory really knows. Scores are normalised by the best that was found, so they say nothing of
// it: the best of nothing has 1, too. Evidence is not: the share of the query's idf that a grain holds, and the raw cosine.
import { inverseFrequenciesOf, type TextStatistics } from '../../index/text/search.ts';

/** What is judged of one hit. */
export interface Evidence {
  /** Terms of the query that the grain holds, by index. */
  readonly held: readonly number[];
  readonly cosine?: number | undefined;
}

/** The share of the query's idf that each of its terms has: together 1. A term that no grain has counts in full. */
export type TermShares = readonly number[];

/** Share of the query's idf in the hits together below which the memory knows the topic only partly. */
export const COVERAGE_FULL = 0.7;

/**
 * Best cosine below which a memory that holds none of the query's words is taken to know nothing of it. With the built-in
 * encoder the best grain of three chats is at .24 to .47 for words that mean nothing there, at .36 to .78 for questions
 * that it answers: no bound tells all of them apart.
 */
const COVERAGE_PARTLY_COSINE = 0.5;

export function termShares(terms: readonly string[], statistics: TextStatistics): TermShares {
  const weights = [...inverseFrequenciesOf(terms, statistics)];
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => (all === 0 ? 0 : weight / all));
}

/** 0 to 1: what a minimum score is to be held against. */
export function evidenceOf({ held, cosine = 0 }: Evidence, shares: TermShares): number {
  return Math.min(1, Math.max(sharesOf(held, shares), cosine));
}

/**
 * By the terms that the hits hold together, or by the best of their cosines. There is always one that is a little alike: where
 * no word was found, that alone is nothing.
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
