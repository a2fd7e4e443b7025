// Resolves a grain hash that the user typed in full or as a prefix.
import { sentenceOf } from '../engine/cal/output/sentence.ts';
import { type JsonObject, objectOf, objectsOf } from '../engine/grain/api/json-value.ts';
import type { Connection } from './connection.ts';
import { Failure, usage } from './failure.ts';
import { clipped } from './output.ts';

const HASH = /^[0-9a-f]{64}$/;
const PREFIX = /^[0-9a-f]{8,63}$/;
/** Most grains to list when a prefix is ambiguous. */
const SHOWN_MAX = 10;

/**
 * The full hash for `text`: a full hash is returned as it is; a prefix must match one grain of the memory, in any
 * version. Rejects with USAGE when `text` is no hash, MEM-E001 when no grain matches, AMBIGUOUS with a list when
 * several do.
 */
export async function wholeHash(connection: Connection, memory: string, text: string): Promise<string> {
  const typed = text.trim().toLowerCase();
  if (HASH.test(typed)) return typed;
  if (!PREFIX.test(typed))
    throw usage(`${clipped(text, 80)} is not a hash: give 64 hex digits, or at least the first 8 of them`);
  const query = { hash_prefix: typed, include_superseded: true, limit: SHOWN_MAX + 1 };
  const path = `/memories/${encodeURIComponent(memory)}/grains`;
  const { grains } = await connection.json('GET', path, { query });
  const found = objectsOf(grains);
  const [first, second] = found;
  if (first === undefined) throw new Failure('MEM-E001', `no grain in ${memory} has a hash that begins with ${typed}`);
  if (second === undefined) return String(first['hash']);
  throw new Failure('AMBIGUOUS', `several hashes begin with ${typed}; give more digits:\n${listed(found)}`);
}

export function wholeHashes(connection: Connection, memory: string, texts: readonly string[]): Promise<string[]> {
  return Promise.all(texts.map((text) => wholeHash(connection, memory, text)));
}

function listed(grains: readonly JsonObject[]): string {
  const lines = grains
    .slice(0, SHOWN_MAX)
    .map(
      (grain) =>
        `  ${String(grain['hash'])}  ${clipped(sentenceOf({ grainType: String(grain['grain_type']), fields: objectOf(grain['fields']) }), 60)}`,
    );
  return [...lines, ...(grains.length > SHOWN_MAX ? ['  … and more'] : [])].join('\n');
}
