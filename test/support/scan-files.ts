// What an attacker finds in a copied folder: the files that hold one of some byte strings.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** `FILE: WHAT` for each of `wanted` that stands in a file under `directory`. */
export function foundInFiles(directory: string, wanted: ReadonlyMap<string, Buffer>): string[] {
  return filesUnder(directory).flatMap((file) => {
    const bytes = readFileSync(file);
    return [...wanted].filter(([, needle]) => bytes.includes(needle)).map(([what]) => `${file}: ${what}`);
  });
}

/** A hash as the bytes that it is and as its digits. */
export function hashNeedles(what: string, hash: string): [string, Buffer][] {
  return [
    [`${what} (bytes)`, Buffer.from(hash, 'hex')],
    [`${what} (hex)`, Buffer.from(hash)],
  ];
}

export function filesUnder(directory: string): string[] {
  return readdirSync(directory).flatMap((name) => {
    const path = join(directory, name);
    return statSync(path).isDirectory() ? filesUnder(path) : [path];
  });
}
