// Of candidates that overlap the longest stays, of equally long ones the surest.
import { PII_CATEGORIES } from './categories.ts';
import type { Candidate } from './finding.ts';

const RANK = new Map(PII_CATEGORIES.map((category, rank) => [category, rank] as const));

/** The candidates that stay, in order of `from`; none overlap. `length` is that of the text. */
export function withoutOverlaps(candidates: readonly Candidate[], length: number): Candidate[] {
  const order = [...candidates].sort(
    (a, b) =>
      b.to - b.from - (a.to - a.from) ||
      b.confidence - a.confidence ||
      a.from - b.from ||
      RANK.get(a.category)! - RANK.get(b.category)!,
  );
  const taken = new Uint8Array(length);
  const kept: Candidate[] = [];
  for (const candidate of order) {
    // What was taken before is at least as long, so it cannot lie wholly inside: the two ends tell.
    if (taken[candidate.from] === 1 || taken[candidate.to - 1] === 1) continue;
    taken.fill(1, candidate.from, candidate.to);
    kept.push(candidate);
  }
  return kept.sort((a, b) => a.from - b.from);
}
