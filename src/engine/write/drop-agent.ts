// Removes the identity of an agent.

import { didState, identityCount, identityCountState, identityState, readEntry } from '../store/agents.ts';
import type { Memory } from '../store/memory.ts';
import { countValue } from './drop-tuples.ts';
import type { Group } from './group.ts';

/** Removes the identity of an agent who is an erased person. Only for settled writes. */
export function dropAgent(group: Group, memory: Memory, name: string): void {
  if (!dropIdentity(group, memory, name)) return;
  const { log } = group.store;
  group.setState(identityCountState(memory.number), countValue(identityCount(log, memory.number) - 1));
}

/** The same, without the count of identities. False if there is none. */
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
