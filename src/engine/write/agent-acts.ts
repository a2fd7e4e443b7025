// Counts what agents did in a group, and writes it with the group: counters and changes of trust to the state, and at most
// three entries of the trail for each agent, however many acts the group holds.

import { AGENTS_SEEN_MAX, TRUST_PAGE_POINTS, TRUST_PAGES } from '../base/limits.ts';
import { personOfAgent } from '../govern/agents/identity.ts';
import { counted, NO_COUNTS, type TrustCounts, type TrustReason, trustScore } from '../govern/agents/trust.ts';
import { type AuditDraft, SYSTEM_ACTOR } from '../govern/trail/audit.ts';
import type { Ordinal } from '../index/parts/part.ts';
import type { Sequence } from '../log/log.ts';
import type { EngineRecord } from '../record/record.ts';
import {
  type AgentStats,
  pageOf,
  type StoredChange,
  seenCount,
  seenCountState,
  statsOf,
  statsState,
  trustState,
  writePage,
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

/** What one agent did in a group. */
export class AgentActs {
  readonly agent: ActingAgent;
  grains = 0;
  recalls = 0;
  readonly changes: { readonly reason: TrustReason; readonly ordinal: Ordinal }[] = [];

  constructor(agent: ActingAgent) {
    this.agent = agent;
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
  const after = keepChanges(group, memory, agent.token, before, changes);
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

/** Writes the pages that the changes touch, and returns the counts after them. */
function keepChanges(
  group: ClosingGroup,
  memory: Memory,
  token: string,
  stats: AgentStats,
  changes: AgentActs['changes'],
): TrustCounts {
  let { changes: number } = stats;
  let counts: TrustCounts = { succeeded: stats.succeeded, failed: stats.failed, refused: stats.refused };
  if (changes.length === 0) return counts;
  const { log } = group.store;
  const lastPage = Math.floor((number + changes.length - 1) / TRUST_PAGE_POINTS);
  let page = Math.floor(number / TRUST_PAGE_POINTS);
  const begun = number % TRUST_PAGE_POINTS === 0 ? undefined : pageOf(log, memory.number, token, page);
  let before = begun?.before ?? counts;
  let kept: StoredChange[] = [...(begun?.changes ?? [])];
  const close = (): void => {
    // Pages that later ones of this group replace are not written.
    if (lastPage - page < TRUST_PAGES)
      group.setState(trustState(memory.number, token, page), writePage({ number: page, before, changes: kept }));
  };
  for (const { reason, ordinal } of changes) {
    const own = Math.floor(number / TRUST_PAGE_POINTS);
    if (own !== page) {
      close();
      page = own;
      before = counts;
      kept = [];
    }
    kept.push({ atMs: group.nowMs, reason, ordinal });
    counts = counted(counts, reason);
    number += 1;
  }
  close();
  return counts;
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
