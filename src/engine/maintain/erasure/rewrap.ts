import { KEY_SLOTS_APPENDED_MAX } from '../../base/limits.ts';
import type { ShardWideCalls } from '../../calls/shard.ts';
import { MasterKey } from '../../keys/master-key.ts';
import type { Store } from '../../store/store.ts';
import type { WriteQueue } from '../../write/queue.ts';
import { inSlices } from '../housekeeping/slices.ts';

/** A shard's part of a rotation of the master key. The memories' own keys stay the same, so nothing else changes. */
export async function rewrapKeys(
  { store, queue }: { readonly store: Store; readonly queue: WriteQueue },
  { masterKeys }: ShardWideCalls['rewrapKeys']['input'],
): Promise<ShardWideCalls['rewrapKeys']['output']> {
  // Buckets are replaced whole, which would lose keys that another owner of the folder has written.
  store.log.checkOwner?.();
  const steps = store.keys.rewrapSlices(MasterKey.of(...masterKeys));
  for (;;) {
    const rewrapped = await inSlices(untilManyWait(store, steps));
    while (store.keys.slotsWaiting > 0) await queue.commitState([]);
    if (rewrapped !== undefined) return { rewrapped };
  }
}

/** The result of `steps`; undefined when an append must take changed slots first. */
function* untilManyWait(store: Store, steps: Iterator<void, number, void>): Generator<void, number | undefined, void> {
  while (store.keys.slotsWaiting < KEY_SLOTS_APPENDED_MAX) {
    const step = steps.next();
    if (step.done === true) return step.value;
    yield;
  }
  return undefined;
}
