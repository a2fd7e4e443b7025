// The write-ahead files of a data directory.
import { join } from 'node:path';
import { FORMAT_VERSION, OLDEST_FORMAT } from '../engine/log/format.ts';
import { settleWriteAhead } from '../engine/log/wal/settle.ts';

const FOLDER = 'wal';

export function writeAheadFolder(dataDirectory: string): string {
  return join(dataDirectory, FOLDER);
}

/**
 * Writes what an earlier server left in write-ahead files to its logs: that of another number of workers than `workers`,
 * or all of it. The caller holds the lock of the data directory. Rejects with STO-E001.
 */
export function settleDeployment(dataDirectory: string, shards: number, workers?: number): Promise<void> {
  return settleWriteAhead({
    directory: writeAheadFolder(dataDirectory),
    workers,
    logOf: (shard) => ({
      directory: join(dataDirectory, `shard-${shard}`, 'log'),
      options: { stamp: { formatVersion: FORMAT_VERSION, readsFrom: OLDEST_FORMAT, shard, shards }, exists: true },
    }),
  });
}
