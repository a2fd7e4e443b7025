// One owner a data directory: an operating-system lock on a file that stays open for the owner's life. The kernel gives
// it up with the process, whatever ends that, so nothing has to be found out about process numbers, which mean nothing
// in another container.
//
// Node.js has no call for such a lock. SQLite, which is part of it, takes one for an exclusive transaction (fcntl,
// LockFileEx on Windows) and knows its own locks within a process, which fcntl does not. The transaction is never
// written to: the file stays empty.
//
// Two rules come from fcntl. A process that opens the file by another way and closes it loses its lock, so nothing else
// in Granary opens it. The file is never deleted, or two processes could each hold the lock of "the" file.
import { closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { isFileError, storageError } from '../engine/base/durable-file.ts';
import { EngineError } from '../engine/base/errors.ts';
import { holderOf } from './server-file.ts';

export const LOCK_FILE = 'directory.lock';
/**
 * A killed process gives up its files when its last thread has ended, on a busy machine some time after others see it dead or
 * as a zombie. A start right after that waits so long for it.
 */
const ENDING_MS = 2_000;
/** SQLite's code for a lock that somebody else holds. */
const SQLITE_BUSY = 5;

/** What is not referred to is collected, and closed by that: a lock is held until it is released. */
const held = new Set<DatabaseSync>();

export interface DirectoryLock {
  readonly directory: string;
  /** Gives the directory back. Calling again does nothing. */
  release(): void;
}

/**
 * Locks `directory` (made when absent), waiting a moment for one who is just ending. STO-E001 when somebody has it, with what is
 * known of who.
 */
export function lockDirectory(directory: string, waitMs = ENDING_MS): DirectoryLock {
  const lock = tryLockDirectory(directory, waitMs);
  if (lock !== undefined) return lock;
  throw new EngineError(
    'STO-E001',
    `${directory} is in use by ${holderOf(directory)}; one server at a time may open a data directory`,
  );
}

/** The same, but undefined when somebody still has it after `waitMs`. */
export function tryLockDirectory(directory: string, waitMs = 0): DirectoryLock | undefined {
  // One that is there has the mode that its operator gave it.
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const path = resolve(directory, LOCK_FILE);
  makeFile(path);
  const inode = statSync(path).ino;
  const database = lockFile(path, waitMs);
  if (database === undefined) return undefined;
  if (statSync(path, { throwIfNoEntry: false })?.ino !== inode) {
    database.close();
    throw new EngineError('STO-E001', `${path} was replaced while it was locked`);
  }
  held.add(database);
  return {
    directory,
    release: () => {
      if (held.delete(database)) database.close();
    },
  };
}

/** Never opens a file that is there: closing it would give up a lock of this process. */
function makeFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (isFileError(error) && error.code === 'EEXIST') return;
    throw storageError(`${path} cannot be made`, error);
  }
}

function lockFile(path: string, waitMs: number): DatabaseSync | undefined {
  const { DatabaseSync: Database } = sqlite();
  let database: DatabaseSync | undefined;
  try {
    database = new Database(path, { timeout: waitMs });
    // With the journal in memory no second file is made.
    database.exec('PRAGMA journal_mode = MEMORY');
    database.exec('BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database?.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) return undefined;
    throw storageError(`${path} cannot be locked`, error);
  }
}

/** Loads the module in silence: older releases of Node.js warn that it is experimental, which a user can do nothing about. */
function sqlite(): typeof import('node:sqlite') {
  const emitWarning = process.emitWarning;
  process.emitWarning = () => undefined;
  try {
    // Typed as always there; a Node.js that was built without SQLite has none.
    const found = process.getBuiltinModule('node:sqlite') as typeof import('node:sqlite') | undefined;
    if (found !== undefined) return found;
  } finally {
    process.emitWarning = emitWarning;
  }
  throw new EngineError('STO-E001', 'this Node.js was built without node:sqlite, which locks the data directory');
}
