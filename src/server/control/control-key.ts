// The key that seals the control log: random, wrapped by the master key in the key file `control.key`.
import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { EngineError } from '../../engine/base/errors.ts';
import type { KeyFiles } from '../../engine/keys/key-files.ts';
import type { MasterKey } from '../../engine/keys/master-key.ts';
import { openWrappedKey, readWrappedKey, type WrappedKeyPlace, writeWrappedKey } from './wrapped-key.ts';

const PLACE: WrappedKeyPlace = { file: 'control.key', name: 'control' };

/**
 * Opens a deployment's control key; creates it for a new one, and wraps it again after a change of the master
 * key. Throws AUT-E003 or CRY-E001 under a wrong master key, and CRY-E001 when the file is missing although data
 * depends on it.
 */
export function openControlKey(files: KeyFiles, master: MasterKey, isNew: boolean): KeyObject {
  const found = openWrappedKey(files, PLACE, master);
  if (found !== undefined) return createSecretKey(found);
  if (!isNew) throw missing(files);
  const key = randomBytes(32);
  writeWrappedKey(files, PLACE, master, key);
  return createSecretKey(key);
}

/** Throws as `openControlKey` for a deployment that is not new, and changes nothing. */
export function checkControlKey(files: KeyFiles, master: MasterKey): void {
  const found = readWrappedKey(files, PLACE, master);
  if (found === undefined) throw missing(files);
  found.key.fill(0);
}

function missing(files: KeyFiles): EngineError {
  return new EngineError(
    'CRY-E001',
    `${files.pathOf(PLACE.file)} is missing, and the deployment cannot be read without it: restore it from a backup`,
  );
}
