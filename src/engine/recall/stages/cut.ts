// Stages that decide which hits are answered: a minimum, namespaces, and the limit, which is always kept.
import { strengthOf } from './added.ts';
import { compareHits, type StageHit } from './hit.ts';

/** Drops hits below the minimum, but for those that structure alone found. */
export function dropWeak(hits: readonly StageHit[], minimum: number): StageHit[] {
  return hits.filter((hit) => !hit.judged || strengthOf(hit) >= minimum);
}

/** Keeps the hits of the namespaces with the best mean score; among equals of those that come first. */
export function keepBestNamespaces(hits: readonly StageHit[], count: number): StageHit[] {
  const namespaces = byNamespace(hits);
  if (namespaces.size <= count) return [...hits];
  const best = [...namespaces]
    .map(([namespace, held]) => ({ namespace, mean: held.reduce((sum, { score }) => sum + score, 0) / held.length }))
    // Stable: what comes first stays first.
    .sort((a, b) => b.mean - a.mean)
    .slice(0, count);
  const kept = new Set(best.map(({ namespace }) => namespace));
  return hits.filter(({ grain }) => kept.has(grain.namespace));
}

export interface Cut {
  readonly limit: number;
  /** Hashes of hits that a stage added for the sake of what they stand for: up to half of the places are theirs. */
  readonly reserved?: ReadonlySet<string>;
  /** So many places for each namespace before the rest go by order, while places last. */
  readonly minPerNamespace?: number;
}

/** At most `limit` hits, the best first. Hits come in the order in which they are preferred. */
export function cutToLimit(hits: readonly StageHit[], { limit, reserved, minPerNamespace = 0 }: Cut): StageHit[] {
  const chosen = new Set<StageHit>();
  if (reserved !== undefined) {
    const places = Math.floor(limit / 2);
    for (const hit of hits) if (reserved.has(hit.grain.hash) && chosen.size < places) chosen.add(hit);
  }
  const namespaces = minPerNamespace === 0 ? [] : [...byNamespace(hits).values()];
  // Turn by turn: where places run out, every namespace has had about as many.
  for (let turn = 0; turn < minPerNamespace; turn++) {
    for (const held of namespaces) {
      const hit = held[turn];
      if (hit !== undefined && chosen.size < limit) chosen.add(hit);
    }
  }
  for (const hit of hits) {
    if (chosen.size >= limit) break;
    chosen.add(hit);
  }
  return [...chosen].sort(compareHits);
}

/** Hits of each namespace in their order; namespaces in the order of their first hit. */
export function byNamespace(hits: readonly StageHit[]): Map<string, StageHit[]> {
  return Map.groupBy(hits, ({ grain }) => grain.namespace);
}
