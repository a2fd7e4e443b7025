// Checks a grain's own invalidation_policy before the grain is superseded, contested or forgotten. Legally required
// erasure skips this check.
import { EngineError } from '../../base/errors.ts';
import { isMap } from '../rules/validate.ts';
import type { Value, ValueMap } from '../value.ts';
import type { GrainFields } from './output.ts';

export interface InvalidationRequest {
  /** Principal of the caller, in the form that a policy's `authorized` uses. */
  readonly actor: string;
  readonly reason?: string | undefined;
  /** `contest` means setting verification_status to contested or retracted; the rules of superseding apply. */
  readonly act: 'supersede' | 'contest' | 'forget';
  readonly nowMs: number;
}

/** Undefined if the policy permits the act; otherwise POL-E004 for superseding and contesting, POL-E003 for forgetting. */
export function mayInvalidate(old: GrainFields, request: InvalidationRequest): EngineError | undefined {
  const policy = old.fields['invalidation_policy'];
  // Without a policy a consent is soft_locked and any other grain open. An unreadable policy counts as locked.
  const mode = policy === undefined ? (old.type === 'consent' ? 'soft_locked' : 'open') : modeOf(policy, request.nowMs);
  const refusal = refuses(mode, isMap(policy) ? policy : {}, request);
  if (refusal === undefined) return undefined;
  const code = request.act === 'forget' ? 'POL-E003' : 'POL-E004';
  return new EngineError(code, `the grain's invalidation_policy forbids it: ${refusal}`, {
    details: [{ field: 'invalidation_policy', issue: refusal }],
  });
}

/** The mode in force: `timed` means locked until locked_until, then fallback_mode. Unclear policies count as locked. */
function modeOf(policy: Value, nowMs: number): string {
  if (!isMap(policy)) return 'locked';
  const { mode, locked_until: until, fallback_mode: fallback } = policy;
  if (typeof mode !== 'string') return 'locked';
  if (mode !== 'timed') return mode;
  const untilSeconds =
    typeof until === 'number' || typeof until === 'bigint' ? Number(until) : Number.POSITIVE_INFINITY;
  if (nowMs < untilSeconds * 1000) return 'locked';
  return typeof fallback === 'string' && fallback !== 'timed' ? fallback : 'locked';
}

function refuses(mode: string, policy: ValueMap, { actor, reason, act }: InvalidationRequest): string | undefined {
  switch (mode) {
    case 'open':
    case 'consent_cascade':
      return undefined;
    case 'soft_locked':
      return act === 'forget' || (reason ?? '').trim() !== '' ? undefined : 'soft_locked, a reason is required';
    case 'delegated': {
      const { authorized } = policy;
      const named = Array.isArray(authorized) && authorized.includes(actor);
      return act !== 'forget' && named ? undefined : 'delegated to others';
    }
    case 'quorum':
      return 'quorum, signatures are required';
    case 'hold':
      return 'on hold';
    default:
      return 'locked';
  }
}
