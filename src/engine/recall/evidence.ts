// How much of a query the memory really knows. Scores are normalised by the best that was found, so they say nothing of
// it: the best of nothing has 1, too. Evidence is not: the share of the query's idf that a grain holds, and the raw cosine.

/** What is judged of one hit. */
export interface Evidence {
  /** Share of the query's idf whose terms the grain holds. */
  readonly matched: number;
  readonly cosine?: number | undefined;
}

/** Best share of the query's idf in one grain below which the memory knows the topic only partly. */
export const COVERAGE_FULL = 0.7;

/**
 * Best cosine below which a memory that holds none of the query's words is taken to know nothing of it. With the built-in
 * encoder the best grain of three chats is at .24 to .47 for words that mean nothing there, at .36 to .78 for questions
 * that it answers: no bound tells all of them apart.
 */
const COVERAGE_PARTLY_COSINE = 0.5;

/** 0 to 1: what a minimum score is to be held against. */
export function evidenceOf({ matched, cosine = 0 }: Evidence): number {
  return Math.min(1, Math.max(matched, cosine));
}

/** By the best of the hits. There is always one that is a little alike: where no word was found, that alone is nothing. */
export function coverageOf(hits: readonly Evidence[]): 'none' | 'partial' | 'full' {
  if (!hits.some(({ matched, cosine = 0 }) => matched > 0 || cosine >= COVERAGE_PARTLY_COSINE)) return 'none';
  const best = hits.reduce((most, hit) => Math.max(most, evidenceOf(hit)), 0);
  return best < COVERAGE_FULL ? 'partial' : 'full';
}
