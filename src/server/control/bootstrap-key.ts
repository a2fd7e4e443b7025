// The first key of a deployment: from the environment, or generated at the first start, printed once and stored in
// `<data-dir>/keys/bootstrap.key` for the command line on the same machine. A deployment whose keys are in a store keeps it
// there too, wrapped by the master key, and each of its nodes gets the file.
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { type KeyFiles, readKeyFile } from '../../engine/keys/key-files.ts';
import type { MasterKey } from '../../engine/keys/master-key.ts';
import type { Keys } from './keys.ts';
import { openWrappedKey, type WrappedKeyPlace, writeWrappedKey } from './wrapped-key.ts';

export const BOOTSTRAP_FILE = 'bootstrap.key';
const STORED: WrappedKeyPlace = { file: 'bootstrap.wrapped', name: 'bootstrap' };
const PREFIX = 'gr_';
const KEY = /^gr_[0-9a-f]{64}$/;

export interface BootstrapPlaces {
  /** The folder of keys of the data directory. */
  readonly folder: KeyFiles;
  /** The key files of the store, if there is one. */
  readonly stored: { readonly files: KeyFiles; readonly master: MasterKey } | undefined;
}

/** Ensures that a first key exists. Resolves to its text if it was just generated, to be shown once. */
export async function ensureBootstrapKey(
  { folder, stored }: BootstrapPlaces,
  keys: Keys,
  given: string | undefined,
): Promise<string | undefined> {
  if (given !== undefined) {
    await keys.setBootstrap(given);
    return undefined;
  }
  const kept = stored === undefined ? undefined : openWrappedKey(stored.files, STORED, stored.master);
  const text = kept && `${PREFIX}${kept.toString('hex')}`;
  if (keys.bootstrap() !== undefined) {
    // The file is a copy for the command line: nobody else needs it to be readable.
    if (text !== undefined && text !== textOf(folder)) write(folder, text);
    await stored?.files.flush();
    return undefined;
  }
  // A crash may leave the file without its record: use the key in the file then.
  const left = text ?? textOf(folder);
  const raw = KEY.test(left) ? left : `${PREFIX}${randomBytes(32).toString('hex')}`;
  if (stored !== undefined && kept === undefined) {
    writeWrappedKey(stored.files, STORED, stored.master, Buffer.from(raw.slice(PREFIX.length), 'hex'));
    await stored.files.flush();
  }
  write(folder, raw);
  await keys.setBootstrap(raw);
  return raw;
}

/** Keeps a copy of the key of the folder in the store's files, wrapped. Without a key in the folder, it does nothing. */
export function keepBootstrapKey(folder: KeyFiles, stored: BootstrapPlaces['stored'] & {}): void {
  const text = textOf(folder);
  if (KEY.test(text))
    writeWrappedKey(stored.files, STORED, stored.master, Buffer.from(text.slice(PREFIX.length), 'hex'));
}

/** Makes the key of a folder on disk from the wrapped copy in it, which is not needed there. */
export function restoreBootstrapKey(folder: KeyFiles, master: MasterKey): void {
  const kept = openWrappedKey(folder, STORED, master);
  if (kept === undefined) return;
  write(folder, `${PREFIX}${kept.toString('hex')}`);
  rmSync(folder.pathOf(STORED.file));
}

/** Wraps the stored key again under the current master key of `master`, which accepts the former one. */
export function rewrapBootstrapKey(files: KeyFiles, master: MasterKey): void {
  openWrappedKey(files, STORED, master)?.fill(0);
}

function textOf(folder: KeyFiles): string {
  return readKeyFile(folder, BOOTSTRAP_FILE)?.toString('utf8').trim() ?? '';
}

function write(folder: KeyFiles, raw: string): void {
  folder.replace(BOOTSTRAP_FILE, Buffer.from(`${raw}\n`));
}
