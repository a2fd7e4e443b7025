// Stages that lower grains which other grains contradict or supersede.
import {
  changed,
  compareHits,
  compareNewest,
  exact,
  numberField,
  objectOf,
  type StageHit,
  textField,
  tripleGroups,
} from './hit.ts';

const CONTRADICTION_PENALTY = 0.2;
const SUPERSESSION_DEMOTION = 0.15;

/**
 * Marks hits with different objects for one subject and relation. The first hit and those with the same object are
 * `current`, the others `outdated`. Current versions come before superseded ones, then newer hits first, then higher
 * confidence, then hash. A retracted grain is always `outdated`.
 */
export function markConflicts(hits: readonly StageHit[]): StageHit[] {
  const marks = new Map<StageHit, 'current' | 'outdated'>();
  for (const hit of hits) if (isRetracted(hit)) marks.set(hit, 'outdated');
  for (const group of tripleGroups(hits)) {
    const unmarked = group.filter((hit) => !marks.has(hit)).sort(compareClaims);
    const [kept] = unmarked;
    if (kept === undefined || unmarked.every((hit) => agree(hit, kept))) continue;
    for (const hit of unmarked) marks.set(hit, agree(hit, kept) ? 'current' : 'outdated');
  }
  return hits.map((hit) => {
    const mark = marks.get(hit);
    return mark === undefined ? hit : { ...hit, conflictStatus: mark };
  });
}

/** Subtracts 0.20 from hits marked outdated. */
export function penaliseOutdated(hits: readonly StageHit[]): StageHit[] {
  return hits
    .map((hit) =>
      hit.conflictStatus === 'outdated' ? changed(hit, 'interferencePenalty', -CONTRADICTION_PENALTY) : hit,
    )
    .sort(compareHits);
}

/** Subtracts 0.15 from old versions. */
export function demoteSuperseded(hits: readonly StageHit[]): StageHit[] {
  if (!hits.some(({ superseded }) => superseded)) return [...hits];
  return hits
    .map((hit) => (hit.superseded ? changed(hit, 'supersessionDemotion', -SUPERSESSION_DEMOTION) : hit))
    .sort(compareHits);
}

function isRetracted({ grain }: StageHit): boolean {
  return textField(grain, 'verification_status') === 'retracted';
}

function compareClaims(a: StageHit, b: StageHit): number {
  return (
    Number(a.superseded) - Number(b.superseded) ||
    b.grain.createdAtMs - a.grain.createdAtMs ||
    confidenceOf(b) - confidenceOf(a) ||
    compareNewest(a, b)
  );
}

function agree(a: StageHit, b: StageHit): boolean {
  return exact(objectOf(a)) === exact(objectOf(b));
}

export function confidenceOf({ grain }: StageHit): number {
  return numberField(grain, 'confidence') ?? 1;
}
