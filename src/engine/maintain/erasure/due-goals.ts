// Finds the goals that have expired by their own expiry_policy, by columns of the index.

import { intersect } from '../../index/docs/docset.ts';
import type { Sliced } from '../../index/files/section.ts';
import { fieldKey, type Ordinal } from '../../index/parts/part.ts';
import { stateByNow } from '../../store/goal-expiry.ts';
import type { Memory } from '../../store/memory.ts';
import type { Store } from '../../store/store.ts';

const NOTHING = new Uint32Array(0);

/** Current goals whose state is no longer the stored one; `namespace`: only those of this namespace. */
export function* dueGoals(store: Store, memory: Memory, namespace: string | undefined): Sliced<readonly Ordinal[]> {
  const nowMs = store.clock.nowMs();
  const found: Ordinal[] = [];
  for (const part of store.parts(memory.number)) {
    const [failsAtMs, suspendsAtMs] = [part.numbers('failsAtMs'), part.numbers('suspendsAtMs')];
    if (failsAtMs === undefined && suspendsAtMs === undefined) continue;
    for (const state of ['active', 'suspended'] as const) {
      const lists = [part.facet('field', fieldKey('goal_state', state)) ?? NOTHING];
      if (namespace !== undefined) lists.push(part.facet('namespace', namespace) ?? NOTHING);
      for (const doc of intersect(lists)) {
        const ordinal = part.ordinals[doc]!;
        const times = { failsAtMs: failsAtMs?.[doc], suspendsAtMs: suspendsAtMs?.[doc] };
        if (stateByNow(state, times, nowMs) === state) continue;
        if (!store.index.superseded.get(ordinal) && !store.index.removed.get(ordinal)) found.push(ordinal);
      }
      yield;
    }
  }
  return found;
}
