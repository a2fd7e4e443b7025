// Data directories of earlier formats as fixtures, each with the answers that the build that wrote it gave.
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import { pack, unpack } from 'msgpackr';

export const FIXTURES = join(import.meta.dirname, '../fixtures/deployments');
/** They are made at each start, or are of no use elsewhere. */
const LEFT_OUT = /(^|\/)(models|lock\.mdb|server\.json|directory\.lock|LOCK)(\/|$)/;

export type Json = Readonly<Record<string, unknown>>;

/** The answers of the build that wrote the directory, in `NAME.json` beside `NAME.br`. */
export interface Answers {
  /** Versions of the log, the control log and the segments. */
  readonly formats: { readonly log: number; readonly control: number; readonly segments: number };
  /** Requests that the build refused, with its answers. */
  readonly refused: Readonly<Record<string, string>>;
  /** API keys that work, by their scopes, and one that was revoked. */
  readonly keys: { readonly admin: string; readonly read: string; readonly revoked: string };
  /** Hash to the fields of each grain. */
  readonly grains: Readonly<Record<string, Json>>;
  /** Hashes of grains that were erased with their person, or forgotten. */
  readonly gone: readonly string[];
  /** Question to the hash of the first hit. */
  readonly recalled: Readonly<Record<string, string>>;
  /** CAL query to the hashes that it finds, sorted. */
  readonly cal: Readonly<Record<string, readonly string[]>>;
  readonly vectors: number;
  readonly presets: readonly string[];
  readonly restricted: readonly string[];
  /** Hashes of the audit entries, the newest first. */
  readonly trail: readonly string[];
}

/** The files of a data directory as one compressed value. */
export function packed(directory: string): Buffer {
  const files: Record<string, Buffer> = {};
  for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort())
    if (!LEFT_OUT.test(name) && statSync(join(directory, name)).isFile())
      files[name] = readFileSync(join(directory, name));
  return brotliCompressSync(pack(files), { params: { [constants.BROTLI_PARAM_LGWIN]: 24 } });
}

/** Writes the files of the fixture `name` into `directory`, and returns the answers. */
export function unpackFixture(name: string, directory: string): Answers {
  const files = unpack(brotliDecompressSync(readFileSync(join(FIXTURES, `${name}.br`)))) as Record<string, Buffer>; // as packed
  for (const [path, bytes] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true, mode: 0o700 });
    writeFileSync(join(directory, path), bytes, { mode: 0o600 });
  }
  return JSON.parse(readFileSync(join(FIXTURES, `${name}.json`), 'utf8')) as Answers;
}

export function fixtureNames(): readonly string[] {
  return readdirSync(FIXTURES)
    .filter((name) => name.endsWith('.br'))
    .map((name) => name.slice(0, -'.br'.length))
    .sort();
}

/** The hashes of the grains of a CAL answer, sorted. */
export function hashesIn(answer: unknown): readonly string[] {
  return [...new Set(JSON.stringify(answer).match(/(?<="hash":"(?:sha256:)?)[0-9a-f]{64}/g) ?? [])].sort();
}
