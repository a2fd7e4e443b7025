// Hits that a stage adds after the found ones.
import type { RecallSource } from '../../calls/recall.ts';
import type { StageHit } from './hit.ts';

/**
 * Caps the score of a hit from another query at `cap`. Its score is marked as a rank score, because that query's scores
 * are normalised over other hits.
 */
export function capped(hit: StageHit, cap: number, recallSource: RecallSource): StageHit {
  const base = Math.max(0, Math.min(hit.score, cap));
  return { ...hit, score: base, breakdown: { base, rrf: base, changes: {} }, recallSource };
}

/** The value that a minimum is compared with. */
export function strengthOf({ strength, score }: StageHit): number {
  return strength ?? score;
}

export function lowestScore(hits: readonly StageHit[]): number {
  return hits.reduce((least, { score }) => Math.min(least, score), 1);
}
