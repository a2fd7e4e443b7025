// Resolves overlaps: the longest candidate stays, and among equally long ones the one with the highest confidence.
import { PII_CATEGORIES } from './categories.ts';
import type { Candidate } from './finding.ts';

const RANK = new Map(PII_CATEGORIES.map((category, rank) => [category, rank] as const));

/** The remaining candidates without overlaps, sorted by `from`. `length` is that of the text. */
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
    // Earlier candidates are at least as long, so none lies strictly inside this one: checking both ends is enough.
    if (taken[candidate.from] === 1 || taken[candidate.to - 1] === 1) continue;
    taken.fill(1, candidate.from, candidate.to);
    kept.push(candidate);
  }
  return kept.sort((a, b) => a.from - b.from);
}
