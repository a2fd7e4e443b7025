// Shows what the agents of a memory did in this partition.

import { defined } from '../../base/defined.ts';
import { TRUST_POINTS_MAX } from '../../base/limits.ts';
import type { AgentColumns, AgentSeen } from '../../calls/agents.ts';
import type { MemoryCalls } from '../../calls/calls.ts';
import type { CallContext } from '../../calls/context.ts';
import { agentName } from '../../govern/agents/identity.ts';
import { counted, NO_COUNTS, type TrustChange, type TrustCounts } from '../../govern/agents/trust.ts';
import {
  type AgentStats,
  allStatsState,
  pagesOf,
  readStats,
  type StoredChange,
  statsOf,
} from '../../store/agent-stats.ts';
import { agentToken, identitiesState, identityAt, readEntry } from '../../store/agents.ts';
import type { Memory } from '../../store/memory.ts';
import { refuseRead } from '../../store/readable.ts';
import { readSealedRule } from '../../store/rules.ts';
import type { Store } from '../../store/store.ts';
import { isWithin } from '../../store/within.ts';
import { noIdentity } from '../../write/no-identity.ts';
import { identityOf } from './identities.ts';

/** Records that are opened between two yields. */
const READ_EACH = 64;

type Output = MemoryCalls['agent']['output'];

/** Yields while it reads. */
export function* agentColumns(store: Store, memory: Memory): Generator<void, AgentColumns, void> {
  const { log } = store;
  const ids: string[] = [];
  const statuses: AgentColumns['statuses'][number][] = [];
  const createdMs: number[] = [];
  const seen: number[] = [];
  const registered = new Set<string>();
  const take = (id: string, status: (typeof statuses)[number], atMs: number, stats: AgentStats | undefined): void => {
    ids.push(id);
    statuses.push(status);
    createdMs.push(atMs);
    const { grains, succeeded, failed, refused, firstMs, lastMs } = stats ?? NOTHING_SEEN;
    seen.push(grains, succeeded, failed, refused, firstMs, lastMs);
  };
  let read = 0;
  const prefix = identitiesState(memory);
  for (const [state, value] of log.scanState(prefix)) {
    const { sequence, status } = readEntry(value);
    const token = state.slice(prefix.length);
    const identity = identityAt(log, memory, sequence);
    registered.add(token);
    if (identity !== undefined)
      take(identity.agentId, status, identity.createdAtMs, statsOf(log, memory.number, token));
    read += 1;
    if (read % READ_EACH === 0) yield;
  }
  const allStats = allStatsState(memory.number);
  for (const [state, value] of log.scanState(allStats)) {
    if (registered.has(state.slice(allStats.length))) continue;
    const stats = readStats(value);
    const name = nameOf(store, memory, stats);
    if (name !== undefined) take(name, 'unregistered', 0, stats);
    read += 1;
    if (read % READ_EACH === 0) yield;
  }
  return { ids, statuses, createdMs, seen };
}

const NOTHING_SEEN = { ...NO_COUNTS, grains: 0, firstMs: 0, lastMs: 0 };

/** The name of an agent without an identity; undefined if its person was erased. */
function nameOf(store: Store, memory: Memory, { nameSequence }: AgentStats): string | undefined {
  if (nameSequence === 0) return undefined;
  // The group that first counted the agent sealed it.
  return (readSealedRule(store.log, memory, nameSequence) as { readonly agentId: string } | undefined)?.agentId;
}

/** AGT-E001 if the agent has no identity and did nothing here. Yields while it opens actions. */
export function* agentReport(
  store: Store,
  memory: Memory,
  context: CallContext,
  { agentId, limit }: MemoryCalls['agent']['input'],
): Generator<void, Output, void> {
  const name = agentName(agentId);
  const token = agentToken(memory, name);
  const identity = identityOf(store, memory, name);
  const stats = statsOf(store.log, memory.number, token);
  if (identity === undefined && stats === undefined) throw noIdentity(agentId);
  const { before, changes } = newest(store, memory, token, stats, limit);
  const shown: TrustChange[] = [];
  for (const { atMs, reason, ordinal } of changes) {
    const actionHash = ordinal === 0 ? undefined : shownHash(store, memory, context, ordinal);
    shown.push(defined({ atMs, reason, actionHash }));
    if (shown.length % READ_EACH === 0) yield;
  }
  return defined({
    agentId: identity?.agentId ?? name,
    identity,
    seen: stats === undefined ? null : seenOf(stats),
    before,
    changes: shown,
  });
}

function seenOf({ grains, succeeded, failed, refused, firstMs, lastMs }: AgentStats): AgentSeen {
  return { grains, succeeded, failed, refused, firstMs, lastMs };
}

/** The newest changes, and the counts before them. */
function newest(
  store: Store,
  memory: Memory,
  token: string,
  stats: AgentStats | undefined,
  limit: number,
): { readonly before: TrustCounts; readonly changes: readonly StoredChange[] } {
  const pages = stats === undefined ? [] : pagesOf(store.log, memory.number, token, stats.changes);
  let before = pages[0]?.before ?? NO_COUNTS;
  const changes = pages.flatMap((page) => page.changes);
  const left = Math.max(0, changes.length - Math.min(limit, TRUST_POINTS_MAX));
  for (const { reason } of changes.slice(0, left)) before = counted(before, reason);
  return { before, changes: changes.slice(left) };
}

/** The hash of an action that is there and may be read. */
function shownHash(store: Store, memory: Memory, context: CallContext, ordinal: number): string | undefined {
  if (store.index.removed.get(ordinal)) return undefined;
  const stored = store.readGrain(memory, ordinal);
  if (stored === undefined || !isWithin(context, stored.grain)) return undefined;
  return refuseRead(memory, context, stored.grain, store.clock.nowMs()) === undefined ? stored.address : undefined;
}
