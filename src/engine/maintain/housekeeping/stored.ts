// Opens what a shard's engine stands on: its log in a directory or in a database, and its keys where they are not in files.
import { basename, join } from 'node:path';
import { holdsBuckets } from '../../keys/bucket-files.ts';
import type { Buckets } from '../../keys/buckets.ts';
import { FORMAT_VERSION, OLDEST_FORMAT } from '../../log/format.ts';
import { type LogStamp, openLmdbLog } from '../../log/lmdb/lmdb-log.ts';
import type { Log } from '../../log/log.ts';
import type { DatabaseOptions } from '../../log/postgres/postgres-log.ts';
import type { StoredFiles } from '../../log/postgres/stored-files.ts';
import { openWalLog } from '../../log/wal/wal-log.ts';
import type { WriteAheadOptions } from '../../log/wal/write-ahead.ts';
import type { CopyCare } from './copy-care.ts';

export interface StoredOptions {
  readonly directory: string;
  readonly keysDirectory: string;
  readonly log?: Log | undefined;
  readonly database?: DatabaseOptions | undefined;
  readonly writeAhead?: WriteAheadOptions | undefined;
  readonly isAlone?: (() => boolean) | undefined;
}

/** Of a shard's log as this program writes it. */
export function stampOf(shard: number, shards: number): LogStamp {
  return { formatVersion: FORMAT_VERSION, readsFrom: OLDEST_FORMAT, shard, shards };
}

/** The shard's log, and its keys where they are not in files. */
export async function openStored(stamp: LogStamp, options: StoredOptions): Promise<Stored> {
  const directory = join(options.directory, 'log');
  const { log, database, keysDirectory, writeAhead, isAlone } = options;
  if (log !== undefined) return { stored: log };
  if (database !== undefined) {
    // Loaded only where a database is named.
    const { openPostgresShard } = await import('../../log/postgres/postgres-log.ts');
    const { StagedBuckets } = await import('../../keys/staged-buckets.ts');
    const { CopyCare } = await import('./copy-care.ts');
    const {
      log: stored,
      keySlots,
      files,
      copy,
    } = await openPostgresShard(directory, stamp, database, options.directory);
    const care = new CopyCare(options.directory, copy);
    return { stored, buckets: new StagedBuckets(basename(keysDirectory), keySlots), files, care };
  }
  // Keys exist only for an existing log. Creating a new log next to them would hide the loss behind an empty shard.
  const exists = holdsBuckets(keysDirectory);
  if (writeAhead === undefined) return { stored: openLmdbLog(directory, { stamp, exists }) };
  return { stored: openWalLog(directory, { stamp, exists, writeAhead, isAlone }) };
}

export interface Stored {
  readonly stored: Log;
  readonly buckets?: Buckets | undefined;
  /** Of a shard in a database. */
  readonly files?: StoredFiles | undefined;
  readonly care?: CopyCare | undefined;
}
