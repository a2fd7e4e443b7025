// Decides whether a grain may be written, replaced, forgotten or erased. It is asked in the plan of the act, so in the
// act's own transaction: the decision still holds when the act is done. Answers are refusals, or undefined.
import { defined } from '../base/defined.ts';
import { EngineError, type ErrorCode } from '../base/errors.ts';
import type { GrainType } from '../grain/grain.ts';
import type { ValueMap } from '../grain/value.ts';
import { type Caller, subjectOf } from './access/caller.ts';
import { AccessDenied } from './access/denied.ts';
import type { GrainRelation, HarnessRelation, MemoryRelation } from './access/tuple.ts';
import { AgentDeactivated } from './agents/deactivated.ts';
import { DEFAULT_PURPOSE, isOtherBasis } from './consent/consent.ts';
import type { Governed } from './governed.ts';
import { matchesGuardrail } from './policy/guardrail.ts';
import { isRegionListed } from './policy/in-force.ts';
import type { PiiNeeds } from './policy/pii-needs.ts';
import { forgettableFromMs } from './policy/retention.ts';

/** Purposes of the rules that require a consent of their own. */
export const PURPOSES = { deletion: 'deletion', supersede: 'supersede', crossBorder: 'cross_border' } as const;

/** The circumstances of an act: where and when it happens. */
export interface Circumstances {
  readonly nowMs: number;
  /** The purpose of the act; undefined: storage. */
  readonly purpose: string | undefined;
  readonly reason: string | undefined;
  /** The region of the memory, as its creator stated it. */
  readonly region: string | undefined;
}

/** The members of a grain that these rules read. */
export interface GovernedGrain {
  readonly type: GrainType;
  readonly fields: ValueMap;
}

/** Personal data that was found in a grain to be written; undefined: nothing that counts. */
export type { PiiNeeds } from './policy/pii-needs.ts';

/** POL-E008 while the user's data is frozen. */
export function refuseRestricted(governed: Governed, userId: string | undefined): EngineError | undefined {
  return governed.isRestricted(userId)
    ? refused('POL-E008', 'user_id', 'the processing of this user is restricted')
    : undefined;
}

/** AUT-E001 where tuples decide and none gives the caller the relation to grains of this namespace. */
export function refuseAccess(
  governed: Governed,
  caller: Caller,
  relation: GrainRelation,
  namespace: unknown,
): AccessDenied | undefined {
  const view = governed.viewFor(caller, relation);
  if (view === undefined) return undefined;
  const name = typeof namespace === 'string' ? namespace : '';
  return view.has(name) ? undefined : new AccessDenied(relation, { namespace: name });
}

/** AUT-E001 where tuples decide and none gives the caller one of the relations to the whole memory. */
export function refuseAccessToMemory(
  governed: Governed,
  caller: Caller,
  relations: readonly [MemoryRelation, ...MemoryRelation[]],
): AccessDenied | undefined {
  if (!governed.decidesAccess(caller)) return undefined;
  const subject = subjectOf(caller);
  const { access } = governed;
  if (subject !== undefined && relations.some((relation) => access.hasOnMemory(subject, relation))) return undefined;
  return new AccessDenied(relations[0], { memory: access.memoryObject.slice('memory:'.length) });
}

/** AUT-E001 where tuples decide, for a caller that lacks the relation to the harness with this slug. */
export function refuseAccessToHarness(
  governed: Governed,
  caller: Caller,
  { slug, relation }: { readonly slug: string; readonly relation: HarnessRelation },
): AccessDenied | undefined {
  if (!governed.decidesAccess(caller)) return undefined;
  const subject = subjectOf(caller);
  const asked = { relation, object: `harness:${slug}` };
  if (subject !== undefined && governed.access.check({ subject, ...asked }).allowed) return undefined;
  return new AccessDenied(relation, { harness: slug });
}

/** AGT-E003 for a caller that acts as a deactivated agent. */
export function refuseDeactivated(governed: Governed, caller: Caller): AgentDeactivated | undefined {
  const agent = governed.agents.deactivatedCaller(caller);
  return agent === undefined ? undefined : new AgentDeactivated(agent, 'authorization');
}

