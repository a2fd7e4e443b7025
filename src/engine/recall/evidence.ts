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

/** 0 to 1: what a minimum score is to be held against. */
export function evidenceOf({ matched, cosine = 0 }: Evidence): number {
  return Math.min(1, Math.max(matched, cosine));
}

/** By the best of the hits. */
export function coverageOf(hits: readonly Evidence[]): 'none' | 'partial' | 'full' {
  const best = hits.reduce((most, hit) => Math.max(most, evidenceOf(hit)), 0);
  if (best <= 0) return 'none';
  return best < COVERAGE_FULL ? 'partial' : 'full';
}
