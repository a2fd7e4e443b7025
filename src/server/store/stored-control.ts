// Opens the control log of a store.
import type { Clock } from '../../engine/base/clock.ts';
import { StagedBuckets } from '../../engine/keys/staged-buckets.ts';
import { CorruptRecord } from '../../engine/log/log.ts';
import { distrustCopy } from '../../engine/log/postgres/copy.ts';
import type { PostgresShard } from '../../engine/log/postgres/postgres-log.ts';
import { type ControlKeys, openError } from '../control/open.ts';
import { RecordKeys } from '../control/record-keys.ts';
import { ControlStore } from '../control/store.ts';

/** Throws as `openControl`, and CorruptRecord; the log stays open then. */
export function openStoredControl(
  { log, keySlots }: PostgresShard,
  { key, master }: ControlKeys,
  clock: Clock,
): ControlStore {
  return ControlStore.open(log, key, clock, new RecordKeys(new StagedBuckets('control', keySlots), master, key));
}

/**
 * Closes the log after `error`, and resolves to the error for the caller. A damaged copy in `directory` is filled again the next time: its
 * disk may have damaged it, and the database may have it whole.
 */
export async function closeUnopened(directory: string, { log }: PostgresShard, error: unknown): Promise<unknown> {
  await log.close();
  // The mark of the copy may have been written until then.
  if (error instanceof CorruptRecord) distrustCopy(directory);
  return openError(error, 'the store');
}
