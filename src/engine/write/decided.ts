// Where plans ask whether an act is permitted: by the memory's policy, and by the grain's own rules on replacement and
// removal.

import { defined } from '../base/defined.ts';
import { EngineError } from '../base/errors.ts';
import type { CallContext } from '../calls/context.ts';
import { subjectOf } from '../govern/access/caller.ts';
import { AccessDenied } from '../govern/access/denied.ts';
import type { MemoryRelation } from '../govern/access/tuple.ts';
import { AgentDeactivated } from '../govern/agents/deactivated.ts';
import {
  type Circumstances,
  decideForget,
  decideScopeErasure,
  decideSupersede,
  decideWrite,
  refuseAccess,
  refuseAccessToMemory,
  refuseDeactivatedAuthor,
  refuseHeld,
} from '../govern/decide.ts';
import type { Governed } from '../govern/governed.ts';
import { treeOf } from '../govern/scope-tree.ts';
import { mayInvalidate } from '../grain/api/invalidation.ts';
import type { Grain } from '../grain/grain.ts';
import type { Memory } from '../store/memory.ts';
import { deniedEntry } from './denied-entry.ts';
import type { Group } from './group.ts';
import type { PreparedGrain } from './prepare.ts';
import { pseudonym } from './pseudonym.ts';
import { refusedAgent } from './refused-agent.ts';

function circumstances(group: Group, memory: Memory, { purpose, reason }: CallContext): Circumstances {
  return { nowMs: group.nowMs, purpose, reason, region: memory.settings.region };
}

/** SCP-E001 when the memory's scope tree lacks the grain's namespace. */
function checkScope({ settings: { scopes } }: Memory, { fields }: Pick<Grain, 'fields'>): void {
  const { namespace } = fields;
  if (scopes !== undefined) treeOf(scopes.root).checkNamespace(typeof namespace === 'string' ? namespace : '');
}

/**
 * Throws SCP-E001, AUT-E001 or the policy's code when the grain may not be written. Every grain that is stored passes
 * here. Call it before looking up anything about the grain. `stated`: the fields that the caller states, without those that a
 * new version takes over from the old one.
 */
export function allowWrite(
  group: Group,
  memory: Memory,
  context: CallContext,
  prepared: PreparedGrain,
  stated: Readonly<Record<string, unknown>> = prepared.grain.fields,
): void {
  const { governed } = memory;
  const { grain, pii } = prepared;
  checkScope(memory, grain);
  prepared.by = governed.agents.acting(context) ?? governed.agents.author(stated['author_did']);
  const denied =
    refuseDeactivatedAuthor(governed, stated['author_did']) ??
    refuseAccess(governed, context, 'editor', grain.fields['namespace']);
  if (denied !== undefined) throw denied;
  if (governed.writesFreely) return;
  const refusal = decideWrite(governed, grain, pii, circumstances(group, memory, context));
  if (refusal !== undefined) throw refusal;
}

/**
 * The same for a consent grain, whose other rules are `decideConsent`'s. Persons may state their own consent and
 * withdraw it, whatever tuples there are.
 */
export function allowConsent(memory: Memory, context: CallContext, prepared: PreparedGrain, userId: string): void {
  const { grain } = prepared;
  checkScope(memory, grain);
  prepared.by = memory.governed.agents.acting(context);
  if (subjectOf(context) === `user:${userId}`) return;
  const denied = refuseAccess(memory.governed, context, 'editor', grain.fields['namespace']);
  if (denied !== undefined) throw denied;
}

/** Records in the audit trail the kinds of personal data that were admitted, never the data. */
export function auditPii(
  group: Group,
  memory: Memory,
  context: CallContext,
  granted: { readonly prepared: PreparedGrain; readonly name: string | undefined },
): void {
  const { pii, userId } = granted.prepared;
  if (pii === undefined || pii.categories.length === 0) return;
  group.audit(memory, {
    event: 'pii.detected',
    actor: context.actor,
    subject: pseudonym(memory, userId),
    details: defined({
      action: memory.governed.rules['pii.write_action'],
      categories: pii.categories.join(','),
      grain: granted.name,
    }),
  });
}

/** Throws when this version may not be replaced, by the policy or by its own `invalidation_policy`. */
export function allowSupersede(
  group: Group,
  memory: Memory,
  context: CallContext,
  old: Pick<Grain, 'type' | 'fields'>,
): void {
  const refusal =
    refuseAccess(memory.governed, context, 'editor', old.fields['namespace']) ??
    decideSupersede(memory.governed, old, circumstances(group, memory, context)) ??
    invalidation(group, context, old, 'supersede');
  if (refusal !== undefined) throw refusal;
}

/** POL-E003 under a hold, unless an earlier erasure is repeated. */
export function allowErasure({ governed }: Memory, context: CallContext): void {
  refuseWithout(governed, context, 'eraser');
  const refusal = context.repeats === true ? undefined : refuseHeld(governed);
  if (refusal !== undefined) throw refusal;
}

/** The same for a scope. The policy may protect it as it protects single grains. */
export function allowScopeErasure({ governed }: Memory, context: CallContext): void {
  refuseWithout(governed, context, 'eraser');
  const refusal = context.repeats === true ? undefined : decideScopeErasure(governed);
  if (refusal !== undefined) throw refusal;
}

function refuseWithout(governed: Governed, context: CallContext, relation: MemoryRelation): void {
  const denied = refuseAccessToMemory(governed, context, [relation]);
  if (denied !== undefined) throw denied;
}

/** Throws when this grain may not be forgotten. */
export function allowForget(
  group: Group,
  memory: Memory,
  context: CallContext,
  grain: Pick<Grain, 'type' | 'fields'>,
): void {
  if (context.repeats === true) return;
  const refusal =
    refuseAccess(memory.governed, context, 'eraser', grain.fields['namespace']) ??
    decideForget(memory.governed, grain, circumstances(group, memory, context)) ??
    invalidation(group, context, grain, 'forget');
  if (refusal !== undefined) throw refusal;
}

function invalidation(
  group: Group,
  { actor, reason }: CallContext,
  grain: Pick<Grain, 'type' | 'fields'>,
  act: 'supersede' | 'forget',
) {
  return mayInvalidate(grain, { actor, act, nowMs: group.nowMs, reason });
}

/** Records a refusal by tuples or by the policy with the group: by its code, and without a grain, as none was written. */
export function auditRefusal(
  group: Group,
  memory: Memory,
  {
    method,
    context,
    prepared,
  }: {
    readonly method: string;
    readonly context: CallContext;
    readonly prepared?: PreparedGrain | EngineError | undefined;
  },
  error: EngineError,
): void {
  if (error instanceof AccessDenied || error instanceof AgentDeactivated) {
    group.audit(memory, deniedEntry(memory, context, { method, error }));
    return;
  }
  const { code } = error;
  if (!code.startsWith('POL-')) return;
  const author = prepared instanceof EngineError ? undefined : prepared?.by;
  const agent = refusedAgent(memory, context, method) ?? author;
  if (agent !== undefined) group.overlay(memory).actsOf(agent).changes.push({ reason: 'policy_refusal', ordinal: 0 });
  group.audit(memory, {
    event: code === 'POL-E005' ? 'pii.blocked' : 'policy.enforced',
    actor: context.actor,
    subject: pseudonym(memory, context.userId),
    details: { code, operation: method },
  });
}
