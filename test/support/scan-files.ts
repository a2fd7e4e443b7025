// Searches a copied folder as an attacker would: the files that contain one of some byte strings.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** `FILE: WHAT` for each of `wanted` that a file under `directory` contains. */
export function foundInFiles(directory: string, wanted: ReadonlyMap<string, Buffer>): string[] {
  return filesUnder(directory).flatMap((file) => {
    const bytes = readFileSync(file);
    return [...wanted].filter(([, needle]) => bytes.includes(needle)).map(([what]) => `${file}: ${what}`);
  });
}

/** A hash as its bytes and as its digits. */
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
