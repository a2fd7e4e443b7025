// Plans changes of a memory's rules: policy versions, restrictions, consents. A record, the state entry that names it
// and its audit entries are one transaction. The open memory applies the change when that is durable, before the
// answer.
import { assert } from '../base/assert.ts';
import { defined } from '../base/defined.ts';
import { EngineError } from '../base/errors.ts';
import { PURPOSE_CHARS_MAX, RESTRICTIONS_MAX, RULE_REASON_CHARS_MAX } from '../base/limits.ts';
import type { MemoryCalls } from '../calls/calls.ts';
import type { CallContext } from '../calls/context.ts';
import type { ConsentItem, ConsentOutcome } from '../calls/govern.ts';
import { type ConsentFact, EVERY_PURPOSE } from '../govern/consent/consent.ts';
import { decideConsent, refuseRestricted } from '../govern/decide.ts';
import type { Restriction } from '../govern/governed.ts';
import { applyChange } from '../govern/policy/change.ts';
import { policyJson, policyOfJson, type SealedPolicy } from '../govern/policy/seal.ts';
import type { PolicyValue } from '../govern/policy/values.ts';
import type { AuditDraft } from '../govern/trail/audit.ts';
import type { JsonObject } from '../grain/api/json-value.ts';
import type { RuleTopic } from '../record/record.ts';
import type { Memory } from '../store/memory.ts';
import { consentState, consentsState, policyState, restrictionState, sealPolicy, sealRule } from '../store/rules.ts';
import { tuplesState } from '../store/tuples.ts';
import { keyedText, reasonDetail } from './actor.ts';
import { allowConsent, auditPii, auditRefusal } from './decided.ts';
import { dropAgent } from './drop-agent.ts';
import { dropTuples } from './drop-tuples.ts';
import { dropTurns } from './drop-turns.ts';
import type { Group } from './group.ts';
import { bindFields } from './narrow.ts';
import { prepareGrain } from './prepare.ts';
import { auditActor, pseudonym } from './pseudonym.ts';

export function planSetPolicy(
  group: Group,
  memory: Memory,
  context: CallContext,
  input: MemoryCalls['setPolicy']['input'],
): MemoryCalls['setPolicy']['output'] {
  const current = memory.governed.policy;
  if ('sealed' in input) {
    const sealed = policyOfJson(input.sealed as PolicyValue); // as another partition answered it
    assert(sealed !== undefined, 'a partition hands on a policy');
    // Repeated, or out of date.
    if (
      sealed.version > current.version ||
      (sealed.version === current.version && sealed.sealHash !== current.sealHash)
    )
      keepPolicy(group, memory, context, sealed, input.change);
    return { policy: input.sealed, change: input.change };
  }
  const change = { reason: context.reason, ...input.change } as PolicyChangeOf;
  checkReason(change.reason);
  const { decision, policy } = applyChange(current, change, {
    nowSeconds: Math.floor(group.nowMs / 1000),
    sealedBy: auditActor(memory, context.actor),
    isAdmin: input.isAdmin,
  });
  if (policy !== undefined && input.check !== true) keepPolicy(group, memory, context, policy, decision.change);
  return { policy: policyJson(policy ?? current) as JsonObject, change: decision.change }; // a policy is an object
}

/** Absent members may appear as undefined there. The overrides are JSON. */
type PolicyChangeOf = Parameters<typeof applyChange>[1];

const ASSESSMENT = 'ai.impact_assessment';

function keepPolicy(
  group: Group,
  memory: Memory,
  { actor, partition }: CallContext,
  policy: SealedPolicy,
  change: MemoryCalls['setPolicy']['output']['change'],
): void {
  const sequence = keepRule(group, memory, 'policy', 0, sealPolicy(memory, policy));
  group.setState(policyState(memory.number), sequence);
  group.setState(policyState(memory.number, policy.version), sequence);
  const details = {
    version: policy.version,
    seal_hash: policy.sealHash,
    presets: policy.presets.join(','),
    ...reasonDetail(group, memory, policy.reason ?? undefined),
  };
  group.audit(memory, { event: 'policy.sealed', actor, subject: '', details, ...markedOnce(partition) });
  if (change !== 'unchanged') group.audit(memory, { event: `policy.${change}`, actor, subject: '', details });
  if (JSON.stringify(policy.rules[ASSESSMENT]) !== JSON.stringify(memory.governed.rules[ASSESSMENT]))
    group.audit(memory, { event: 'impact.updated', actor, subject: '', details: { version: policy.version } });
  group.onPublish(() => memory.governed.setPolicy(policy));
}

