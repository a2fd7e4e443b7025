// The first key of a deployment: from the environment, or generated at the first start, printed once and stored in
// `<data-dir>/keys/bootstrap.key` for the command line on the same machine.
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from '../../engine/base/durable-file.ts';
import type { Keys } from './keys.ts';

export const BOOTSTRAP_FILE = 'bootstrap.key';

/** Ensures that a first key exists. Resolves to its text if it was just generated, to be shown once. */
export async function ensureBootstrapKey(
  dataDirectory: string,
  keys: Keys,
  given: string | undefined,
): Promise<string | undefined> {
  if (given !== undefined) {
    await keys.setBootstrap(given);
    return undefined;
  }
  const path = join(dataDirectory, 'keys', BOOTSTRAP_FILE);
  if (keys.bootstrap() !== undefined) return undefined;
  // A crash may leave the file without its record: use the key in the file then.
  const left = existsSync(path) ? readFileSync(path, 'utf8').trim() : '';
  const raw = /^gr_[0-9a-f]{64}$/.test(left) ? left : `gr_${randomBytes(32).toString('hex')}`;
  replaceFile(path, Buffer.from(`${raw}\n`), 0o600);
  await keys.setBootstrap(raw);
  return raw;
}
