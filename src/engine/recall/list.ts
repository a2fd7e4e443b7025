// A page of grains by structure, in order of creation, ties by address.
import type { CallContext, MemoryCalls } from '../calls.ts';
import type { Ordinal } from '../index/part.ts';
import type { Memory } from '../store/memory.ts';
import type { Store } from '../store/store.ts';
import { viewGrain } from '../store/view.ts';
import { filterPart, passing } from './filter.ts';

interface Entry {
  readonly ordinal: Ordinal;
  readonly createdAtMs: number;
}

export function list(
  store: Store,
  memory: Memory,
  context: CallContext,
  input: MemoryCalls['list']['input'],
): MemoryCalls['list']['output'] {
  const descending = input.order === 'desc';
  const entries: Entry[] = [];
  for (const part of store.parts(memory.number)) {
    for (const doc of passing(part, filterPart(store, part, input.filter, context)))
      entries.push({ ordinal: part.ordinals[doc]!, createdAtMs: part.createdAtMs[doc]! });
  }
  const sign = descending ? -1 : 1;
  entries.sort((a, b) => sign * (a.createdAtMs - b.createdAtMs) || byAddress(store, a, b));
  const start = (input.after === undefined ? 0 : firstAfter(store, entries, input.after, sign)) + (input.offset ?? 0);
  const grains = [];
  let at = start;
  for (; at < entries.length && grains.length < input.limit; at++) {
    const stored = store.readGrain(memory, entries[at]!.ordinal);
    if (stored !== undefined) grains.push(viewGrain(store, memory, stored));
  }
  const last = grains[grains.length - 1];
  const more = at < entries.length;
  return {
    grains,
    total: entries.length,
    more,
    ...(more && last !== undefined ? { next: { createdAtMs: last.createdAtMs, hash: last.hash } } : {}),
  };
}

/** Index of the first entry behind the cursor. */
function firstAfter(store: Store, entries: readonly Entry[], after: { createdAtMs: number; hash: string }, sign: number): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const entry = entries[middle]!;
    const order = sign * (entry.createdAtMs - after.createdAtMs);
    const behind = order > 0 || (order === 0 && (store.addressAt(entry.ordinal) ?? '') > after.hash);
    if (behind) high = middle;
    else low = middle + 1;
  }
  return low;
}

function byAddress(store: Store, a: Entry, b: Entry): number {
  return (store.addressAt(a.ordinal) ?? '') < (store.addressAt(b.ordinal) ?? '') ? -1 : 1;
}
