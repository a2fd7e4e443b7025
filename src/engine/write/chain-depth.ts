// Notices chains of versions that grow long: something writes the same grain again and again. The entry is part of the
// write that makes the chain too long, so it comes once for each chain.
import { CHAIN_DEPTHS_KEPT_MAX, DEEP_CHAIN_CRITICAL, DEEP_CHAIN_VERSIONS } from '../base/limits.ts';
import { type AuditDraft, SYSTEM_ACTOR } from '../govern/trail/audit.ts';
import type { Ordinal } from '../index/parts/part.ts';
import type { Memory } from '../store/memory.ts';
import type { Store } from '../store/store.ts';
import type { PlannedGrain } from './keyed-grains.ts';
import type { Overlay } from './overlay.ts';
import { pseudonym } from './pseudonym.ts';

/** The group of the write. */
interface Writing {
  readonly store: Pick<Store, 'chainDepths' | 'status'>;
  overlay(memory: Memory): Overlay;
  audit(memory: Memory, draft: AuditDraft): void;
  onPublish(step: () => void): void;
}

/** To be called when the planned grain supersedes `oldOrdinal`. */
export function noteDepth(group: Writing, memory: Memory, oldOrdinal: Ordinal, planned: PlannedGrain): void {
  const versions = versionsUpTo(group, memory, oldOrdinal) + 1;
  group.overlay(memory).chainDepths.set(planned.ordinal, versions);
  group.onPublish(() => keep(group.store.chainDepths, oldOrdinal, planned.ordinal, versions));
  if (versions !== DEEP_CHAIN_VERSIONS + 1 && versions !== DEEP_CHAIN_CRITICAL + 1) return;
  group.audit(memory, {
    event: 'monitor.deep_chain',
    actor: SYSTEM_ACTOR,
    subject: pseudonym(memory, planned.prepared.userId),
    details: {
      count: versions,
      severity: versions > DEEP_CHAIN_CRITICAL ? 'critical' : 'warning',
      grain: planned.name,
      grain_type: planned.prepared.grain.type,
    },
    mark: 'burst_noticed',
  });
}

/** Number of versions up to `ordinal`, itself included. Above the highest threshold it is only known to be above. */
function versionsUpTo(group: Writing, memory: Memory, ordinal: Ordinal): number {
  let above = 0;
  for (let at: Ordinal | undefined = ordinal; at !== undefined && above <= DEEP_CHAIN_CRITICAL; above++) {
    const known = group.overlay(memory).chainDepths.get(at) ?? group.store.chainDepths.get(at);
    if (known !== undefined) return known + above;
    at = group.store.status.predecessor(memory.number, at)?.oldOrdinal;
  }
  return above;
}

/** The newest version alone is asked for again. */
function keep(depths: Map<Ordinal, number>, oldOrdinal: Ordinal, ordinal: Ordinal, versions: number): void {
  depths.delete(oldOrdinal);
  depths.set(ordinal, versions);
  if (depths.size > CHAIN_DEPTHS_KEPT_MAX) depths.delete(depths.keys().next().value ?? ordinal);
}
