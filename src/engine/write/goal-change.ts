// Plans the changes of a goal: to another state, or to another agent. Each supersedes the newest version of the goal, so
// that the queue puts concurrent changes in an order.

import { EngineError } from '../base/errors.ts';
import { toNfc } from '../base/nfc.ts';
import type { CallContext } from '../calls/context.ts';
import type { ChangedGoal, GoalChange, GoalState } from '../calls/goals.ts';
import { agentsOf } from '../govern/agents/agents.ts';
import { refuseDeactivatedTarget } from '../govern/decide.ts';
import type { JsonObject } from '../grain/api/json-value.ts';
import { supersedeFields } from '../grain/api/merge.ts';
import { toApi } from '../grain/api/output.ts';
import type { Memory } from '../store/memory.ts';
import { expiryOf, linked } from './goal-links.ts';
import type { Group } from './group.ts';
import { type NewVersion, type Version, versionAt, versionNamed, writeVersion } from './supersede.ts';

type Move = Extract<GoalChange, { readonly to: GoalState }>;
type Delegation = Exclude<GoalChange, Move>;

export function planChangeGoal(
  group: Group,
  memory: Memory,
  context: CallContext,
  { hash, change }: { readonly hash: string; readonly change: GoalChange },
): ChangedGoal {
  const named = versionNamed(group, memory, context, hash);
  const tip = group.tip(memory, named.ordinal);
  const old = tip === named.ordinal ? named : versionAt(group, memory, context, tip);
  if (old.grain.type !== 'goal') {
    const issue = `names a grain of type ${old.grain.type}`;
    throw new EngineError('VAL-E001', `\`hash\` ${issue}, not a goal`, { details: [{ field: 'hash', issue }] });
  }
  // The goal changes from the state that reads show.
  const due = expiryOf(old, group.nowMs);
  const next = 'to' in change ? moved(old, due.state, change) : delegated(memory, context, old, change);
  const previous = { previousHash: old.address, previousState: due.state };
  if (next === undefined) {
    if (due.fields !== undefined) group.store.dueGoals.note(context, old.ordinal);
    return { hash: old.address, fields: { ...toApi(old.grain), ...due.fields }, ...previous, changed: false };
  }
  const { fields: own, ...entry } = next;
  const stated = { ...due.fields, ...own };
  const { fields } = supersedeFields(old.grain, stated, undefined);
  const written = writeVersion(group, memory, context, old, { fields, stated, ...entry });
  return { hash: written.hash, fields: written.fields, ...previous, changed: true };
}

type Next = Pick<NewVersion, 'event' | 'details'> & { readonly fields: JsonObject };

/** Undefined when the goal is in the state already. */
function moved(old: Version, from: GoalState, { to, reason, evidence = [], progress }: Move): Next | undefined {
  if (from === to) return undefined;
  const { allowed_transitions: allowed, satisfaction_evidence: known } = old.grain.fields;
  if (Array.isArray(allowed) && allowed.length > 0 && !allowed.includes(to))
    throw new EngineError('GOL-E001', `the goal can move only to ${allowed.join(', ')}`, {
      details: [{ field: 'state', issue: 'not among allowed_transitions' }],
    });
  const proof = [...new Set([...hashesOf(known), ...evidence])];
  if (to === 'satisfied') checkEvidence(old, proof.length);
  const fields: JsonObject = {
    goal_state: to,
    state_reason: reason ?? null,
    provenance_chain: linked(old, 'goal_state_transition'),
  };
  if (proof.length > 0) fields['satisfaction_evidence'] = proof;
  if (to === 'satisfied') fields['progress'] = 1;
  else if (progress !== undefined) fields['progress'] = progress;
  return { fields, event: 'goal.state_changed', details: { from, to } };
}

function checkEvidence(old: Version, given: number): void {
  const wanted = Number(old.grain.fields['evidence_required'] ?? 0);
  if (given >= wanted) return;
  throw new EngineError('GOL-E002', `the goal needs ${wanted} pieces of evidence, and has ${given}`, {
    details: [{ field: 'evidence', issue: `fewer than ${wanted}` }],
  });
}

/** Undefined when the agent has the goal already. */
function delegated(
  memory: Memory,
  context: CallContext,
  old: Version,
  { delegateTo: asked, reason }: Delegation,
): Next | undefined {
  const delegateTo = toNfc(asked);
  const { delegate_to: holder, assigned_agent: assigned } = old.grain.fields;
  const refusal = refuseDeactivatedTarget(memory.governed, delegateTo);
  if (refusal !== undefined) throw refusal;
  if (holder === delegateTo) return undefined;
  const [caller] = agentsOf(context);
  const fields: JsonObject = {
    delegate_to: delegateTo,
    delegate_from: textOf(holder) ?? textOf(assigned) ?? caller ?? null,
    provenance_chain: linked(old, 'goal_delegation'),
  };
  if (reason !== undefined) fields['state_reason'] = reason;
  return { fields, event: 'goal.delegated' };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function hashesOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((hash) => typeof hash === 'string') : [];
}
