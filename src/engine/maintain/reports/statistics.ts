import type { MemoryStatistics } from '../../calls/memory.ts';
import { GRAIN_TYPE_NAMES } from '../../grain/grain.ts';
import { DocSet } from '../../index/docs/docset.ts';
import { ANY_RELATION } from '../../index/parts/part.ts';
import type { Store } from '../../store/store.ts';
import { type Binding, isBound } from '../../store/within.ts';
import { vectorState } from '../housekeeping/embed.ts';
import { countUsers, seenDocs } from './users.ts';

const NOTHING = new Uint32Array(0);

/** Counts that are known only for the whole memory. */
function ofTheWhole(store: Store, memory: number, pendingWrites: number) {
  return {
    auditEntries: store.auditHead(memory).seq,
    pendingWrites,
    vectors: store.vectors.count(memory),
    purgePending: store.purgePending.has(memory) ? 1 : 0,
    indexLag: vectorState(store, memory).lag,
  };
}

/**
 * Counts over a memory's parts in this shard, of the grains that the caller sees. Removed grains are not counted,
 * superseded ones are. `pendingWrites` is the shard's.
 */
export function memoryStatistics(
  store: Store,
  memory: number,
  {
    binding = {},
    pendingWrites = 0,
  }: { readonly binding?: Binding | undefined; readonly pendingWrites?: number | undefined } = {},
): MemoryStatistics {
  const isPart = isBound(binding);
  const parts = store.parts(memory);
  const { removed, superseded } = store.index;
  const typeCounts: Record<string, number> = Object.fromEntries(GRAIN_TYPE_NAMES.map((type) => [type, 0]));
  const namespaces = new Set<string>();
  let totalGrains = 0;
  let supersededGrains = 0;
  let triples = 0;
  let bytes = 0;
  for (const part of parts) {
    const seen = isPart ? DocSet.of(part.docCount, seenDocs(part, binding)) : undefined;
    const isLive = (doc: number): boolean => (seen?.has(doc) ?? true) && !removed.get(part.ordinals[doc]!);
    const count = (docs: Uint32Array): number => {
      if (removed.count === 0 && seen === undefined) return docs.length;
      let live = 0;
      for (const doc of docs) if (isLive(doc)) live += 1;
      return live;
    };
    for (let doc = 0; doc < part.docCount; doc++) {
      if (!isLive(doc)) continue;
      totalGrains += 1;
      bytes += part.blobBytes[doc]!;
      if (superseded.get(part.ordinals[doc]!)) supersededGrains += 1;
    }
    for (const [type] of part.facetValues('type'))
      typeCounts[type] = (typeCounts[type] ?? 0) + count(part.facet('type', type)!);
    for (const [namespace] of part.facetValues('namespace'))
      if (!namespaces.has(namespace) && count(part.facet('namespace', namespace)!) > 0) namespaces.add(namespace);
    triples += count(part.facet('relation', ANY_RELATION) ?? NOTHING);
  }
  return {
    totalGrains,
    diskSpaceBytes: bytes + (isPart ? 0 : store.index.memoryBytes(memory)),
    typeCounts,
    namespaces: [...namespaces].sort(),
    userCount: countUsers(store, store.memory(memory), binding),
    supersededGrains,
    triples,
    ...(isPart ? {} : ofTheWhole(store, memory, pendingWrites)),
  };
}
