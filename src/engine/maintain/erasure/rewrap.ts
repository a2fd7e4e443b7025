import type { ShardWideCalls } from '../../calls/shard.ts';
import { MasterKey } from '../../keys/master-key.ts';
import type { Store } from '../../store/store.ts';
import { inSlices } from '../housekeeping/slices.ts';

/** A shard's part of a rotation of the master key. The memories' own keys stay the same, so nothing else changes. */
export async function rewrapKeys(
  store: Store,
  { masterKeys }: ShardWideCalls['rewrapKeys']['input'],
): Promise<ShardWideCalls['rewrapKeys']['output']> {
  // Buckets are replaced whole, which would lose keys that another owner of the folder has written.
  store.log.checkOwner?.();
  return { rewrapped: await inSlices(store.keys.rewrapSlices(MasterKey.of(...masterKeys))) };
}
