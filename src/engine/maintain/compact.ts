import type { CallContext, MemoryCalls } from '../calls.ts';
import type { Store } from '../store/store.ts';
import { auditPlan } from '../write/plans.ts';
import type { WriteQueue } from '../write/queue.ts';
import type { Housekeeper } from './housekeeper.ts';
import { inSlices } from './slices.ts';

/** Merges every segment of the shard into one and drops what was removed. Reads and writes go on. */
export async function compact(
  {
    store,
    queue,
    housekeeper,
  }: { readonly store: Store; readonly queue: WriteQueue; readonly housekeeper: Housekeeper },
  context: CallContext,
): Promise<MemoryCalls['compact']['output']> {
  await housekeeper.sealed(store.index.publishedSequence);
  await housekeeper.pause();
  try {
    const before = store.index.bytesOnDisk;
    const change = await inSlices(store.index.compact());
    if (change !== undefined) {
      await queue.commitState(change.state);
      store.index.commit(change);
    }
    const reclaimedBytes = Math.max(0, before - store.index.bytesOnDisk);
    await queue.push('audit', auditPlan, context, {
      event: 'tier.compaction_run',
      actor: context.actor,
      subject: '',
      details: { reclaimed_bytes: reclaimedBytes },
    });
    return { reclaimedBytes };
  } finally {
    housekeeper.resume();
  }
}