/** The same for a grain that names such an agent as its author. */
export function refuseDeactivatedAuthor({ agents }: Governed, author: unknown): AgentDeactivated | undefined {
  return typeof author === 'string' && agents.author(author)?.status === 'deactivated'
    ? new AgentDeactivated(author, 'author_did')
    : undefined;
}

/** The same for an agent that is to take a goal. */
export function refuseDeactivatedTarget({ agents }: Governed, agentId: string): EngineError | undefined {
  return agents.isDeactivated(agentId)
    ? refused('AGT-E003', 'target_agent', 'deactivated', 'a deactivated agent cannot take a goal')
    : undefined;
}

/** In the contract's order: restriction, user_id, consent, personal data, residency, guardrails. */
export function decideWrite(
  governed: Governed,
  grain: GovernedGrain,
  pii: PiiNeeds | undefined,
  at: Circumstances,
): EngineError | undefined {
  if (governed.writesFreely) return undefined;
  const { rules } = governed;
  const userId = userOf(grain);
  return (
    refuseRestricted(governed, userId) ??
    (rules['write.user_id_required'] && userId === undefined
      ? refused('POL-E006', 'user_id', 'required', 'user_id is required by the policy')
      : undefined) ??
    refuseConsent(governed, grain, userId, at) ??
    pii?.refusal((purpose) => userId !== undefined && governed.isGranted(userId, purpose, at.nowMs)) ??
    refuseResidency(governed, userId, at) ??
    refuseGuardrail(governed, grain)
  );
}

function refuseConsent(
  governed: Governed,
  { type, fields }: GovernedGrain,
  userId: string | undefined,
  { nowMs, purpose = DEFAULT_PURPOSE }: Circumstances,
): EngineError | undefined {
  const { rules } = governed;
  const mode = rules['consent.mode'];
  if (mode === 'none' || userId === undefined || type === 'consent') return undefined;
  if (rules['consent.accept_other_bases'] === true && isOtherBasis(fields['processing_basis'])) return undefined;
  const status = governed.consentStatus(userId, purpose, nowMs);
  if (status === 'granted' || (mode === 'opt_out' && status === 'none')) return undefined;
  return refused('POL-E002', 'user_id', `this user has not consented to "${purpose}"`);
}

function refuseResidency(
  governed: Governed,
  userId: string | undefined,
  { region, nowMs }: Circumstances,
): EngineError | undefined {
  const { rules } = governed;
  if (!rules['residency.enforce'] || (region !== undefined && isRegionListed(rules, region))) return undefined;
  if (region === undefined && rules['residency.regions'].length === 0) return undefined;
  const mayCross =
    rules['residency.cross_border_consent'] &&
    userId !== undefined &&
    governed.isGranted(userId, PURPOSES.crossBorder, nowMs);
  return mayCross
    ? undefined
    : refused('POL-E007', 'region', 'the region of the memory is not one that its policy allows');
}

const FORBIDDEN_TEXT = 'holds text that a guardrail of the policy forbids';

function refuseGuardrail({ rules }: Governed, grain: GovernedGrain): EngineError | undefined {
  const patterns = rules['guardrail.patterns'];
  if (patterns.length === 0) return undefined;
  const field = matchesGuardrail(grain, patterns, rules['guardrail.mode']);
  return field === undefined ? undefined : refused('POL-E012', field, FORBIDDEN_TEXT, `\`${field}\` ${FORBIDDEN_TEXT}`);
}

/**
 * Checks a consent against the policy. For a withdrawal it checks only the reason, as everybody may withdraw. It
 * requires no other consent.
 */
export function decideConsent(
  governed: Governed,
  grain: GovernedGrain,
  pii: PiiNeeds | undefined,
): EngineError | undefined {
  const { reason, is_withdrawal: isWithdrawal } = grain.fields;
  const fields = isWithdrawal !== true ? grain.fields : defined({ reason });
  return pii?.refusal(() => true) ?? refuseGuardrail(governed, { ...grain, fields });
}

