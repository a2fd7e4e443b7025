// The LMDB environment of one log, and the three databases in it (lmdb-log.ts has their table).
//
// Options: no compression (blobs are sealed, so they do not compress), `noMemInit` off (it would put heap bytes, perhaps of
// keys, into unused parts of pages), event-turn batching off (an append is its own batch), no overlapping sync
// (lmdb-log.ts says why). The map grows by itself past `mapSizeBytes`; a full disk, not the map, is what bounds a log.
import { randomInt } from 'node:crypto';
import { type Database, open, type RootDatabase, type RootDatabaseOptionsWithPath } from 'lmdb';
import { storageError } from '../../base/durable-file.ts';
import { EngineError } from '../../base/errors.ts';
import type { Sequence } from '../log.ts';
import { checkStamp, decodeStamp, encodeStamp, type LogStamp } from './stamp.ts';

export const STAMP_KEY = 'stamp';
/** Under which the stamp's database has how far sequences were given. */
export const NEXT_KEY = 'next';
/**
 * Under which the stamp's database has a number that every append raises by one. An owner that finds another number than
 * the one it left knows that somebody else has appended. A double, as the writer thread compares it: the first 8
 * bytes of a value are what LMDB's JavaScript library calls its version.
 */
export const APPENDS_KEY = 'appends';
/** Room above the first number for as many appends as anybody will make, and for the double to be exact. */
const FIRST_APPENDS_MAX = 2 ** 47;

/** Address space, not disk or heap. Growing past it moves the map, which costs a pause. */
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

/** Opens what lies in the folder `path`, or makes it. STO-E001; then nothing is left open. */
export function openEnvironment(
  path: string,
  { mapSizeBytes, readOnly }: { readonly mapSizeBytes?: number | undefined; readonly readOnly?: true },
): Environment {
  let root: RootDatabase<Buffer, string> | undefined;
  try {
    const options = rootOptions(path, mapSizeBytes ?? MAP_BYTES_DEFAULT);
    root = open<Buffer, string>(readOnly === true ? { ...options, readOnly } : options);
    return { root, databases: openDatabases(root) };
  } catch (error) {
    void root?.close();
    throw storageError(`the log in ${path} cannot be opened`, error);
  }
}

/** `permissionsMode` and `txnStartThreshold` are read by the library and missing from its types. */
type RootOptions = RootDatabaseOptionsWithPath & { permissionsMode: number };

function rootOptions(path: string, mapSize: number): RootOptions {
  return {
    path,
    mapSize,
    // A folder, also when its name has a dot in it.
    noSubdir: false,
    maxDbs: 4,
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

/** Stamps new databases; STO-E001 for those of another format, shard or number of shards, and for records without a stamp. */
export function stampOrCheck({ records, state, stamp }: Databases, wanted: LogStamp, directory: string): void {
  const found = stamp.getBinary(STAMP_KEY);
  if (found !== undefined) {
    const known = decodeStamp(found, directory);
    checkStamp(known, wanted, directory);
    // From now on records are written that the older version cannot read.
    if (known.formatVersion < wanted.formatVersion) writeStamp(stamp, wanted);
    return;
  }
  if (records.getKeysCount({ limit: 1 }) > 0 || state.getKeysCount({ limit: 1 }) > 0)
    throw new EngineError('STO-E001', `${directory} holds records and no format stamp`);
  writeStamp(stamp, wanted);
}

function writeStamp(stamp: Databases['stamp'], wanted: LogStamp): void {
  stamp.transactionSync(() => {
    void stamp.put(STAMP_KEY, Buffer.from(encodeStamp(wanted)));
  });
}

/** The number of appends; STO-E001 when it is damaged. */
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

/** Gives a log its first number, where an earlier version left none. Drawn, so that no two logs count alike. */
export function beginAppends({ stamp }: Databases): void {
  if (stamp.getBinary(APPENDS_KEY) !== undefined) return;
  stamp.transactionSync(() => {
    // Looked at again under the lock of the transaction.
    if (stamp.getBinary(APPENDS_KEY) === undefined)
      void stamp.put(APPENDS_KEY, appendsValue(randomInt(FIRST_APPENDS_MAX)));
  });
}

/** Past the newest record, and past every sequence given before the newest removal. */
export function nextSequenceOf({ records, stamp }: Databases): Sequence {
  let last = 0;
  for (const sequence of records.getKeys({ reverse: true, limit: 1 })) last = sequence;
  const marked = stamp.getBinary(NEXT_KEY);
  return Math.max(last + 1, marked === undefined ? 1 : Buffer.from(marked).readUInt32LE(0));
}
