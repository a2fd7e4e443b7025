// Opens the control log of a store.
import type { Clock } from '../../engine/base/clock.ts';
import { StagedBuckets } from '../../engine/keys/staged-buckets.ts';
import type { PostgresShard } from '../../engine/log/postgres/postgres-log.ts';
import { type ControlKeys, openError } from '../control/open.ts';
import { RecordKeys } from '../control/record-keys.ts';
import { ControlStore } from '../control/store.ts';

/** Throws as `openControl`; the log stays open then. */
export function openStoredControl(
  { log, keySlots }: PostgresShard,
  { key, master }: ControlKeys,
  clock: Clock,
): ControlStore {
  try {
    return ControlStore.open(log, key, clock, new RecordKeys(new StagedBuckets('control', keySlots), master, key));
  } catch (error) {
    throw openError(error, 'the store');
  }
}
