// Finds addresses by prefix.

import type { PartitionReads } from '../../calls/cal.ts';
import type { CallContext } from '../../calls/context.ts';
import type { Memory } from '../../store/memory.ts';
import { refuseRead } from '../../store/readable.ts';
import type { Store } from '../../store/store.ts';
import { isWithin } from '../../store/within.ts';

/** Maximum number of grains to open for the binding check. Beyond it the prefix is ambiguous anyway. */
const OPENED_MAX = 64;

/**
 * At most two addresses that begin with `prefix` (8 to 64 hex digits, lower case). Includes grains of every status but
 * removed. Grains outside the caller's binding count as missing.
 */
export function findAddresses(
  store: Store,
  memory: Memory,
  context: CallContext,
  { prefix }: PartitionReads['find']['input'],
): PartitionReads['find']['output'] {
  const hashes = new Set<string>();
  let opened = 0;
  for (const part of store.parts(memory.number)) {
    const { addressHeads: heads, ordinals, docCount } = part;
    const head = Number.parseInt(prefix.slice(0, 8), 16);
    const docs = prefix.length >= 16 ? part.address(prefix) : docsWithHead(heads, head, docCount);
    for (const doc of docs) {
      const ordinal = ordinals[doc]!;
      if (store.index.removed.get(ordinal)) continue;
      const address = store.addressAt(ordinal);
      if (address === undefined || !address.startsWith(prefix) || hashes.has(address)) continue;
      if (opened++ >= OPENED_MAX) return { hashes: [...hashes] };
      const stored = store.readGrain(memory, ordinal);
      if (stored === undefined || !isWithin(context, stored.grain)) continue;
      if (refuseRead(memory, context, stored.grain, store.clock.nowMs()) === undefined) hashes.add(address);
      if (hashes.size === 2) return { hashes: [...hashes] };
    }
  }
  return { hashes: [...hashes] };
}

function docsWithHead(heads: Uint32Array, head: number, docCount: number): number[] {
  const docs: number[] = [];
  for (let doc = heads.indexOf(head); doc !== -1 && doc < docCount; doc = heads.indexOf(head, doc + 1)) docs.push(doc);
  return docs;
}
