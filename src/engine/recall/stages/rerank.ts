// Reorders the best hits by a model. The model's numbers are on another scale, so only its order is used: its first hit
// gets the best of the hits' scores, its second the next one, and so on.

import { ask } from '../../asking/asking.ts';
import { assert } from '../../base/assert.ts';
import type { StageHit } from './hit.ts';
import type { Recalling } from './questions.ts';

/** Number of top hits to reorder at most; the rest keep their places. A model may order fewer. */
export const RERANK_HITS_MAX = 50;

/** Input and output are in order of score. A hit with a changed place gets a rank score. */
export function* rerank(hits: readonly StageHit[]): Recalling<StageHit[]> {
  const best = hits.slice(0, RERANK_HITS_MAX);
  if (best.length < 2) return [...hits];
  const { order } = yield* ask('rerank', { hits: best });
  if (order === undefined) return [...hits];
  assert(order.length === best.length && new Set(order).size === order.length, 'an order names each hit once');
  const scores = distinct(best.map(({ score }) => score));
  const placed = order.map((from, to): StageHit => {
    const hit = best[from];
    assert(hit !== undefined, 'an order names hits that were given');
    const score = scores[to]!;
    return from === to && hit.score === score ? hit : placedAt(hit, score);
  });
  return [...placed, ...hits.slice(best.length)];
}

/** Equal scores become different ones: later stages order equal hits by age, and would undo what the model said. */
function distinct(scores: readonly number[]): readonly number[] {
  let last = Number.POSITIVE_INFINITY;
  return scores.map((score) => {
    last = score < last ? score : last - Math.max(Math.abs(last), 1) * TIE;
    return last;
  });
}

/** Smaller than a difference of scores that means anything, and larger than the rounding of a sum of terms. */
const TIE = 1e-9;

function placedAt(hit: StageHit, score: number): StageHit {
  return { ...hit, score, breakdown: { ...hit.breakdown, base: score, rrf: score, reranked: true, changes: {} } };
}
