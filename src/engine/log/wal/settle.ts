// Writes what a crash left in write-ahead files to the logs that it belongs to, and removes the files.
import type { Log } from '../log.ts';
import { takeOwnership } from './owner.ts';
import { openWalLog, type WalLogOptions } from './wal-log.ts';
import { fileOwnersIn, WriteAhead } from './write-ahead.ts';

export interface SettleOptions {
  /** The folder of the write-ahead files. It may be absent. */
  readonly directory: string;
  /** The number of workers whose files stay: each of these workers reads its own. Absent: none stay. */
  readonly workers?: number | undefined;
  /** The folder of a shard's log, and how it is opened. */
  readonly logOf: (shard: number) => {
    readonly directory: string;
    readonly options: Omit<WalLogOptions, 'writeAhead'>;
  };
}

/**
 * For files of another number of workers: their shards belong to other workers now. The caller holds the lock of the data
 * directory. Rejects with STO-E001 when a log or a file cannot be read, or when there is no room; the files stay then.
 */
export async function settleWriteAhead({ directory, workers, logOf }: SettleOptions): Promise<void> {
  const owners = fileOwnersIn(directory).filter((owner) => owner.workers !== workers);
  if (owners.length === 0) return;
  const mark = takeOwnership(directory);
  for (const owner of owners) {
    const writeAhead = { ...owner, directory, mark };
    const files = WriteAhead.of(writeAhead);
    const shards = files.recoveredShards;
    const logs: Log[] = [];
    try {
      for (const shard of shards) {
        const { directory: log, options } = logOf(shard);
        logs.push(openWalLog(log, { ...options, writeAhead }));
      }
      await files.checkpoint();
    } finally {
      for (const log of logs) await log.close();
      // When the first log does not open, that closes them.
      if (shards.length === 0) await files.close();
    }
  }
}
