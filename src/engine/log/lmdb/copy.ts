// A copy of an LMDB environment, while it is written to.
import { closeSync, fchmodSync, fsyncSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { storageError, syncDirectory } from '../../base/durable-file.ts';
import type { Environment } from './environment.ts';
import { DATA_FILE } from './preflight.ts';

/** Rejects with STO-E001 when the copy cannot be written, and leaves nothing behind then. */
export async function copyEnvironment(root: Environment['root'], from: string, directory: string): Promise<void> {
  const copy = join(directory, DATA_FILE);
  try {
    await root.backup(directory, true);
    const descriptor = openSync(copy, 'r+');
    try {
      // LMDB creates the file readable to others.
      fchmodSync(descriptor, 0o600);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    syncDirectory(directory);
  } catch (error) {
    rmSync(copy, { force: true });
    throw storageError(`the backup of ${from} failed`, error);
  }
}
