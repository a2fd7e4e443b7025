// Stages that drop hits which repeat another hit or which another hit has replaced.

import { confidenceOf } from './contradictions.ts';
import { compareNewest, exact, objectOf, type StageHit, tripleGroups } from './hit.ts';
import { Similarity } from './similarity.ts';

const DEDUPLICATE_THRESHOLD = 0.85;

/**
 * Among hits with the same subject and relation and similar objects, keeps the one with the highest confidence, then
 * the newest. Keeps the order of the remaining hits.
 */
export function dropDuplicates(
  hits: readonly StageHit[],
  threshold: number = DEDUPLICATE_THRESHOLD,
  similarity: Similarity = new Similarity(),
): StageHit[] {
  const dropped = new Set<StageHit>();
  for (const group of tripleGroups(hits)) {
    const kept: StageHit[] = [];
    for (const hit of group.sort((a, b) => confidenceOf(b) - confidenceOf(a) || compareNewest(a, b))) {
      const known = kept.some((other) => similarity.atLeast(exact(objectOf(hit)), exact(objectOf(other)), threshold));
      if (known) dropped.add(hit);
      else kept.push(hit);
    }
  }
  return hits.filter((hit) => !dropped.has(hit));
}

/**
 * Among hits with the same subject and relation in the scopes of `line` (root first), keeps those of the deepest scope:
 * a scope inherits a value only if no nearer scope sets it. Does not touch hits of other scopes.
 */
export function preferDeepest(hits: readonly StageHit[], line: readonly string[]): StageHit[] {
  const dropped = new Set<StageHit>();
  for (const group of tripleGroups(hits)) {
    const onLine = group.filter(({ grain }) => line.includes(grain.namespace));
    const deepest = onLine.reduce((most, { grain }) => Math.max(most, line.indexOf(grain.namespace)), -1);
    for (const hit of onLine) if (line.indexOf(hit.grain.namespace) < deepest) dropped.add(hit);
  }
  return hits.filter((hit) => !dropped.has(hit));
}

/**
 * For each subject and relation, keeps only hits with the newest object. With a threshold, drops only objects at least
 * that similar to the newest: less similar ones do not compete with it.
 */
export function resolveConflicts(
  hits: readonly StageHit[],
  threshold: number | undefined,
  similarity: Similarity = new Similarity(),
): StageHit[] {
  const dropped = new Set<StageHit>();
  for (const group of tripleGroups(hits)) {
    const [newest, ...older] = group.sort(compareNewest);
    if (newest === undefined) continue;
    const object = exact(objectOf(newest));
    for (const hit of older) {
      const said = exact(objectOf(hit));
      if (said === object) continue;
      if (threshold === undefined || similarity.atLeast(said, object, threshold)) dropped.add(hit);
    }
  }
  return hits.filter((hit) => !dropped.has(hit));
}
