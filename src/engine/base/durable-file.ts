// Files that must be on disk before anything is answered: whole-file replacement and the sync of a folder's entries.
import { chmodSync, closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { EngineError } from './errors.ts';

/** Ending of a file that is being written; one found at start was left by a crash and names nothing. */
export const TEMPORARY_SUFFIX = '.tmp';

const FOLDER_MODE = 0o700;
/** The mode's bits for group and others. */
const OTHERS = 0o077;

/** Makes a folder of the store, and what is missing above it, for this user alone. One that is there is closed to others. */
export function makeFolder(directory: string): void {
  if (mkdirSync(directory, { recursive: true, mode: FOLDER_MODE }) !== undefined) return;
  if (process.platform === 'win32' || (statSync(directory).mode & OTHERS) === 0) return;
  try {
    chmodSync(directory, FOLDER_MODE);
  } catch (error) {
    // Another user's folder, which this one may write to: who may read it is that user's to say.
    if (!isFileError(error) || error.code !== 'EPERM') throw error;
  }
}

/** Makes the entries of `directory` (created, renamed, deleted files) durable. Windows has no such call, nor need of it. */
export function syncDirectory(directory: string): void {
  if (process.platform === 'win32') return;
  const descriptor = openSync(directory, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Writes all of `bytes` at `position`; a write may take less than it was given when a disk fills up. */
export function writeFully(descriptor: number, bytes: Uint8Array, position: number): void {
  for (let written = 0; written < bytes.length; )
    written += writeSync(descriptor, bytes, written, bytes.length - written, position + written);
}

/**
 * Puts `bytes` in the place of `path`, durably: after a crash the file is either the old or the new one, whole. `mode`
 * is for a new file. Throws what the file system throws; then `path` is as it was.
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
    // On a full disk the half-written file would keep the room that others need.
    rmSync(temporary, { force: true });
    throw error;
  }
  syncDirectory(dirname(path));
}

export function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error;
}

/** STO-E001 with what failed and why. A full disk may pass, so that one is worth trying again. */
export function storageError(what: string, cause: unknown): EngineError {
  if (cause instanceof EngineError) return cause;
  const code = isFileError(cause) ? cause.code : undefined;
  const full = code === 'ENOSPC' || code === 'EDQUOT';
  const reason = full ? 'the disk is full' : cause instanceof Error ? cause.message : String(cause);
  return new EngineError('STO-E001', `${what}: ${reason}`, { retryable: full });
}
