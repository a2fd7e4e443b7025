// When a goal fails or is suspended by its own `expiry_policy`. The state of such a goal depends on the time: reads show
// the state that it has by then, and a new version records it later.
import type { GoalState } from '../calls/goals.ts';
import type { Grain } from '../grain/grain.ts';
import { isMap } from '../grain/rules/validate.ts';
import { OWN } from '../grain/types/own-fields.ts';
import type { Value } from '../grain/value.ts';
import type { IndexedGrain } from '../index/parts/part.ts';
import { shownFields } from './indexed-fields.ts';

/** Tells that the policy took effect, in Unix seconds, in the policy of the version that it made: it does so once. */
export const ACTED_AT = 'acted_at';

export interface ExpiryTimes {
  readonly failsAtMs?: number | undefined;
  readonly suspendsAtMs?: number | undefined;
}

/** A policy without a deadline has that of the goal, and one without a mode is soft. */
export function expiryTimes(grain: Pick<Grain, 'type' | 'fields'>): Pick<IndexedGrain['numbers'], keyof ExpiryTimes> {
  if (grain.type !== 'goal') return {};
  const shown = shownFields(grain);
  const policy = shown(OWN.expiryPolicyMap);
  if (!isMap(policy) || isPresent(policy[ACTED_AT])) return {};
  const atMs = isPresent(policy['deadline'])
    ? Number(policy['deadline']) * 1000
    : Number(shown('deadline') ?? Number.NaN);
  if (Number.isNaN(atMs)) return {};
  return policy['mode'] === 'hard' ? { failsAtMs: atMs } : { suspendsAtMs: atMs };
}

function isPresent(value: Value | undefined): boolean {
  return value !== undefined && value !== null;
}

/** The state of a goal by now. A satisfied or failed goal does not expire, and a suspended one does not suspend again. */
export function stateByNow(
  stored: GoalState,
  { failsAtMs = Number.NaN, suspendsAtMs = Number.NaN }: ExpiryTimes,
  nowMs: number,
): GoalState {
  if ((stored === 'active' || stored === 'suspended') && failsAtMs <= nowMs) return 'failed';
  return stored === 'active' && suspendsAtMs <= nowMs ? 'suspended' : stored;
}

/** The `state_reason` of a goal that expired. */
export const EXPIRED = 'the deadline of its expiry_policy has passed';
