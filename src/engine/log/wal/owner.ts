// The mark in the file `owner` names the process that may write to the write-ahead files of a data directory. The lock of
// the data directory keeps other processes out. The mark shows when it did not.
import { randomBytes } from 'node:crypto';
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder, storageError, writeFully } from '../../base/durable-file.ts';

const OWNER_FILE = 'owner';
const MARK_BYTES = 16;

/** Writes a new mark, in place, and returns it in hexadecimal form. Throws STO-E001. */
export function takeOwnership(directory: string): string {
  const mark = randomBytes(MARK_BYTES);
  try {
    makeFolder(directory);
    // In place, so that an earlier owner, who has the file open, sees the new mark.
    const descriptor = openSync(join(directory, OWNER_FILE), constants.O_RDWR | constants.O_CREAT, 0o600);
    try {
      writeFully(descriptor, mark, 0);
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    throw storageError(`the write-ahead files in ${directory} cannot be marked as in use`, error);
  }
  return mark.toString('hex');
}

export class Ownership {
  readonly #descriptor: number;
  readonly #mark: Buffer;
  readonly #found = Buffer.alloc(MARK_BYTES);

  /** Throws the file system's error. */
  constructor(directory: string, mark: string) {
    this.#descriptor = openSync(join(directory, OWNER_FILE), 'r');
    this.#mark = Buffer.from(mark, 'hex');
  }

  /**
   * A write that was durable before this was true is read by every later owner: an owner leaves its mark first and reads
   * the files after it.
   */
  isOurs(): boolean {
    const bytes = readSync(this.#descriptor, this.#found, 0, MARK_BYTES, 0);
    return bytes === MARK_BYTES && this.#found.equals(this.#mark);
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}
