// Evidence on the agents of a memory: who acts without an identity, and who acts after a deactivation.

import { agentOfPrincipal } from '../../govern/agents/identity.ts';
import { entryOf, identitiesState, identityAt, readEntry } from '../../store/agents.ts';
import type { Memory } from '../../store/memory.ts';
import type { Store } from '../../store/store.ts';

/** Agents that a report names. */
const NAMED_MAX = 100;

/** The given principals or dids that no identity has. */
export function unregistered({ governed: { agents } }: Memory, named: readonly string[]): readonly string[] {
  return named.filter((text) => {
    const name = agentOfPrincipal(text);
    return name === undefined ? agents.author(text) === undefined : !agents.isRegistered(name);
  });
}

/** The number of deactivated agents. */
export function deactivatedCount(store: Store, memory: Memory): number {
  let count = 0;
  for (const [, value] of store.log.scanState(identitiesState(memory)))
    if (readEntry(value).status === 'deactivated') count += 1;
  return count;
}

/** Deactivated agents whose last act, in seconds, is later than their deactivation. */
export function actingAfter(store: Store, memory: Memory, lastActs: ReadonlyMap<string, number>): readonly string[] {
  const late: string[] = [];
  for (const [name, lastSeconds] of lastActs) {
    if (late.length >= NAMED_MAX) break;
    const entry = entryOf(store.log, memory, name);
    if (entry?.status !== 'deactivated') continue;
    const { deactivatedAtMs } = identityAt(store.log, memory, entry.sequence) ?? {};
    // The trail has whole seconds.
    if (deactivatedAtMs !== undefined && lastSeconds > Math.floor(deactivatedAtMs / 1000)) late.push(name);
  }
  return late;
}
