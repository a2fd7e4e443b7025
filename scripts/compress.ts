// Compressed forms beside the files of a built site, so that the server need not compress.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';

/** Compressed forms that save less are not worth their place. */
const SAVED_BYTES_MIN = 100;

/** Writes `FILE.br` beside each file below the folder that is shorter so; not for those whose name `except` matches. */
export function compressIn(folder: string, except: RegExp): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || except.test(entry.name)) continue;
    const file = join(entry.parentPath, entry.name);
    const body = readFileSync(file);
    const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: body.length };
    const compressed = brotliCompressSync(body, { params });
    if (body.length - compressed.length >= SAVED_BYTES_MIN) writeFileSync(`${file}.br`, compressed);
  }
}
