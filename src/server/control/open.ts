// Opens the control log of a data directory.
import type { KeyObject } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../engine/base/clock.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { SHARDS_MAX } from '../../engine/base/limits.ts';
import type { MasterKey } from '../../engine/keys/master-key.ts';
import { type LogStamp, openLmdbLog } from '../../engine/log/lmdb/lmdb-log.ts';
import { CorruptRecord } from '../../engine/log/log.ts';
import { RecordKeys } from './record-keys.ts';
import { ControlStore } from './store.ts';

/**
 * Raise it when records change in a way that older builds cannot read. From format 3 on there are requests of data subjects,
 * whose keys an older build would destroy as unused.
 */
export const CONTROL_FORMAT = 3;
/** Oldest format that is read. In format 1 the control key sealed all records. */
export const CONTROL_OLDEST = 1;

/** The control log's number among the shards. No shard has it, so a shard's log in this place is rejected. */
export const CONTROL_SHARD = SHARDS_MAX;

export interface ControlKeys {
  readonly key: KeyObject;
  readonly master: MasterKey;
}

export function controlStamp(shards: number): LogStamp {
  return { formatVersion: CONTROL_FORMAT, readsFrom: CONTROL_OLDEST, shard: CONTROL_SHARD, shards };
}

/**
 * Opens the control log; creates it in a new deployment. Shards are created after it, so if a shard exists, a missing
 * control log is an error (STO-E001). The caller holds the lock of the directory. Also throws the errors of both parts.
 */
export function openControl(
  dataDirectory: string,
  { key, master }: ControlKeys,
  shards: number,
  clock: Clock,
): ControlStore {
  const stamp = controlStamp(shards);
  const exists = Array.from({ length: shards }, (_, shard) => join(dataDirectory, `shard-${shard}`)).some(existsSync);
  const log = openLmdbLog(join(dataDirectory, 'control'), { stamp, exists });
  try {
    return ControlStore.open(log, key, clock, new RecordKeys(join(dataDirectory, 'keys', 'control'), master, key));
  } catch (error) {
    void log.close();
    throw openError(error, dataDirectory);
  }
}

/** The error of an open of the control log. That of a damaged record has its sequence, but not the log it belongs to. */
export function openError(error: unknown, place: string): unknown {
  if (!(error instanceof CorruptRecord)) return error;
  return new EngineError('STO-E001', `the control log in ${place} is damaged: ${error.message}`);
}
