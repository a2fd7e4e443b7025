// Plans the registration and the deactivation of an agent. Both are settled: no other write of the memory shares their
// group, so a write that follows a deactivation is refused.

import { defined } from '../base/defined.ts';
import { EngineError } from '../base/errors.ts';
import { AGENTS_MAX, RULE_REASON_CHARS_MAX } from '../base/limits.ts';
import type { MemoryCalls } from '../calls/calls.ts';
import type { CallContext } from '../calls/context.ts';
import { type AgentIdentity, agentName, checkIdentity, personOfAgent } from '../govern/agents/identity.ts';
import { refuseRestricted } from '../govern/decide.ts';
import type { Sequence } from '../log/log.ts';
import {
  didState,
  didTokenOf,
  entryOf,
  identityAt,
  identityCount,
  identityCountState,
  identityState,
  writeEntry,
} from '../store/agents.ts';
import type { Memory } from '../store/memory.ts';
import { sealRule, sequenceOf } from '../store/rules.ts';
import { reasonDetail } from './actor.ts';
import { countValue } from './count-value.ts';
import { dropIdentity } from './drop-agent.ts';
import { keepRule } from './govern.ts';
import type { Group } from './group.ts';
import { noIdentity } from './no-identity.ts';
import { auditActor, pseudonym } from './pseudonym.ts';

export function planRegister(
  group: Group,
  memory: Memory,
  context: CallContext,
  { identity: stated, check, decided }: MemoryCalls['registerAgent']['input'],
): MemoryCalls['registerAgent']['output'] {
  const { log } = group.store;
  const identity: AgentIdentity = { ...checkIdentity(stated), status: 'active', createdAtMs: group.nowMs };
  const { agentId, did } = identity;
  const restricted = refuseRestricted(memory.governed, personOfAgent(agentId));
  if (restricted !== undefined) throw restricted;
  const known = entryOf(log, memory, agentId);
  if (decided !== true) {
    if (known !== undefined) throw exists('agent_id', agentId);
    const owner = did === undefined ? undefined : log.getState(didState(memory, didTokenOf(memory, did)));
    if (owner !== undefined) throw exists('did', did ?? '');
    if (identityCount(log, memory.number) >= AGENTS_MAX)
      throw new EngineError('LIM-E002', `a memory has at most ${AGENTS_MAX} agent identities`);
  }
  if (check === true) return { identity };
  // Partition 0 decided. An identity here is left over from a registration that did not reach partition 0.
  if (known !== undefined) dropIdentity(group, memory, agentName(agentId));
  keepIdentity(group, memory, identity);
  if (known === undefined)
    group.setState(identityCountState(memory.number), countValue(identityCount(log, memory.number) + 1));
  auditAgent(group, memory, context, 'agent.registered', identity);
  return { identity };
}

export function planDeactivate(
  group: Group,
  memory: Memory,
  context: CallContext,
  { agentId, reason }: MemoryCalls['deactivateAgent']['input'],
): MemoryCalls['deactivateAgent']['output'] {
  const { log } = group.store;
  if (reason !== undefined && reason.length > RULE_REASON_CHARS_MAX)
    throw new EngineError('VAL-E001', `a reason has at most ${RULE_REASON_CHARS_MAX} characters`, {
      details: [{ field: 'reason', issue: 'too long' }],
    });
  const entry = entryOf(log, memory, agentId);
  const known = entry === undefined ? undefined : identityAt(log, memory, entry.sequence);
  if (entry === undefined || known === undefined) throw noIdentity(agentId);
  if (known.status === 'deactivated') return { identity: known };
  const identity: AgentIdentity = defined({
    ...known,
    status: 'deactivated' as const,
    deactivatedAtMs: Math.max(group.nowMs, known.createdAtMs),
    deactivationReason: reason === undefined || reason === '' ? undefined : reason,
  });
  group.removeValues([entry.sequence]);
  keepIdentity(group, memory, identity, entry.place);
  auditAgent(group, memory, context, 'agent.deactivated', identity, reason);
  return { identity };
}

function keepIdentity(group: Group, memory: Memory, identity: AgentIdentity, place?: Sequence): void {
  const { agentId, did, status } = identity;
  const person = personOfAgent(agentId);
  const key = person === undefined ? 0 : group.keyOfUser(memory, person);
  const sequence = sequenceOf(keepRule(group, memory, 'agent', key, sealRule(memory, 'agent', key, identity)));
  const state = identityState(memory, agentName(agentId));
  const didToken = did === undefined ? undefined : didTokenOf(memory, did);
  group.setState(state, writeEntry({ sequence, place: place ?? sequence, status, didToken }));
  if (didToken !== undefined)
    group.setState(didState(memory, didToken), Buffer.from(state.slice(state.lastIndexOf('/') + 1), 'hex'));
  group.onPublish(() => memory.governed.agents.changed());
}

function auditAgent(
  group: Group,
  memory: Memory,
  { actor }: CallContext,
  event: 'agent.registered' | 'agent.deactivated',
  { agentId }: AgentIdentity,
  reason?: string,
): void {
  const person = personOfAgent(agentId);
  group.audit(memory, {
    event,
    actor,
    subject: pseudonym(memory, person),
    details: {
      agent: auditActor(memory, agentName(agentId)),
      ...reasonDetail(group, memory, reason, person),
    },
  });
}

function exists(field: 'agent_id' | 'did', value: string): EngineError {
  return new EngineError('AGT-E002', `an identity with this ${field} exists`, {
    details: [{ field, issue: `exists: ${value.slice(0, 64)}` }],
  });
}
