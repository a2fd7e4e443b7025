// Links between the versions of a goal.
import { GOAL_PROVENANCE_MAX } from '../base/limits.ts';
import type { GoalState } from '../calls/goals.ts';
import type { JsonObject, JsonValue } from '../grain/api/json-value.ts';
import { storedFields } from '../grain/api/output.ts';
import { isMap } from '../grain/api/take.ts';
import { ACTED_AT, EXPIRED, expiryTimes, stateByNow } from '../store/goal-expiry.ts';
import type { Version } from './supersede.ts';

export function stateOf({ grain: { fields } }: Pick<Version, 'grain'>): GoalState {
  return (fields['goal_state'] ?? 'active') as GoalState; // the codec admits no other
}

/** The state of the goal by now, and, if it is there by its expiry_policy, the fields that record this. */
export function expiryOf(
  old: Version,
  nowMs: number,
): { readonly state: GoalState; readonly fields?: JsonObject | undefined } {
  const stored = stateOf(old);
  const state = stateByNow(stored, expiryTimes(old.grain), nowMs);
  if (state === stored) return { state };
  const { expiry_policy: policy } = storedFields(old.grain);
  const acted = { ...(isMap(policy) ? policy : {}), [ACTED_AT]: Math.floor(nowMs / 1000) };
  return { state, fields: { goal_state: state, state_reason: EXPIRED, expiry_policy: acted } };
}

/** The provenance_chain with an entry for the next version. Old entries make room, as each version carries them all. */
export function linked(old: Version, method: string): JsonValue[] {
  const { provenance_chain: chain } = storedFields(old.grain);
  const entries = Array.isArray(chain) ? chain : [];
  return [...entries.slice(1 - GOAL_PROVENANCE_MAX), { source_hash: old.address, method, weight: 1 }];
}
