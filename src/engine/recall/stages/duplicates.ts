// Stages that leave hits out which say what another says, or what another has replaced.
import { compareNewest, exact, objectOf, type StageHit, tripleGroups } from './hit.ts';
import { Similarity } from './similarity.ts';
import { confidenceOf } from './standing.ts';

const DEDUPLICATE_THRESHOLD = 0.85;

/**
 * Of hits with one subject and relation and similar objects keeps that of the highest confidence, then the newest. The
 * order of what stays does not change.
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
 * Of hits of one subject and relation in scopes of the line (the highest first) keeps those of the deepest scope: what holds
 * further up is inherited only where nothing nearer says otherwise. Hits of other scopes are left alone.
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
 * Per subject and relation keeps the newest object alone (every hit that says it); with a threshold only objects
 * at least that similar to the newest give way to it, the others are no answer to the same question.
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