export function planRestrict(
  group: Group,
  memory: Memory,
  context: CallContext,
  { userId, restricted, reason = context.reason ?? '' }: MemoryCalls['restrict']['input'],
): MemoryCalls['restrict']['output'] {
  refuseBeyond(context, userId);
  checkReason(reason);
  const { governed } = memory;
  const known = governed.restrictions.get(userId);
  const timestamp = Math.floor(group.nowMs / 1000);
  if (!restricted) {
    if (known === undefined) return { restricted, timestamp };
    group.setState(restrictionState(memory, userId), null);
    group.audit(memory, {
      event: 'processing.unrestricted',
      actor: context.actor,
      subject: pseudonym(memory, userId),
      details: reasonDetail(group, memory, reason, userId),
      ...markedOnce(context.partition),
    });
    group.onPublish(() => memory.governed.lift(userId));
    return { restricted, timestamp };
  }
  if (known !== undefined) return { restricted, timestamp: Math.floor(known.atMs / 1000) };
  if (governed.restrictions.size >= RESTRICTIONS_MAX)
    throw new EngineError('LIM-E002', `${RESTRICTIONS_MAX} users of this memory are restricted`);
  const restriction: Restriction = { userId, reason, atMs: group.nowMs, by: auditActor(memory, context.actor) };
  const key = group.keyOfUser(memory, userId);
  const sequence = keepRule(group, memory, 'restriction', key, sealRule(memory, 'restriction', key, restriction));
  group.setState(restrictionState(memory, userId), sequence);
  group.audit(memory, {
    event: 'processing.restricted',
    actor: context.actor,
    subject: pseudonym(memory, userId),
    details: reasonDetail(group, memory, reason, userId),
    ...markedOnce(context.partition),
  });
  group.onPublish(() => memory.governed.restrict(restriction));
  return { restricted, timestamp };
}

/** Every partition keeps the rule and audits it. Only the first one makes the event. */
function markedOnce(partition: number): Pick<AuditDraft, 'mark'> {
  return partition === 0 ? {} : { mark: 'none' };
}

/** Each item is granted or refused on its own. */
export function planConsent(
  group: Group,
  memory: Memory,
  context: CallContext,
  { items }: MemoryCalls['consent']['input'],
): MemoryCalls['consent']['output'] {
  const said: ConsentFact[] = [];
  const outcomes = items.map((item): ConsentOutcome => {
    try {
      const fact = writeConsent(group, memory, context, { item, said });
      said.push(fact);
      return { fact };
    } catch (error) {
      if (!(error instanceof EngineError) || error.code.startsWith('STO-')) throw error;
      auditRefusal(group, memory, { method: 'consent', context }, error);
      return { error: error.toWire() };
    }
  });
  return { outcomes };
}

/** Throws before the group is changed. */
function writeConsent(
  group: Group,
  memory: Memory,
  context: CallContext,
  { item, said }: { readonly item: ConsentItem; readonly said: readonly ConsentFact[] },
): ConsentFact {
  const { userId, purpose, granted, basis, jurisdiction, granteeDid, reason, expiresAt } = item;
  refuseBeyond(context, userId);
  if (purpose === '' || purpose.length > PURPOSE_CHARS_MAX)
    throw new EngineError('VAL-E001', `a purpose has 1 to ${PURPOSE_CHARS_MAX} characters`, {
      details: [{ field: 'purpose', issue: 'too long or empty' }],
    });
  // Every person may withdraw a consent, even when their data is frozen.
  const refusal = granted ? refuseRestricted(memory.governed, userId) : undefined;
  if (refusal !== undefined) throw refusal;
  const others = rivalsOf(memory, item, said);
  const prior = others.findLast((fact) => fact.purpose === purpose);
  // Later than those that it is compared with, even if the clock goes back: the newest one counts.
  const atMs = others.reduce((latest, fact) => Math.max(latest, fact.atMs + 1), group.nowMs);
  const fields = bindFields(
    context,
    defined({
      user_id: userId,
      scope: purpose,
      is_withdrawal: !granted,
      basis,
      jurisdiction,
      grantee_did: granteeDid,
      reason: reason === undefined || reason === '' ? undefined : reason,
      valid_to: expiresAt,
      prior_consent: prior?.hash,
    }),
  );
  const prepared = prepareGrain(memory, 'consent', fields, atMs);
  allowConsent(memory, context, prepared, userId);
  const withheld = decideConsent(memory.governed, prepared.grain, prepared.pii);
  if (withheld !== undefined) throw withheld;
  const { address } = prepared;
  const there = group.findOrdinal(memory, address);
  const planned = there === undefined ? group.addGrain(memory, prepared) : group.read(memory, there);
  const fact: ConsentFact = defined({
    userId,
    purpose,
    granted,
    atMs,
    hash: address,
    expiresAtMs: expiresAt === undefined || !granted ? undefined : expiresAt * 1000,
    basis,
    jurisdiction,
    ...grantedBefore(granted, prior),
  });
  keepFact(group, memory, fact);
  group.audit(memory, {
    event: granted ? 'consent.granted' : 'consent.revoked',
    actor: context.actor,
    subject: pseudonym(memory, userId),
    details: {
      ...named('grain', planned?.name),
      ...named('prior_grain', prior === undefined ? undefined : group.nameOf(memory, prior.hash)),
      ...named('purpose_hmac', keyedText(group, memory, purpose, userId)),
      ...reasonDetail(group, memory, reason, userId),
    },
    mark:
      there === undefined ? (granted ? 'grain_created+consent_granted' : 'grain_created+consent_revoked') : undefined,
  });
  auditPii(group, memory, context, { prepared, name: planned?.name });
  return fact;
}

