// Ensures one owner per data directory: an operating-system lock on a file that stays open as long as the owner lives.
// The kernel releases it when the process ends, for whatever reason. Process ids are not needed, which mean nothing in
// another container.
//
// Node.js has no call for such a lock. SQLite, which is part of it, takes one for an exclusive transaction (fcntl,
// LockFileEx on Windows), and tracks its own locks within a process, which fcntl does not. The transaction never
// writes: the file stays empty.
//
// Two rules follow from fcntl. A process that opens the file in another way and closes it loses its lock, so nothing
// else in Granary opens it. The file is never deleted, or two processes could each hold a lock on "the" file.
import { closeSync, openSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { isFileError, makeMissingFolder, storageError } from '../engine/base/durable-file.ts';
import { EngineError } from '../engine/base/errors.ts';
import { holderOf } from './server-file.ts';

export const LOCK_FILE = 'directory.lock';
/**
 * The kernel closes a killed process's files when its last thread ends, which on a busy machine may be after others see
 * it dead. A start waits this long for it.
 */
const ENDING_MS = 2_000;
/** SQLite's code for a lock held by another process. */
const SQLITE_BUSY = 5;

/** Keeps the objects referenced: garbage collection would close them and release the lock. */
const held = new Set<DatabaseSync>();

export interface DirectoryLock {
  readonly directory: string;
  /** Releases the directory. Further calls do nothing. */
  release(): void;
}

/**
 * Locks `directory` (created if absent), and waits briefly for a process that is ending. STO-E001 when the lock is
 * taken; the message describes the holder.
 */
export function lockDirectory(directory: string, waitMs = ENDING_MS): DirectoryLock {
  const lock = tryLockDirectory(directory, waitMs);
  if (lock !== undefined) return lock;
  throw new EngineError(
    'STO-E001',
    `${directory} is in use by ${holderOf(directory)}; only one server at a time can open a data directory`,
  );
}

/** The same, but undefined when the lock is still taken after `waitMs`. */
export function tryLockDirectory(directory: string, waitMs = 0): DirectoryLock | undefined {
  // An existing folder keeps the mode that its operator gave it.
  makeMissingFolder(directory);
  const path = resolve(directory, LOCK_FILE);
  makeFile(path);
  const inode = statSync(path).ino;
  const database = lockFile(path, waitMs);
  if (database === undefined) return undefined;
  if (statSync(path, { throwIfNoEntry: false })?.ino !== inode) {
    database.close();
    throw new EngineError(
      'STO-E001',
      `${path} was replaced while it was locked: stop other programs that use the directory`,
    );
  }
  held.add(database);
  return {
    directory,
    release: () => {
      if (held.delete(database)) database.close();
    },
  };
}

/** Never opens an existing file: closing it would release a lock of this process. */
function makeFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (isFileError(error) && error.code === 'EEXIST') return;
    throw storageError(`cannot create ${path}`, error);
  }
}

function lockFile(path: string, waitMs: number): DatabaseSync | undefined {
  const { DatabaseSync: Database } = sqlite();
  let database: DatabaseSync | undefined;
  try {
    database = new Database(path, { timeout: waitMs });
    // An in-memory journal avoids a second file.
    database.exec('PRAGMA journal_mode = MEMORY');
    database.exec('BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database?.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) return undefined;
    throw storageError(`cannot lock ${path}`, error);
  }
}

/** Loads the module silently: older releases of Node.js print an experimental warning. */
function sqlite(): typeof import('node:sqlite') {
  const emitWarning = process.emitWarning;
  process.emitWarning = () => undefined;
  try {
    // Typed as always present; a Node.js built without SQLite has none.
    const found = process.getBuiltinModule('node:sqlite') as typeof import('node:sqlite') | undefined;
    if (found !== undefined) return found;
  } finally {
    process.emitWarning = emitWarning;
  }
  throw new EngineError(
    'STO-E001',
    'this Node.js was built without node:sqlite, which is needed to lock the data directory',
  );
}
