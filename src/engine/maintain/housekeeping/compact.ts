import { defined } from '../../base/defined.ts';
import type { MemoryCalls } from '../../calls/calls.ts';
import type { CallContext } from '../../calls/context.ts';
import type { Store } from '../../store/store.ts';
import { auditPlan } from '../../write/plans.ts';
import type { WriteQueue } from '../../write/queue.ts';
import type { Housekeeper } from './housekeeper.ts';
import { resealBlobs } from './reseal.ts';
import { inSlices } from './slices.ts';

/**
 * Re-seals grains under older blob keys of the memory, merges all segments of the shard into one and drops removed
 * grains. Reads and writes continue.
 */
export async function compact(
  services: { readonly store: Store; readonly queue: WriteQueue; readonly housekeeper: Housekeeper },
  context: CallContext,
): Promise<MemoryCalls['compact']['output']> {
  const { queue } = services;
  const resealed = await resealBlobs(services, context);
  const reclaimedBytes = await mergeAll(services);
  // The records that were sealed again had older forms.
  await services.store.log.scrub?.();
  await services.store.uploads?.settle();
  // The entry is written however late it is, because the compaction was done.
  const { deadlineMs: _, ...anytime } = context;
  await queue.push('audit', auditPlan, anytime, {
    event: 'tier.compaction_run',
    actor: context.actor,
    subject: '',
    details: defined({ reclaimed_bytes: reclaimedBytes, resealed: resealed === 0 ? undefined : resealed }),
  });
  return { reclaimedBytes };
}

/** Resolves to the number of bytes freed. */
async function mergeAll({
  store,
  housekeeper,
}: {
  readonly store: Store;
  readonly housekeeper: Housekeeper;
}): Promise<number> {
  await housekeeper.sealed(store.index.publishedSequence);
  await housekeeper.pause();
  try {
    const change = await inSlices(store.index.compact(housekeeper.mergesElsewhere), () => store.index.mergesElsewhere);
    return change === undefined ? 0 : Math.max(0, await housekeeper.commit(change));
  } finally {
    housekeeper.resume();
  }
}