/** The facts that the newest of them decides with: of the purpose and of every purpose. Those of this call come last. */
function rivalsOf(memory: Memory, { userId, purpose }: ConsentItem, said: readonly ConsentFact[]): ConsentFact[] {
  const { governed } = memory;
  const isRival = (fact: ConsentFact): boolean =>
    fact.userId === userId && (purpose === EVERY_PURPOSE || [purpose, EVERY_PURPOSE].includes(fact.purpose));
  const known =
    purpose === EVERY_PURPOSE
      ? [...governed.consentsOfUser(userId)]
      : [governed.consent(userId, EVERY_PURPOSE), governed.consent(userId, purpose)];
  return [...known.filter((fact) => fact !== undefined), ...said.filter(isRival)];
}

function named(member: string, name: string | undefined): Readonly<Record<string, string>> {
  return name === undefined ? {} : { [member]: name };
}

function grantedBefore(granted: boolean, prior: ConsentFact | undefined): Pick<ConsentFact, 'grantedAtMs'> {
  if (granted || prior === undefined) return {};
  const grantedAtMs = prior.granted ? prior.atMs : prior.grantedAtMs;
  return defined({ grantedAtMs });
}

/** For the partitions that do not hold the consent grains. Facts that are out of date are left out. */
export function planConsentFacts(
  group: Group,
  memory: Memory,
  { facts }: MemoryCalls['consentFacts']['input'],
): Record<never, never> {
  for (const fact of facts) {
    const known = memory.governed.consent(fact.userId, fact.purpose);
    if (known === undefined || known.atMs < fact.atMs) keepFact(group, memory, fact);
  }
  return {};
}

function keepFact(group: Group, memory: Memory, fact: ConsentFact): void {
  const key = group.keyOfUser(memory, fact.userId);
  const sequence = keepRule(group, memory, 'consent', key, sealRule(memory, 'consent', key, fact));
  group.setState(consentState(memory, fact.userId, fact.purpose), sequence);
  group.onPublish(() => memory.governed.setConsent(fact));
}

/** The rules about an erased user are removed with the user. */
export function dropGoverned(group: Group, memory: Memory, userId: string): void {
  group.setState(restrictionState(memory, userId), null);
  for (const [key] of group.store.log.scanState(consentsState(memory, userId))) group.setState(key, null);
  dropTuples(group, memory, tuplesState(memory, { subject: `user:${userId}` }));
  dropAgent(group, memory, `user:${userId}`);
  dropTurns(group, memory, { userId, namespace: '' });
  group.onPublish(() => memory.governed.forgetUser(userId));
}

export function keepRule(group: Group, memory: Memory, about: RuleTopic, key: number, sealed: Buffer): Uint8Array {
  group.overlay(memory);
  const sequence = group.record({ kind: 'rule', memory: memory.number, about, key, atMs: group.nowMs, sealed });
  const value = Buffer.alloc(4);
  value.writeUInt32BE(sequence);
  return value;
}

/** A reason stays in heap, and every list shows it. */
function checkReason(reason: string | undefined): void {
  if (reason !== undefined && reason.length > RULE_REASON_CHARS_MAX)
    throw new EngineError('VAL-E001', `a reason has at most ${RULE_REASON_CHARS_MAX} characters`, {
      details: [{ field: 'reason', issue: 'too long' }],
    });
}

function refuseBeyond(context: CallContext, userId: string): void {
  if (context.userId !== undefined && context.userId !== userId)
    throw new EngineError('AUT-E001', 'this caller may act only for its own user');
}
