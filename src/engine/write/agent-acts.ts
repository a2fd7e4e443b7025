// Counts what agents did in a group, and writes it with the group: counters and changes of trust to the state, and at most
// three entries of the trail for each agent, however many acts the group holds.

import { AGENTS_SEEN_MAX } from '../base/limits.ts';
import { personOfAgent } from '../govern/agents/identity.ts';
import { NO_COUNTS, type TrustCounts, type TrustReason, trustScore } from '../govern/agents/trust.ts';
import { type AuditDraft, SYSTEM_ACTOR } from '../govern/trail/audit.ts';
import type { Ordinal } from '../index/parts/part.ts';
import type { Sequence } from '../log/log.ts';
import type { EngineRecord } from '../record/record.ts';
import { isFailure, isSuccess } from '../store/action-numbers.ts';
import {
  type AgentStats,
  seenCount,
  seenCountState,
  statsOf,
  statsState,
  TrustWriter,
  writeStats,
} from '../store/agent-stats.ts';
import type { Memory } from '../store/memory.ts';
import { sealRule } from '../store/rules.ts';
import type { Store } from '../store/store.ts';
import { countValue } from './count-value.ts';
import { auditActor, pseudonym } from './pseudonym.ts';

/** An agent that acts: its id without `agent:`, and the token of it in hex. */
export interface ActingAgent {
  readonly name: string;
  readonly token: string;
}

/** The acts of one agent in a group. */
export class AgentActs {
  readonly agent: ActingAgent;
  grains = 0;
  recalls = 0;
  readonly changes: { readonly reason: TrustReason; readonly ordinal: Ordinal }[] = [];

  constructor(agent: ActingAgent) {
    this.agent = agent;
  }

  /** Counts a new grain. An action with an outcome also changes the agent's trust. */
  addGrain(ordinal: Ordinal, outcome: number | undefined): void {
    this.grains += 1;
    if (outcome === undefined) return;
    if (isSuccess(outcome)) this.changes.push({ reason: 'action_succeeded', ordinal });
    else if (isFailure(outcome)) this.changes.push({ reason: 'action_failed', ordinal });
  }
}

/** The parts of a group that counting needs. */
interface ClosingGroup {
  readonly store: Pick<Store, 'log'>;
  readonly nowMs: number;
  record(record: EngineRecord): Sequence;
  setState(key: string, value: Uint8Array | null): void;
  audit(memory: Memory, draft: AuditDraft): void;
  keyOfUser(memory: Memory, userId: string): number;
  overlay(memory: Memory): { agentsSeen: number | undefined };
}

/** Adds the acts of one agent to the group that is about to be written. */
export function closeActs(group: ClosingGroup, memory: Memory, acts: AgentActs): void {
  const { agent, grains, changes } = acts;
  const { store, nowMs } = group;
  const known = statsOf(store.log, memory.number, agent.token);
  if (known === undefined && !hasRoom(group, memory, agent)) return;
  const before: AgentStats = known ?? {
    ...NO_COUNTS,
    grains: 0,
    firstMs: nowMs,
    lastMs: nowMs,
    changes: 0,
    nameSequence: nameRecord(group, memory, agent),
  };
  const writer = new TrustWriter(store.log, { memory: memory.number, token: agent.token, nowMs }, before);
  writer.append(changes, (state, page) => group.setState(state, page));
  const after = writer.counts;
  const stats: AgentStats = {
    ...before,
    ...after,
    grains: before.grains + grains,
    lastMs: Math.max(before.lastMs, nowMs),
    changes: before.changes + changes.length,
  };
  group.setState(statsState(memory.number, agent.token), writeStats(stats));
  auditActs(group, memory, acts, { before, after });
}

/** False when the memory counts as many agents as it may. An agent with an identity always has room. */
function hasRoom(group: ClosingGroup, memory: Memory, { name }: ActingAgent): boolean {
  if (memory.governed.agents.isRegistered(name)) return true;
  const overlay = group.overlay(memory);
  overlay.agentsSeen ??= seenCount(group.store.log, memory.number);
  if (overlay.agentsSeen >= AGENTS_SEEN_MAX) return false;
  overlay.agentsSeen += 1;
  group.setState(seenCountState(memory.number), countValue(overlay.agentsSeen));
  return true;
}

/** The sequence of the record that holds the agent's name; 0 when its identity holds it. */
function nameRecord(group: ClosingGroup, memory: Memory, { name }: ActingAgent): number {
  if (memory.governed.agents.isRegistered(name)) return 0;
  const person = personOfAgent(name);
  const key = person === undefined ? 0 : group.keyOfUser(memory, person);
  const sealed = sealRule(memory, 'agent', key, { agentId: name });
  return group.record({ kind: 'rule', memory: memory.number, about: 'agent', key, atMs: group.nowMs, sealed });
}

function auditActs(
  group: ClosingGroup,
  memory: Memory,
  { agent: { name }, grains, recalls, changes }: AgentActs,
  { before, after }: { readonly before: TrustCounts; readonly after: TrustCounts },
): void {
  const agent = auditActor(memory, name);
  const entry = { actor: SYSTEM_ACTOR, subject: pseudonym(memory, personOfAgent(name)) };
  if (grains > 0) group.audit(memory, { event: 'agent.write', ...entry, details: { agent, grains } });
  if (recalls > 0) group.audit(memory, { event: 'agent.recall', ...entry, details: { agent, recalls } });
  if (changes.length === 0) return;
  group.audit(memory, {
    event: 'agent.trust_changed',
    ...entry,
    details: {
      agent,
      delta: rounded(trustScore(after) - trustScore(before)),
      failed: after.failed - before.failed,
      refused: after.refused - before.refused,
      score: rounded(trustScore(after)),
      succeeded: after.succeeded - before.succeeded,
    },
  });
}

function rounded(score: number): number {
  return Math.round(score * 1e6) / 1e6;
}
