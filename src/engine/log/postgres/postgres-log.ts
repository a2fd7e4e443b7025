// Opens a log whose truth is in PostgreSQL, or a database that speaks like it. The owner of the shard reads from a local
// copy, and writes to the database first.
import { assert } from '../../base/assert.ts';
import { JournaledLog } from '../journaled-log.ts';
import { openLmdbLog } from '../lmdb/lmdb-log.ts';
import type { Log } from '../log.ts';
import { fillCopy } from './copy.ts';
import { type Database, databaseError } from './database.ts';
import { Lease, type LeaseOptions } from './lease.ts';
import { openStore } from './migrate.ts';
import { PostgresJournal } from './postgres-journal.ts';

export interface PostgresLogOptions extends LeaseOptions {
  readonly database: Database;
}

/**
 * Takes the shard's lease and opens its log with a copy in `directory`, which is filled where it lacks something. Rejects
 * with STO-E002 while another node holds the shard, and with STO-E001.
 */
export async function openPostgresLog(directory: string, options: PostgresLogOptions): Promise<Log> {
  const { database, stamp } = options;
  const store = await openStore(database);
  const lease = await Lease.take(database, options);
  const { taken } = lease;
  try {
    await fillCopy(database, { directory, stamp, store: store.mark, taken });
    const copy = openLmdbLog(directory, { stamp, exists: true });
    assert(copy.appends === taken.appends && copy.nextSequence === taken.next, 'the copy has what the database has');
    return new JournaledLog(copy, new PostgresJournal(database, lease), []);
  } catch (error) {
    await lease.release();
    throw databaseError(`the log of shard ${stamp.shard} cannot be opened from the database`, error);
  }
}
