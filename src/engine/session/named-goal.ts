// The goal of a hash, for walks up the parents of goals. Every version of a goal names the goal, and the newest one has
// its parents.
import type { CallContext } from '../calls/context.ts';
import type { NamedGoal } from '../calls/goals.ts';
import type { Ordinal } from '../index/parts/part.ts';
import type { Memory } from '../store/memory.ts';
import { refuseRead } from '../store/readable.ts';
import type { Store } from '../store/store.ts';
import type { StoredGrain } from '../store/stored-grain.ts';
import { isWithin } from '../store/within.ts';

/** Undefined if the grain is not in this partition, or the caller may not read it. */
export function namedGoal(store: Store, memory: Memory, context: CallContext, hash: string): NamedGoal | undefined {
  const named = store.findOrdinal(memory.number, hash);
  if (named === undefined || readable(store, memory, context, named) === undefined) return undefined;
  const versions = [named];
  for (let next = store.status.supersession(memory.number, named); next !== undefined; ) {
    versions.push(next.newOrdinal);
    next = store.status.supersession(memory.number, next.newOrdinal);
  }
  // The newest version may be forgotten, or hidden from the caller. At least the named one is readable.
  const tip = versions.at(-1)!;
  let newest: StoredGrain | undefined;
  for (let at = versions.pop(); newest === undefined && at !== undefined; at = versions.pop())
    newest = readable(store, memory, context, at);
  const parents = newest?.grain.type === 'goal' ? newest.grain.fields['parent_goals'] : undefined;
  return {
    chain: tip,
    isGoal: newest?.grain.type === 'goal',
    parents: Array.isArray(parents) ? parents.filter((parent) => typeof parent === 'string') : [],
  };
}

function readable(store: Store, memory: Memory, context: CallContext, ordinal: Ordinal): StoredGrain | undefined {
  const stored = store.readGrain(memory, ordinal);
  if (stored === undefined || !isWithin(context, stored.grain)) return undefined;
  return refuseRead(memory, context, stored.grain, store.clock.nowMs()) === undefined ? stored : undefined;
}
