// The control log of a data directory, opened.
import type { KeyObject } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../engine/base/clock.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { SHARDS_MAX } from '../../engine/base/limits.ts';
import type { MasterKey } from '../../engine/keys/master-key.ts';
import { openLmdbLog } from '../../engine/log/lmdb/lmdb-log.ts';
import { CorruptRecord } from '../../engine/log/log.ts';
import { RecordKeys } from './record-keys.ts';
import { ControlStore } from './store.ts';

/** Raised when its records change in a way that an older build cannot read. */
export const CONTROL_FORMAT = 2;
/** The oldest that is read: 1 had everything under the control key. */
const OLDEST_FORMAT = 1;

/**
 * Opens it, making it when it is not there and the deployment is new: shards are made after it, so where one is, a lost
 * control log is refused (STO-E001). The caller holds the lock of the directory. Throws as both parts do.
 */
export function openControl(
  dataDirectory: string,
  { key, master }: { readonly key: KeyObject; readonly master: MasterKey },
  shards: number,
  clock: Clock,
): ControlStore {
  // No shard has this number: a shard's log in its place is refused.
  const stamp = { formatVersion: CONTROL_FORMAT, readsFrom: OLDEST_FORMAT, shard: SHARDS_MAX, shards };
  const exists = Array.from({ length: shards }, (_, shard) => join(dataDirectory, `shard-${shard}`)).some(existsSync);
  const log = openLmdbLog(join(dataDirectory, 'control'), { stamp, exists });
  try {
    return ControlStore.open(log, key, clock, new RecordKeys(join(dataDirectory, 'keys', 'control'), master, key));
  } catch (error) {
    void log.close();
    // A record that is damaged knows its sequence, and not whose it is.
    if (error instanceof CorruptRecord)
      throw new EngineError('STO-E001', `the control log in ${dataDirectory} is damaged: ${error.message}`);
    throw error;
  }
}
