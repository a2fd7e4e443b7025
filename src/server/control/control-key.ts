// The key that seals the control log: random, wrapped by the master key in `<data-dir>/keys/control.key`.
import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from '../../engine/base/durable-file.ts';
import { EngineError } from '../../engine/base/errors.ts';
import type { MasterKey } from '../../engine/keys/master-key.ts';

const NAME = 'control';

interface KeyFile {
  /** Id of the wrapping master key. */
  readonly master: string;
  /** Base64. */
  readonly wrapped: string;
}

/**
 * Opens a data directory's control key; creates it for a new directory, and wraps it again after a change of the master
 * key. Throws AUT-E003 or CRY-E001 under a wrong master key, and CRY-E001 when the file is missing although data
 * depends on it.
 */
export function openControlKey(dataDirectory: string, master: MasterKey, isNew: boolean): KeyObject {
  const path = join(dataDirectory, 'keys', 'control.key');
  if (!existsSync(path)) {
    if (!isNew)
      throw new EngineError(
        'CRY-E001',
        `${path} is missing: without it the deployment cannot be read; restore it from a backup`,
      );
    const key = randomBytes(32);
    write(path, master, key);
    return createSecretKey(key);
  }
  const file = read(path);
  const key = unwrap(path, file, master);
  if (file.master !== master.id) write(path, master, key);
  return createSecretKey(key);
}

function unwrap(path: string, { master: id, wrapped }: KeyFile, master: MasterKey): Buffer {
  try {
    return master.unwrap(id, Buffer.from(wrapped, 'base64'), NAME);
  } catch (error) {
    // A damaged file looks like one wrapped by another master key.
    if (error instanceof EngineError) throw new EngineError(error.code, `cannot open ${path}: ${error.message}`);
    throw error;
  }
}

function write(path: string, master: MasterKey, key: Uint8Array): void {
  const file: KeyFile = { master: master.id, wrapped: master.wrap(key, NAME).toString('base64') };
  replaceFile(path, Buffer.from(`${JSON.stringify(file)}\n`));
}

function read(path: string): KeyFile {
  try {
    const file: unknown = JSON.parse(readFileSync(path, 'utf8'));
    const { master, wrapped } = file as Partial<KeyFile>; // the next line checks each
    if (typeof master === 'string' && typeof wrapped === 'string') return { master, wrapped };
  } catch {
    // Not JSON: the error below covers it.
  }
  throw new EngineError('CRY-E001', `${path} is damaged: restore it from a backup`);
}
