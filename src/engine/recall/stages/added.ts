// Hits that a stage adds behind those that were found.
import type { RecallSource } from '../../calls/recall.ts';
import type { StageHit } from './hit.ts';

/**
 * A found hit with a score of at most `cap`, told by rank: it came from another query, whose scores are normalised over
 * other hits.
 */
export function capped(hit: StageHit, cap: number, recallSource: RecallSource): StageHit {
  const base = Math.max(0, Math.min(hit.score, cap));
  return { ...hit, score: base, breakdown: { base, rrf: base, changes: {} }, recallSource };
}

/** What a minimum is held against. */
export function strengthOf({ strength, score }: StageHit): number {
  return strength ?? score;
}

export function lowestScore(hits: readonly StageHit[]): number {
  return hits.reduce((least, { score }) => Math.min(least, score), 1);
}
