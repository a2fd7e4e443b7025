// Records the states of goals whose `expiry_policy` took effect: hard fails a goal, soft suspends it.

import { EngineError } from '../base/errors.ts';
import { DUE_GOALS_BATCH_MAX } from '../base/limits.ts';
import type { CallContext } from '../calls/context.ts';
import { SYSTEM_ACTOR } from '../govern/trail/audit.ts';
import { supersedeFields } from '../grain/api/merge.ts';
import type { Ordinal } from '../index/parts/part.ts';
import { EXPIRED } from '../store/goal-expiry.ts';
import type { Memory } from '../store/memory.ts';
import { expiryOf, linked, stateOf } from './goal-links.ts';
import type { Group } from './group.ts';
import type { WritePlan } from './job.ts';
import type { WriteQueue } from './queue.ts';
import { type Version, writeVersion } from './supersede.ts';

interface Expired {
  /** Goals that have a new version. */
  readonly moved: number;
  /** Goals that the policy or their own rules keep from getting one. Reads show their new state all the same. */
  readonly held: number;
}

/** The ordinals may be those of any version, or of goals that have changed since. */
const expireGoalsPlan: WritePlan<{ readonly ordinals: readonly Ordinal[] }, Expired> = {
  plan: (group, memory, context, { ordinals }) => {
    let moved = 0;
    let held = 0;
    for (const ordinal of memory === undefined ? [] : ordinals) {
      const old = group.read(memory!, group.tip(memory!, ordinal));
      if (old === undefined) continue;
      try {
        if (expireGoal(group, memory!, context, old)) moved += 1;
      } catch (error) {
        // A plan throws before it changes the group, so that the other goals are not concerned.
        if (!(error instanceof EngineError) || error.code === 'STO-E001') throw error;
        held += 1;
      }
    }
    return { moved, held };
  },
};

/** False for a goal that has not expired. Throws what keeps an expired one as it is. */
function expireGoal(group: Group, memory: Memory, context: CallContext, old: Version): boolean {
  const { grain } = old;
  if (grain.type !== 'goal') return false;
  const { state: to, fields: due } = expiryOf(old, group.nowMs);
  if (due === undefined) return false;
  const stated = { ...due, provenance_chain: linked(old, 'goal_state_transition') };
  const { fields } = supersedeFields(grain, stated, undefined);
  const details = { from: stateOf(old), to };
  const reasoned = { ...context, reason: EXPIRED };
  writeVersion(group, memory, reasoned, old, { fields, stated, event: 'goal.state_changed', details });
  return true;
}

/** Resolves when the states are recorded. */
export async function expireGoals(
  queue: WriteQueue,
  context: CallContext,
  ordinals: readonly Ordinal[],
): Promise<Expired> {
  const { memory, partition, requestId } = context;
  const system: CallContext = { memory, partition, requestId, actor: SYSTEM_ACTOR };
  let moved = 0;
  let held = 0;
  for (let from = 0; from < ordinals.length; from += DUE_GOALS_BATCH_MAX) {
    const batch = ordinals.slice(from, from + DUE_GOALS_BATCH_MAX);
    const done = await queue.push('expireGoals', expireGoalsPlan, system, { ordinals: batch });
    moved += done.moved;
    held += done.held;
  }
  return { moved, held };
}
