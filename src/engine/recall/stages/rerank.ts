// A model's order of the best hits. Its own numbers are of no scale that anything else here has, so it only says who takes
// which place: the best of them gets the best score that any of them had, and so on.

import { ask } from '../../asking/asking.ts';
import { assert } from '../../base/assert.ts';
import type { StageHit } from './hit.ts';
import type { Recalling } from './questions.ts';

/** Hits that are put in order; those behind them keep their places. */
export const RERANK_HITS_MAX = 30;

/** Hits come in order of score; they leave in order of score. A hit that changed its place is accounted for by its rank. */
export function* rerank(hits: readonly StageHit[]): Recalling<StageHit[]> {
  const best = hits.slice(0, RERANK_HITS_MAX);
  if (best.length < 2) return [...hits];
  const { order } = yield* ask('rerank', { hits: best });
  if (order === undefined) return [...hits];
  assert(order.length === best.length && new Set(order).size === order.length, 'an order names each hit once');
  const placed = order.map((from, to): StageHit => {
    const hit = best[from];
    assert(hit !== undefined, 'an order names hits that were given');
    return from === to ? hit : placedAt(hit, best[to]!.score);
  });
  return [...placed, ...hits.slice(best.length)];
}

function placedAt(hit: StageHit, score: number): StageHit {
  return { ...hit, score, breakdown: { ...hit.breakdown, base: score, rrf: score, reranked: true, changes: {} } };
}
