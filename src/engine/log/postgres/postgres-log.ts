// Opens a log whose truth is in PostgreSQL, or a database that speaks like it. The owner of the shard reads from a local
// copy, and writes to the database first.
import { assert } from '../../base/assert.ts';
import { EngineError } from '../../base/errors.ts';
import { unlessAborted } from '../../base/settled-within.ts';
import { JournaledLog } from '../journaled-log.ts';
import { openLmdbLog } from '../lmdb/lmdb-log.ts';
import type { LogStamp } from '../lmdb/stamp.ts';
import type { Log } from '../log.ts';
import {
  distrustCopy,
  doubtFiles,
  type Filled,
  fillCopy,
  fillSpareCopy,
  reportedWentBack,
  type SpareFilled,
} from './copy.ts';
import { Database, databaseError } from './database.ts';
import { readKeySlots } from './key-slots.ts';
import { StoredKeys } from './key-store.ts';
import { Lease, type LeaseOptions, logName, ownerNow, shardName, takenAway } from './lease.ts';
import { openStore } from './migrate.ts';
import { PostgresJournal } from './postgres-journal.ts';
import { StoredFiles } from './stored-files.ts';

export interface PostgresLogOptions extends LeaseOptions {
  readonly database: Database;
  readonly keyUrl?: string | undefined;
  /** As of a copy. */
  readonly derived?: string | undefined;
}

/** Where a shard's truth lies. Plain data: it crosses threads. */
export interface DatabaseOptions extends Omit<LeaseOptions, 'stamp'> {
  readonly url: string;
  /** Of the key store, if the keys are in one. */
  readonly keyUrl?: string | undefined;
}

/** The copy of an owner's log on its disk. */
export interface OwnCopy {
  /** False when what came from the database at the open was damaged there. */
  readonly isWhole: boolean;
  /** As of `fillCopy`. */
  readonly wentBack: boolean;
  /** It was reported that the database went back. */
  reportedWentBack(): void;
  /** The next open fills it from the start. */
  distrust(): void;
  /** The next open compares the derived files with those of the database. Rejects with STO-E001. */
  doubtFiles(): Promise<void>;
  /** Fills another one while the owner goes on, which the next open takes in its place. Rejects and resolves as `fillSpareCopy`. */
  fillAgain(signal: AbortSignal): Promise<SpareFilled>;
  /** The shard is to be opened again. False when nobody does that. */
  reopen(): boolean;
  /** `watch` is called once when the copy takes no more writes. It is not trusted any more then, and the shard is opened again. */
  watchFailure(watch: (reason: string) => void): void;
}

export interface PostgresShard {
  readonly log: Log;
  /** The number of this owner. */
  readonly token: number;
  readonly keySlots: readonly (readonly [id: number, slot: Buffer])[];
  /** Its segments and vectors in the database. They use the log's connections. */
  readonly files: StoredFiles;
  readonly copy: OwnCopy;
}

/**
 * Opens the shard's log with connections of this thread, and reads the slots of its keys. `derived`: as of a copy. Rejects as
 * `openPostgresLog`.
 */
export async function openPostgresShard(
  directory: string,
  stamp: LogStamp,
  { url, ...lease }: DatabaseOptions,
  derived?: string,
): Promise<PostgresShard> {
  const database = await Database.shared(url);
  const { log, token, keys, copy } = await openOwned(directory, { database, stamp, derived, ...lease });
  try {
    const files = new StoredFiles(database, { shard: stamp.shard, token });
    return { log, token, keySlots: await (keys?.read(database) ?? readKeySlots(database, stamp.shard)), files, copy };
  } catch (error) {
    await log.close();
    throw databaseError(`the keys of ${shardName(stamp.shard)} cannot be read`, error);
  }
}

/**
 * Takes the shard's lease and opens its log with a copy in `directory`, which is filled where it lacks something. The log
 * closes `database`. Rejects with STO-E002 while another node holds the shard, and with STO-E001.
 */
export async function openPostgresLog(directory: string, options: PostgresLogOptions): Promise<Log> {
  return (await openOwned(directory, options)).log;
}

interface Opened extends Pick<PostgresShard, 'log' | 'token' | 'copy'> {
  readonly keys: StoredKeys | undefined;
}

async function openOwned(directory: string, options: PostgresLogOptions): Promise<Opened> {
  const { database, stamp, derived, keyUrl } = options;
  let lease: Lease | undefined;
  let keys: StoredKeys | undefined;
  let copySettled: Promise<void> | undefined;
  try {
    const store = await openStore(database);
    lease = await Lease.take(database, options);
    const { taken } = lease;
    const owned = { shard: stamp.shard, token: taken.token };
    keys = keyUrl === undefined ? undefined : await StoredKeys.take(keyUrl, database, owned);
    const filled = await fillCopy(database, { directory, stamp, store: store.mark, taken, derived });
    copySettled = filled.settled.catch(() => undefined);
    // Its pages were checked, or written, when it was filled.
    const copy = openLmdbLog(directory, { stamp, exists: true, arePagesKnown: true });
    assert(copy.appends === taken.appends && copy.nextSequence === taken.next, 'the copy has what the database has');
    const { own, onCopyFailed } = ownCopy(directory, { database, lease, stamp, store: store.mark, filled });
    const journal = new PostgresJournal(database, lease, { keys, copySettled, onCopyFailed });
    return { log: new JournaledLog(copy, journal, []), token: taken.token, keys, copy: own };
  } catch (error) {
    await lease?.release();
    await copySettled;
    await keys?.close();
    await database.close();
    throw databaseError(`${logName(stamp.shard)} cannot be opened from the database`, error);
  }
}

interface OwnCopyParts {
  readonly database: Database;
  readonly lease: Lease;
  readonly stamp: LogStamp;
  readonly store: string;
  readonly filled: Filled;
}

interface WatchedCopy {
  readonly own: OwnCopy;
  readonly onCopyFailed: (reason: string) => void;
}

function ownCopy(directory: string, { database, lease, stamp, store, filled }: OwnCopyParts): WatchedCopy {
  let watchFailure: ((reason: string) => void) | undefined;
  const distrust = (): void => {
    distrustCopy(directory);
    // The mark may be on its way to the disk.
    filled.settled.then(() => distrustCopy(directory)).catch(() => undefined);
  };
  const onCopyFailed = (reason: string): void => {
    try {
      distrust();
    } catch {
      // The mark stays on a disk that takes nothing. The copy ends with its last commit then, and its pages are checked.
    }
    watchFailure?.(reason);
  };
  const own: OwnCopy = {
    isWhole: filled.isWhole,
    wentBack: filled.wentBack,
    reportedWentBack: () => reportedWentBack(directory),
    distrust,
    doubtFiles: async () => {
      // The mark is written until then.
      await filled.settled;
      await doubtFiles(directory);
    },
    fillAgain: async (signal) => {
      await filled.settled.catch(() => undefined);
      const taken = await unlessAborted(ownerNow(database, stamp.shard), signal);
      if (taken?.token !== lease.taken.token) throw new EngineError('STO-E002', takenAway(stamp.shard));
      return fillSpareCopy(database, { directory, stamp, store, taken }, signal);
    },
    reopen: () => lease.doubt(),
    watchFailure: (watch) => {
      watchFailure = watch;
    },
  };
  return { own, onCopyFailed };
}
