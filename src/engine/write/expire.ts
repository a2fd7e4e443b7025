// Plans the removal of expired grains.
import type { CallContext } from '../calls/context.ts';
import { refuseHeld, refuseRestricted } from '../govern/decide.ts';
import type { Ordinal } from '../index/parts/part.ts';
import type { Memory } from '../store/memory.ts';
import { hasExpired } from '../store/readable.ts';
import type { Group } from './group.ts';
import { pseudonym } from './pseudonym.ts';

/**
 * Selects the grains of `ordinals` that have expired and still exist. Selects nothing under a hold, and no grain of a
 * restricted person, whose data stays frozen.
 */
export function planExpire(
  group: Group,
  memory: Memory,
  { actor }: CallContext,
  ordinals: readonly Ordinal[],
): { readonly removed: number } {
  if (refuseHeld(memory.governed) !== undefined) return { removed: 0 };
  const removed: Ordinal[] = [];
  for (const ordinal of ordinals) {
    const stored = group.store.readGrain(memory, ordinal);
    if (stored === undefined || !hasExpired(memory, stored.grain, group.nowMs)) continue;
    const { user_id: named } = stored.grain.fields;
    const user = typeof named === 'string' ? named : undefined;
    if (refuseRestricted(memory.governed, user) !== undefined) continue;
    removed.push(ordinal);
    group.audit(memory, {
      event: 'memory.expired',
      actor,
      subject: pseudonym(memory, user),
      details: { grain: stored.name, grain_type: stored.grain.type },
    });
  }
  if (removed.length > 0) group.remove(memory, removed, 'expired');
  return { removed: removed.length };
}
