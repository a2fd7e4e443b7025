// The key that the control log is sealed under: random, wrapped by the master key in `<data-dir>/keys/control.key`.
import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from '../../engine/base/durable-file.ts';
import { EngineError } from '../../engine/base/errors.ts';
import type { MasterKey } from '../../engine/keys/master-key.ts';

const NAME = 'control';

interface KeyFile {
  /** Id of the master key that wraps it. */
  readonly master: string;
  /** Base64. */
  readonly wrapped: string;
}

/**
 * The control key of a data directory, made when it is new; wrapped again when the master key has changed. Throws
 * AUT-E003 or CRY-E001 under a wrong master key, CRY-E001 when the file is gone and there is something that it opens.
 */
export function openControlKey(dataDirectory: string, master: MasterKey, isNew: boolean): KeyObject {
  const path = join(dataDirectory, 'keys', 'control.key');
  if (!existsSync(path)) {
    if (!isNew) throw new EngineError('CRY-E001', `${path} is gone: nothing of the deployment can be read without it`);
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
    // A damaged file looks like one of another master key.
    if (error instanceof EngineError) throw new EngineError(error.code, `${path} does not open: ${error.message}`);
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
    const { master, wrapped } = file as Partial<KeyFile>; // each is checked on the next line
    if (typeof master === 'string' && typeof wrapped === 'string') return { master, wrapped };
  } catch {
    // Not JSON: said below, as for JSON of another shape.
  }
  throw new EngineError('CRY-E001', `${path} is not readable`);
}
