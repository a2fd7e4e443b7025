// The longest chain of versions in a partition. A chain belongs to one partition.
import { METRIC_LINKS_MAX } from '../../base/limits.ts';
import type { Sliced } from '../../index/files/section.ts';
import type { Ordinal } from '../../index/parts/part.ts';
import { decodeRecord } from '../../record/record-codec.ts';
import type { Store } from '../../store/store.ts';

/**
 * The number of versions in the longest chain, and the number of links that were read. Reads the newest
 * `METRIC_LINKS_MAX` links. A version that was removed ends its chain's count: what follows it counts from 1 again.
 */
export function* deepestChain(
  store: Store,
  memory: number,
): Sliced<{ readonly versions: number; readonly links: number }> {
  /** Versions up to each one, by its ordinal. A new version has a higher sequence number than its predecessor. */
  const depths = new Map<Ordinal, number>();
  let versions = 0;
  let links = 0;
  for (const sequence of store.allKeyed(memory, 'predecessor').slice(-METRIC_LINKS_MAX)) {
    yield;
    const bytes = store.log.read(sequence);
    const record = bytes === undefined ? undefined : decodeRecord(bytes);
    if (record?.kind !== 'status' || record.newOrdinal === 0) continue;
    const { oldOrdinal, newOrdinal } = record;
    if (store.index.removed.get(oldOrdinal) || store.index.removed.get(newOrdinal)) continue;
    const depth = (depths.get(oldOrdinal) ?? 1) + 1;
    depths.set(newOrdinal, depth);
    versions = Math.max(versions, depth);
    links += 1;
  }
  return { versions, links };
}
