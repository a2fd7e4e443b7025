// Lists the identities of a memory's agents, and shows one.

import { defined } from '../../base/defined.ts';
import type { MemoryCalls } from '../../calls/calls.ts';
import type { AgentIdentity } from '../../govern/agents/identity.ts';
import type { Sequence } from '../../log/log.ts';
import { entryOf, identitiesState, identityAt, readEntry } from '../../store/agents.ts';
import type { Memory } from '../../store/memory.ts';
import type { Store } from '../../store/store.ts';

type Input = MemoryCalls['identities']['input'];
type Output = MemoryCalls['identities']['output'];

/** Entries of the state that are read between two yields. */
const READ_EACH = 512;

export function identityOf(store: Store, memory: Memory, agentId: string): AgentIdentity | undefined {
  const entry = entryOf(store.log, memory, agentId);
  return entry === undefined ? undefined : identityAt(store.log, memory, entry.sequence);
}

/** In the order of registration. Yields while it reads the state. */
export function* listIdentities(
  store: Store,
  memory: Memory,
  { status, order, after, offset, limit }: Input,
): Generator<void, Output, void> {
  const found: { readonly sequence: Sequence; readonly place: Sequence }[] = [];
  let read = 0;
  for (const [, value] of store.log.scanState(identitiesState(memory))) {
    const entry = readEntry(value);
    if (status === undefined || entry.status === status) found.push(entry);
    read += 1;
    if (read % READ_EACH === 0) yield;
  }
  const sign = order === 'asc' ? 1 : -1;
  found.sort((one, other) => sign * (one.place - other.place));
  const rest = after === undefined ? found : found.filter(({ place }) => sign * (place - after) > 0);
  const shown = rest.slice(offset, offset + limit);
  const identities: AgentIdentity[] = [];
  for (const { sequence } of shown) {
    const identity = identityAt(store.log, memory, sequence);
    if (identity !== undefined) identities.push(identity);
    yield;
  }
  const last = shown.at(-1);
  return defined({
    identities,
    total: found.length,
    next: last === undefined || rest.length <= offset + limit ? undefined : last.place,
  });
}
