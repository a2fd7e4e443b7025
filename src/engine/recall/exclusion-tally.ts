// Why candidates are not among the hits (service contract, section 14): counted by reason, the first of them named.
import type { Excluded } from '../calls/recall.ts';
import { EXCLUSION_REASONS, type ExclusionReason } from '../govern/trail/exclusions.ts';
import type { StageHit } from './stages/hit.ts';

/** As many as a provenance record keeps. */
export const EXCLUDED_NAMED_MAX = 200;

/** Takes down what leaves a recall and why. */
export class ExclusionTally implements Excluded {
  readonly counts: Partial<Record<ExclusionReason, number>> = {};
  readonly named: { hash: string; reason: ExclusionReason }[] = [];

  /** `hash` is only asked for while there is room for names. */
  add(reason: ExclusionReason, hash: () => string): void {
    this.count(reason, 1);
    if (this.named.length < EXCLUDED_NAMED_MAX) this.named.push({ hash: hash(), reason });
  }

  count(reason: ExclusionReason, times: number): void {
    if (times > 0) this.counts[reason] = (this.counts[reason] ?? 0) + times;
  }

  /** As it crosses threads. */
  plain(): Excluded {
    return { counts: { ...this.counts }, named: [...this.named] };
  }

  /** Takes over what others have taken down. */
  join({ counts, named }: Excluded): void {
    for (const reason of EXCLUSION_REASONS) this.count(reason, counts[reason] ?? 0);
    this.named.push(...named.slice(0, EXCLUDED_NAMED_MAX - this.named.length));
  }

  /** What of `before` is not in `after` left for this reason, or for that which `reason` finds for it. */
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
