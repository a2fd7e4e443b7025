// A key of 32 bytes in a key file, wrapped by the master key.
import { EngineError } from '../../engine/base/errors.ts';
import { type KeyFiles, readKeyFile } from '../../engine/keys/key-files.ts';
import type { MasterKey } from '../../engine/keys/master-key.ts';

/** Which key file, and the name that the wrapping binds the key to. */
export interface WrappedKeyPlace {
  readonly file: string;
  readonly name: string;
}

interface Content {
  /** Id of the wrapping master key. */
  readonly master: string;
  /** Base64. */
  readonly wrapped: string;
}

/**
 * The key, wrapped again if another master key than the current one wraps it; undefined without a file. Throws AUT-E003 or
 * CRY-E001 under a wrong master key, CRY-E001 for a damaged file, and STO-E001 for one that cannot be read.
 */
export function openWrappedKey(files: KeyFiles, place: WrappedKeyPlace, master: MasterKey): Buffer | undefined {
  const found = readWrappedKey(files, place, master);
  if (found !== undefined && !found.isCurrent) writeWrappedKey(files, place, master, found.key);
  return found?.key;
}

/** The same, and writes nothing. */
export function readWrappedKey(
  files: KeyFiles,
  { file, name }: WrappedKeyPlace,
  master: MasterKey,
): { readonly key: Buffer; readonly isCurrent: boolean } | undefined {
  const bytes = readKeyFile(files, file);
  if (bytes === undefined) return undefined;
  const path = files.pathOf(file);
  const content = parse(path, bytes);
  return { key: unwrap(path, content, { master, name }), isCurrent: content.master === master.id };
}

export function writeWrappedKey(
  files: KeyFiles,
  { file, name }: WrappedKeyPlace,
  master: MasterKey,
  key: Uint8Array,
): void {
  const content: Content = { master: master.id, wrapped: master.wrap(key, name).toString('base64') };
  files.replace(file, Buffer.from(`${JSON.stringify(content)}\n`));
}

function unwrap(
  path: string,
  { master: id, wrapped }: Content,
  { master, name }: { readonly master: MasterKey; readonly name: string },
): Buffer {
  try {
    return master.unwrap(id, Buffer.from(wrapped, 'base64'), name);
  } catch (error) {
    // A damaged file looks like one wrapped by another master key.
    if (error instanceof EngineError) throw new EngineError(error.code, `cannot open ${path}: ${error.message}`);
    throw error;
  }
}

function parse(path: string, bytes: Buffer): Content {
  try {
    const content: unknown = JSON.parse(bytes.toString('utf8'));
    const { master, wrapped } = content as Partial<Content>; // the next line checks each
    if (typeof master === 'string' && typeof wrapped === 'string') return { master, wrapped };
  } catch {
    // Not JSON: the error below covers it.
  }
  throw new EngineError('CRY-E001', `${path} is damaged: restore it from a backup`);
}