/** Checks the version that is to be replaced. The new one is checked like any write. */
export function decideSupersede(governed: Governed, old: GovernedGrain, at: Circumstances): EngineError | undefined {
  const { rules } = governed;
  const userId = userOf(old);
  const restricted = refuseRestricted(governed, userId);
  if (restricted !== undefined) return restricted;
  if (!rules['supersede.allowed'])
    return refused('POL-E004', 'policy', 'forbidden', 'the policy forbids replacing versions');
  if (rules['supersede.protected_types'].includes(old.type))
    return refused('POL-E004', 'grain_type', `grains of type ${old.type} are protected by the policy`);
  if (rules['supersede.reason_required'] && isBlank(at.reason))
    return refused('POL-E001', 'reason', 'required', 'replacing a version requires a reason');
  if (rules['supersede.consent_required'] && userId !== undefined)
    return refuseWithout(governed, userId, PURPOSES.supersede, at.nowMs);
  return undefined;
}

/** By hash or subject. Times in milliseconds. */
export function decideForget(governed: Governed, grain: GovernedGrain, at: Circumstances): EngineError | undefined {
  const { rules } = governed;
  const userId = userOf(grain);
  const kept = refuseRestricted(governed, userId) ?? refuseHeld(governed) ?? refuseKept(governed);
  if (kept !== undefined) return kept;
  if (rules['deletion.reason_required'] && isBlank(at.reason))
    return refused('POL-E001', 'reason', 'required', 'deletion requires a reason');
  if (rules['deletion.consent_required'] && userId !== undefined) {
    const withoutConsent = refuseWithout(governed, userId, PURPOSES.deletion, at.nowMs);
    if (withoutConsent !== undefined) return withoutConsent;
  }
  return forgettableFromMs(Number(grain.fields['created_at']), rules) > at.nowMs
    ? refused('POL-E003', 'created_at', 'the policy does not allow grains of this age to be deleted')
    : undefined;
}

/** Erasing a scope: when the policy forbids forgetting, only persons can be erased. */
export function decideScopeErasure(governed: Governed): EngineError | undefined {
  return refuseHeld(governed) ?? refuseKept(governed);
}

function refuseKept({ rules }: Governed): EngineError | undefined {
  return rules['deletion.allowed']
    ? undefined
    : refused('POL-E003', 'policy', 'forbidden', 'the policy forbids deletion');
}

/** Erasing a user or a scope, deleting the memory, enforcing retention: a hold refuses them all (POL-E003). */
export function refuseHeld({ rules }: Governed): EngineError | undefined {
  return rules['deletion.hold']
    ? refused('POL-E003', 'policy', 'a legal hold of the policy forbids every removal')
    : undefined;
}

/** POL-E013 for more than the policy lets one recall return. */
export function decideLimit({ rules }: Pick<Governed, 'rules'>, limit: number): EngineError | undefined {
  return refuseLimit(rules['access.max_recall_limit'], limit);
}

/** The same for a known cap; null: there is none. */
export function refuseLimit(cap: number | null, limit: number): EngineError | undefined {
  return cap !== null && limit > cap
    ? refused(
        'POL-E013',
        'limit',
        `a limit of ${limit} is above the ${cap} that the policy allows (access.max_recall_limit)`,
      )
    : undefined;
}

function refuseWithout(governed: Governed, userId: string, purpose: string, nowMs: number): EngineError | undefined {
  return governed.isGranted(userId, purpose, nowMs)
    ? undefined
    : refused('POL-E002', 'user_id', `this user has not consented to "${purpose}"`);
}

function userOf({ fields }: GovernedGrain): string | undefined {
  const user = fields['user_id'];
  return typeof user === 'string' && user !== '' ? user : undefined;
}

function isBlank(reason: string | undefined): boolean {
  return reason === undefined || reason.trim() === '';
}

function refused(code: ErrorCode, field: string, issue: string, text: string = issue): EngineError {
  return new EngineError(code, text, { details: [{ field, issue }] });
}
