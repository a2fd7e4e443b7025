// The LMDB environment of one log, and the three databases in it (lmdb-log.ts has their table).
//
// Options: no compression (sealed blobs do not compress), `noMemInit` off (it would put heap bytes, perhaps of
// keys, into unused parts of pages), event-turn batching off (an append is its own batch), no overlapping sync
// (lmdb-log.ts says why). The map grows automatically past `mapSizeBytes`; a full disk, not the map, is what bounds a log.
import { randomInt } from 'node:crypto';
import { type Database, open, type RootDatabase, type RootDatabaseOptionsWithPath } from 'lmdb';
import { storageError } from '../../base/durable-file.ts';
import { EngineError } from '../../base/errors.ts';
import type { Sequence } from '../log.ts';
import { checkStamp, decodeStamp, encodeStamp, type LogStamp } from './stamp.ts';

export const STAMP_KEY = 'stamp';
/** The key, in the stamp database, of the first sequence number never given. */
export const NEXT_KEY = 'next';
/**
 * The key, in the stamp database, of the append counter, which every append raises by one. An owner that finds another
 * number than it left knows that somebody else has appended. The value is a double, as the writer thread compares it:
 * LMDB's JavaScript library calls the first 8 bytes of a value its version.
 */
export const APPENDS_KEY = 'appends';
/** Leaves room above the first number for any possible count of appends while the double stays exact. */
const FIRST_APPENDS_MAX = 2 ** 47;

/**
 * A leaf holds whole records, and a record of more than half a page has whole pages of its own. Of records of 300 bytes, pages of
 * 4 KiB leave an eighth empty; of records of some ten KB, pages of 16 KiB do.
 */
export const PAGE_BYTES = 8_192;
/** Address space, not disk or heap. To grow beyond it, the map is moved, which costs a pause. */
const MAP_BYTES_DEFAULT = 16 * 1024 ** 3;

export interface Databases {
  readonly records: Database<Buffer, number>;
  readonly state: Database<Buffer, Buffer>;
  readonly stamp: Database<Buffer, string>;
}

export interface Environment {
  readonly root: RootDatabase<Buffer, string>;
  readonly databases: Databases;
}

export interface EnvironmentOptions {
  readonly mapSizeBytes?: number | undefined;
  readonly readOnly?: true | undefined;
  /** Commits survive the end of the process, and no loss of power: not even what an earlier commit wrote. */
  readonly noSync?: boolean | undefined;
}

/** Opens or creates the environment in the folder `path`. On STO-E001 nothing stays open. */
export function openEnvironment(
  path: string,
  { mapSizeBytes, readOnly, noSync = false }: EnvironmentOptions,
): Environment {
  let root: RootDatabase<Buffer, string> | undefined;
  try {
    const options = { ...rootOptions(path, mapSizeBytes ?? MAP_BYTES_DEFAULT), noSync };
    root = open<Buffer, string>(readOnly === true ? { ...options, readOnly } : options);
    return { root, databases: openDatabases(root) };
  } catch (error) {
    void root?.close();
    throw storageError(`the log in ${path} cannot be opened`, error);
  }
}

/** The library reads `permissionsMode` and `txnStartThreshold`, but its types lack them. */
type RootOptions = RootDatabaseOptionsWithPath & { permissionsMode: number };

function rootOptions(path: string, mapSize: number): RootOptions {
  return {
    path,
    mapSize,
    // The path is a folder even when its name contains a dot.
    noSubdir: false,
    maxDbs: 4,
    // Of a new environment; an older one keeps its own.
    pageSize: PAGE_BYTES,
    encoding: 'binary',
    compression: false,
    cache: false,
    overlappingSync: false,
    noMemInit: false,
    eventTurnBatching: false,
    permissionsMode: 0o600,
  };
}

function openDatabases(root: RootDatabase<Buffer, string>): Databases {
  return {
    records: root.openDB<Buffer, number>({ name: 'records', encoding: 'binary', keyEncoding: 'uint32' }),
    state: root.openDB<Buffer, Buffer>({ name: 'state', encoding: 'binary', keyEncoding: 'binary' }),
    stamp: root.openDB<Buffer, string>({ name: 'stamp', encoding: 'binary' }),
  };
}

/** Stamps new databases. STO-E001 for another format, shard or number of shards, and for records without a stamp. */
export function stampOrCheck({ records, state, stamp }: Databases, wanted: LogStamp, directory: string): void {
  const found = stamp.getBinary(STAMP_KEY);
  if (found !== undefined) {
    const known = decodeStamp(found, directory);
    checkStamp(known, wanted, directory);
    // Older versions cannot read the records written from now on.
    if (known.formatVersion < wanted.formatVersion) writeStamp(stamp, wanted);
    return;
  }
  if (records.getKeysCount({ limit: 1 }) > 0 || state.getKeysCount({ limit: 1 }) > 0)
    throw new EngineError('STO-E001', `${directory} holds records but no format stamp`);
  writeStamp(stamp, wanted);
}

function writeStamp(stamp: Databases['stamp'], wanted: LogStamp): void {
  stamp.transactionSync(() => {
    void stamp.put(STAMP_KEY, Buffer.from(encodeStamp(wanted)));
  });
}

/** The append counter. STO-E001 when it is damaged. */
export function appendsOf({ stamp }: Databases, directory: string): number {
  const value = stamp.getBinary(APPENDS_KEY);
  const appends = value?.length === 8 ? Buffer.from(value).readDoubleLE(0) : Number.NaN;
  if (!Number.isSafeInteger(appends) || appends < 0)
    throw new EngineError('STO-E001', `the count of appends in ${directory} is damaged`);
  return appends;
}

export function appendsValue(appends: number): Buffer {
  const value = Buffer.alloc(8);
  value.writeDoubleLE(appends);
  return value;
}

/**
 * Starts the append counter of a log that an earlier version made. The number is random, so that no two logs count
 * alike.
 */
export function beginAppends({ stamp }: Databases): void {
  if (stamp.getBinary(APPENDS_KEY) !== undefined) return;
  stamp.transactionSync(() => {
    // Checked again inside the transaction.
    if (stamp.getBinary(APPENDS_KEY) === undefined)
      void stamp.put(APPENDS_KEY, appendsValue(randomInt(FIRST_APPENDS_MAX)));
  });
}

/** The first sequence number past the newest record and past all that were given before the newest removal. */
export function nextSequenceOf({ records, stamp }: Databases): Sequence {
  let last = 0;
  for (const sequence of records.getKeys({ reverse: true, limit: 1 })) last = sequence;
  const marked = stamp.getBinary(NEXT_KEY);
  return Math.max(last + 1, marked === undefined ? 1 : Buffer.from(marked).readUInt32LE(0));
}
