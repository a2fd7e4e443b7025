// Durable files: replacement of a whole file, and the sync of a directory's entries.
import { chmodSync, closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { open, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { EngineError } from './errors.ts';

/**
 * Suffix of a file that is being written. A file with this suffix at start is what a crash left over; it is deleted.
 */
export const TEMPORARY_SUFFIX = '.tmp';

const FOLDER_MODE = 0o700;
/** Permission bits of the group and of others. */
const OTHERS = 0o077;

/**
 * Creates a directory and its missing parents, readable by this user alone; false if it exists, and then its mode stays.
 * Throws the file system's error. (Node's recursive mkdir never returns where a parent is there but takes no entries, such as
 * a mounted directory that was removed.)
 */
export function makeMissingFolder(directory: string): boolean {
  try {
    return makeOneFolder(directory);
  } catch (error) {
    const parent = dirname(directory);
    if (!isFileError(error) || error.code !== 'ENOENT' || parent === directory) throw error;
    makeMissingFolder(parent);
    return makeOneFolder(directory);
  }
}

function makeOneFolder(directory: string): boolean {
  try {
    mkdirSync(directory, { mode: FOLDER_MODE });
    return true;
  } catch (error) {
    // A directory that exists is reported as EROFS, EACCES or EPERM, too.
    if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() === true) return false;
    throw error;
  }
}

/** The same; removes the access of others from a directory that exists. */
export function makeFolder(directory: string): void {
  if (makeMissingFolder(directory)) return;
  if (process.platform === 'win32' || (statSync(directory).mode & OTHERS) === 0) return;
  try {
    chmodSync(directory, FOLDER_MODE);
  } catch (error) {
    // The directory belongs to another user, who decides who may read it.
    if (!isFileError(error) || error.code !== 'EPERM') throw error;
  }
}

/**
 * Makes the entries of `directory` (created, renamed and deleted files) durable. Windows neither has nor needs such a
 * call.
 */
export function syncDirectory(directory: string): void {
  if (process.platform === 'win32') return;
  const descriptor = openSync(directory, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Writes all of `bytes` at `position`. One write call may write only a part, for instance when the disk fills up. */
export function writeFully(descriptor: number, bytes: Uint8Array, position: number): void {
  for (let written = 0; written < bytes.length; )
    written += writeSync(descriptor, bytes, written, bytes.length - written, position + written);
}

/**
 * Replaces the file `path` with `bytes`, durably: after a crash the file is either the old one or the new one,
 * complete. `mode` applies to a new file. Throws the file system's error; the file is then unchanged.
 */
export function replaceFile(path: string, bytes: Uint8Array, mode = 0o600): void {
  const temporary = `${path}${TEMPORARY_SUFFIX}`;
  try {
    const descriptor = openSync(temporary, 'w', mode);
    try {
      writeFully(descriptor, bytes, 0);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(temporary, path);
  } catch (error) {
    // A partial file would take room that other files need on a full disk.
    rmSync(temporary, { force: true });
    throw error;
  }
  syncDirectory(dirname(path));
}

/** The same, while the thread does other things. */
export async function replaceFileLater(path: string, bytes: Uint8Array, mode = 0o600): Promise<void> {
  const temporary = `${path}${TEMPORARY_SUFFIX}`;
  try {
    await writeFile(temporary, bytes, { mode, flush: true });
    await rename(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  await syncFile(dirname(path));
}

/**
 * Makes the bytes of a file, or the entries of a directory, durable while the thread does other things. Rejects with the file system's
 * error.
 */
export async function syncFile(path: string): Promise<void> {
  const isDirectory = statSync(path).isDirectory();
  if (isDirectory && process.platform === 'win32') return;
  const file = await open(path, isDirectory ? 'r' : 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

export function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error;
}

/**
 * An STO-E001 that names the failed action and its cause. It is retryable when the disk is full, since room may be
 * freed.
 */
export function storageError(what: string, cause: unknown): EngineError {
  if (cause instanceof EngineError) return cause;
  const code = isFileError(cause) ? cause.code : undefined;
  const full = code === 'ENOSPC' || code === 'EDQUOT';
  const reason = full ? 'the disk is full' : cause instanceof Error ? cause.message : String(cause);
  return new EngineError('STO-E001', `${what}: ${reason}`, { retryable: full });
}
