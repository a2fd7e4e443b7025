// Stages that cut the list of hits: a minimum score, the best namespaces, and the limit, which always applies.
import { compareHits, type StageHit } from './hit.ts';

/** Drops hits of less relevance than the minimum. Hits by structure only have none and stay. */
export function dropWeak(hits: readonly StageHit[], minimum: number): StageHit[] {
  return hits.filter(({ judged, relevance, score }) => !judged || (relevance ?? score) >= minimum);
}

/** Keeps the hits of the `count` namespaces with the best mean score; in a tie the namespace that comes first wins. */
export function keepBestNamespaces(hits: readonly StageHit[], count: number): StageHit[] {
  const namespaces = byNamespace(hits);
  if (namespaces.size <= count) return [...hits];
  const best = [...namespaces]
    .map(([namespace, its]) => ({ namespace, mean: its.reduce((sum, { score }) => sum + score, 0) / its.length }))
    // The sort is stable: ties keep their order.
    .sort((a, b) => b.mean - a.mean)
    .slice(0, count);
  const kept = new Set(best.map(({ namespace }) => namespace));
  return hits.filter(({ grain }) => kept.has(grain.namespace));
}

export interface Cut {
  readonly limit: number;
  /** Hashes of hits that a stage added to represent a session. They may take up to half of the places. */
  readonly reserved?: ReadonlySet<string> | undefined;
  /** Places reserved for each namespace, as long as there are places; the rest goes by order. */
  readonly minPerNamespace?: number | undefined;
}

/** At most `limit` hits, best first. The input is in order of preference. */
export function cutToLimit(hits: readonly StageHit[], { limit, reserved, minPerNamespace = 0 }: Cut): StageHit[] {
  const chosen = new Set<StageHit>();
  if (reserved !== undefined) {
    const places = Math.floor(limit / 2);
    for (const hit of hits) if (reserved.has(hit.grain.hash) && chosen.size < places) chosen.add(hit);
  }
  const namespaces = minPerNamespace === 0 ? [] : [...byNamespace(hits).values()];
  // Round robin, so that namespaces get about equally many places if these run out.
  for (let turn = 0; turn < minPerNamespace; turn++) {
    for (const its of namespaces) {
      const hit = its[turn];
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
