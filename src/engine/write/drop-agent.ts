// Removes an agent: its identity, and what was counted of it.

import { statsOf, statsState, trustStates } from '../store/agent-stats.ts';
import { agentToken, didState, identityCount, identityCountState, identityState, readEntry } from '../store/agents.ts';
import type { Memory } from '../store/memory.ts';
import { countValue } from './count-value.ts';
import type { Group } from './group.ts';

/** Removes the agent that is an erased person. Only for settled writes. */
export function dropAgent(group: Group, memory: Memory, name: string): void {
  const { log } = group.store;
  const token = agentToken(memory, name);
  group.overlay(memory).droppedAgents.add(token);
  const stats = statsOf(log, memory.number, token);
  if (stats !== undefined) {
    group.setState(statsState(memory.number, token), null);
    for (const [page] of log.scanState(trustStates(memory.number, token))) group.setState(page, null);
    if (stats.nameSequence !== 0) group.removeValues([stats.nameSequence]);
  }
  if (dropIdentity(group, memory, name))
    group.setState(identityCountState(memory.number), countValue(identityCount(log, memory.number) - 1));
}

/** Removes the identity alone, without the count of identities. False if there is none. */
export function dropIdentity(group: Group, memory: Memory, name: string): boolean {
  const state = identityState(memory, name);
  const value = group.store.log.getState(state);
  if (value === undefined) return false;
  const { sequence, didToken } = readEntry(value);
  group.removeValues([sequence]);
  group.setState(state, null);
  if (didToken !== undefined) group.setState(didState(memory, didToken), null);
  group.onPublish(() => memory.governed.agents.changed());
  return true;
}
