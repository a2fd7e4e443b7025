// Checks before LMDB opens a folder. When mdb_env_open fails, lmdb 3.5.6 uses freed memory (EnvWrap::openEnv deletes
// the ExtendedEnv that closeEnv then locks) and the process dies. It also dies, of SIGBUS, when a full disk has no room
// for the lock file. So this file refuses every cause that is visible from outside, with a message.
import { closeSync, fstatSync, openSync, readSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { storageError } from '../../base/durable-file.ts';
import { EngineError } from '../../base/errors.ts';
import { checkPages } from './pages.ts';

export const DATA_FILE = 'data.mdb';
const LOCK_FILE = 'lock.mdb';

/** The start of a page that holds a meta record: flags at 18, magic at 24, version at 28, page size at 48. */
const META_BYTES = 52;
const PAGE_META = 0x08;
const MAGIC = 0xbeefc0de;
const DATA_VERSION = 2;
const PAGE_BYTES_MIN = 512;
const PAGE_BYTES_MAX = 65_536;
/** Bytes that a new environment writes first, rounded up. */
const CREATE_BYTES = 262_144;

/**
 * STO-E001 when LMDB could not open `directory`, which exists. Returns true when the folder holds no log yet. `arePagesKnown`: this
 * process has checked or written all pages just now.
 */
export function checkBeforeOpen(directory: string, arePagesKnown = false): boolean {
  try {
    const fresh = fileBytes(join(directory, DATA_FILE)) === 0;
    if (!fresh) {
      checkData(directory);
      if (!arePagesKnown) for (const _ of checkPages(join(directory, DATA_FILE), { whole: false }));
    }
    // Created if it is missing, which shows whether the folder can be written.
    closeSync(openSync(join(directory, LOCK_FILE), 'a', 0o600));
    const creates = fresh || fileBytes(join(directory, LOCK_FILE)) === 0;
    const { bavail, bsize } = statfsSync(directory);
    if (creates && bavail * bsize < CREATE_BYTES)
      throw new EngineError('STO-E001', `no room to create a log in ${directory}: the disk is full`, {
        retryable: true,
      });
    return fresh;
  } catch (error) {
    throw storageError(`the log in ${directory} cannot be opened`, error);
  }
}

function fileBytes(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function checkData(directory: string): void {
  const path = join(directory, DATA_FILE);
  const descriptor = openSync(path, 'r+');
  try {
    const first = readMeta(descriptor, 0);
    if (first === undefined) throw new EngineError('STO-E001', `${path} is not a log, or its first page is damaged`);
    if (first.version !== DATA_VERSION)
      throw new EngineError(
        'STO-E001',
        `${path} has LMDB data version ${first.version}, this server reads ${DATA_VERSION}`,
      );
    const { pageBytes } = first;
    if (pageBytes < PAGE_BYTES_MIN || pageBytes > PAGE_BYTES_MAX || fstatSync(descriptor).size < pageBytes * 2)
      throw new EngineError('STO-E001', `${path} is cut short, or its first page is damaged`);
    const second = readMeta(descriptor, pageBytes);
    if (second === undefined || second.version !== first.version || second.pageBytes !== pageBytes)
      throw new EngineError('STO-E001', `the second page of ${path} is damaged`);
  } finally {
    closeSync(descriptor);
  }
}

function readMeta(descriptor: number, position: number): { version: number; pageBytes: number } | undefined {
  const bytes = Buffer.alloc(META_BYTES);
  if (readSync(descriptor, bytes, 0, META_BYTES, position) < META_BYTES) return undefined;
  if ((bytes.readUInt16LE(18) & PAGE_META) === 0 || bytes.readUInt32LE(24) !== MAGIC) return undefined;
  return { version: bytes.readUInt32LE(28), pageBytes: bytes.readUInt32LE(48) };
}
