// Fetches a shard's log, segments and vectors to a node that takes the shard soon, while its owner goes on. The few changes that
// come meanwhile are fetched when the node takes the shard.
import { join } from 'node:path';
import { makeFolder } from '../../base/durable-file.ts';
import { EngineError } from '../../base/errors.ts';
import type { LogStamp } from '../../log/lmdb/stamp.ts';
import { fillCopyAhead } from '../../log/postgres/copy.ts';
import { Database, databaseError } from '../../log/postgres/database.ts';
import { ownerNow } from '../../log/postgres/lease.ts';
import { openStore } from '../../log/postgres/migrate.ts';
import type { DatabaseOptions } from '../../log/postgres/postgres-log.ts';

export interface AheadOptions {
  /** The shard's own, in which nothing is open. */
  readonly directory: string;
  readonly stamp: LogStamp;
  readonly database: DatabaseOptions;
}

const FETCH_PASSES = 2;

/** Rejects with STO-E001 when the database or the disk fails. A file that the database has not whole is left out. */
export async function fetchAhead({ directory, stamp, database: { url } }: AheadOptions): Promise<void> {
  makeFolder(directory);
  const { shard } = stamp;
  const database = await Database.shared(url);
  try {
    const store = await openStore(database);
    const log = join(directory, 'log');
    // The second time, only what the owner changed during the first: little is left for the opening, and the code has run.
    for (let pass = 0; pass < FETCH_PASSES; pass++) {
      const taken = await ownerNow(database, shard);
      // Nobody has had it: there is nothing to fetch.
      if (taken === undefined) return;
      await fillCopyAhead(database, { directory: log, stamp, store: store.mark, taken, derived: directory });
    }
    // The opening needs these modules, and calls wait for it.
    await Promise.all([
      import('../../log/postgres/postgres-log.ts'),
      import('../../keys/staged-buckets.ts'),
      import('./copy-care.ts'),
    ]);
  } catch (error) {
    throw error instanceof EngineError ? error : databaseError(`shard ${shard} cannot be fetched`, error);
  } finally {
    await database.close();
  }
}
