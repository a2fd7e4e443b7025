import { defined } from '../../base/defined.ts';
import type { MemoryCalls } from '../../calls/calls.ts';
import type { CallContext } from '../../calls/context.ts';
import type { ExportedGrain } from '../../calls/grain.ts';
import type { Ordinal } from '../../index/parts/part.ts';
import { filterPart } from '../../recall/filter/filter.ts';
import type { Memory } from '../../store/memory.ts';
import type { Store } from '../../store/store.ts';
import { shownSuccessor, successorAddress } from '../../store/view.ts';
import { isWithin } from '../../store/within.ts';
import { inSlices } from '../housekeeping/slices.ts';

/** Blobs in ordinal order after `after`, until they reach `limitBytes`; at least one if any is left. */
export function exportPage(
  store: Store,
  memory: Memory,
  context: CallContext,
  input: MemoryCalls['exportPage']['input'],
): Promise<MemoryCalls['exportPage']['output']> {
  return inSlices(page(store, memory, context, input));
}

function* page(
  store: Store,
  memory: Memory,
  context: CallContext,
  input: MemoryCalls['exportPage']['input'],
): Generator<void, MemoryCalls['exportPage']['output'], void> {
  const grains: ExportedGrain[] = [];
  let bytes = 0;
  let last = input.after;
  for (const ordinal of ordinalsAfter(store, memory, context, input)) {
    if (bytes >= input.limitBytes) return { grains, last, done: false };
    last = ordinal;
    const stored = store.readGrain(memory, ordinal);
    if (stored === undefined || !isWithin(context, stored.grain)) continue;
    grains.push({ hash: stored.address, blob: stored.blob, ...statusOf(store, memory, context, ordinal) });
    bytes += stored.blob.length;
    yield;
  }
  return { grains, last, done: true };
}

/** Taken at once: parts may be merged while the page is read, but ordinals stay the same. */
function ordinalsAfter(
  store: Store,
  memory: Memory,
  context: CallContext,
  input: MemoryCalls['exportPage']['input'],
): Ordinal[] {
  const ordinals: Ordinal[] = [];
  for (const part of store.parts(memory.number)) {
    const filter = filterPart(store, part, input.filter, context);
    const consider = (doc: number): void => {
      const ordinal = part.ordinals[doc]!;
      if (ordinal > input.after && filter.test(doc)) ordinals.push(ordinal);
    };
    if (filter.docs === undefined) for (let doc = 0; doc < part.docCount; doc++) consider(doc);
    else for (const doc of filter.docs) consider(doc);
  }
  return ordinals.sort((a, b) => a - b);
}

function statusOf(
  store: Store,
  memory: Memory,
  context: CallContext,
  ordinal: Ordinal,
): Omit<ExportedGrain, 'hash' | 'blob'> {
  const address = successorAddress(store, memory, ordinal, context);
  const verification = store.status.verification(ordinal);
  return defined({
    supersededBy: address,
    systemValidToMs: address === undefined ? undefined : shownSuccessor(store, memory, ordinal)?.atMs,
    verificationStatus: verification === '' ? undefined : verification,
  });
}
