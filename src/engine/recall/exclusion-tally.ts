// Why candidates are not among the hits (service contract, section 14): a count for each reason, and the first grains
// by hash.
import type { Excluded, RecallQuery } from '../calls/recall.ts';
import { EXCLUSION_REASONS, type ExclusionReason } from '../govern/trail/exclusions.ts';
import type { StageHit } from './stages/hit.ts';

/** The number of excluded grains that a recall record names. */
export const EXCLUDED_NAMED_MAX = 200;

/**
 * The exclusions that the answer shows, if the caller asked for them. The count of grains outside of its access tuples
 * is for the record alone.
 */
export function shownExcluded(query: Pick<RecallQuery, 'showExcluded'>, excluded: Excluded | undefined) {
  if (query.showExcluded !== true || excluded === undefined) return undefined;
  const { access_denied: _, ...counts } = excluded.counts;
  return { counts, named: excluded.named };
}

/** Collects excluded grains with their reasons. */
export class ExclusionTally implements Excluded {
  readonly counts: Partial<Record<ExclusionReason, number>> = {};
  readonly named: { hash: string; reason: ExclusionReason }[] = [];

  /** Calls `hash` only while there is room for names. */
  add(reason: ExclusionReason, hash: () => string): void {
    this.count(reason, 1);
    if (this.named.length < EXCLUDED_NAMED_MAX) this.named.push({ hash: hash(), reason });
  }

  count(reason: ExclusionReason, times: number): void {
    if (times > 0) this.counts[reason] = (this.counts[reason] ?? 0) + times;
  }

  /** Plain data, to cross threads. */
  plain(): Excluded {
    return { counts: { ...this.counts }, named: [...this.named] };
  }

  /** Adds the counts and names of another tally. */
  join({ counts, named }: Excluded): void {
    for (const reason of EXCLUSION_REASONS) this.count(reason, counts[reason] ?? 0);
    this.named.push(...named.slice(0, EXCLUDED_NAMED_MAX - this.named.length));
  }

  /** Adds everything in `before` that is missing from `after`, with this reason or the one that `reason` returns. */
  left(
    before: readonly StageHit[],
    after: readonly StageHit[],
    reason: ExclusionReason | ((hit: StageHit) => ExclusionReason),
  ): void {
    if (before.length === after.length) return;
    const kept = new Set(after.map(({ grain }) => grain.hash));
    for (const hit of before)
      if (!kept.has(hit.grain.hash)) this.add(typeof reason === 'string' ? reason : reason(hit), () => hit.grain.hash);
  }
}
