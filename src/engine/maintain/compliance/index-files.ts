// Searches the index files for names in plain text.
import { closeSync, openSync, readSync } from 'node:fs';
import type { IndexEvidence } from '../../calls/compliance.ts';
import type { Sliced } from '../../index/files/section.ts';
import type { Ordinal } from '../../index/parts/part.ts';
import type { Memory } from '../../store/memory.ts';
import type { Store } from '../../store/store.ts';
import { Needles } from './needles.ts';

/** Bytes that are read for it, newest files first; and bytes of one read. */
const BYTES_MAX = 64 << 20;
const BLOCK_BYTES = 1 << 18;
const VALUES_MAX = 20;
/** A shorter text would be found by chance. */
const VALUE_CHARS_MIN = 8;
const VALUE_BYTES_MAX = 1_024;

export function* indexEvidence(store: Store, memory: Memory, sampled: readonly Ordinal[]): Sliced<IndexEvidence> {
  const values = new Set<string>();
  for (const ordinal of sampled) {
    if (values.size >= VALUES_MAX) break;
    const fields = store.readGrain(memory, ordinal)?.grain.fields ?? {};
    for (const name of ['subject', 'relation', 'object']) {
      const value = fields[name];
      if (typeof value === 'string' && value.length >= VALUE_CHARS_MIN && values.size < VALUES_MAX) values.add(value);
    }
    yield;
  }
  const { bytesSearched, found } = yield* searchIndexFiles(store, [...values]);
  return { bytesSearched, valuesSearched: values.size, valuesFound: found };
}

/** Counts the texts that occur in the index files as UTF-8 or UTF-16. */
export function* searchIndexFiles(
  store: Store,
  texts: readonly string[],
): Sliced<{ readonly bytesSearched: number; readonly found: number }> {
  if (texts.length === 0) return { bytesSearched: 0, found: 0 };
  const needles = new Needles(texts.flatMap((text) => [needleOf(text, 'utf8'), needleOf(text, 'utf16le')]));
  const found = new Set<number>();
  let bytesSearched = 0;
  for (const path of store.index.files().toReversed()) {
    for (const block of blocksOf(path, BYTES_MAX - bytesSearched)) {
      bytesSearched += block.length;
      needles.search(block, found);
      yield;
    }
    if (bytesSearched >= BYTES_MAX) break;
  }
  return { bytesSearched, found: new Set([...found].map((needle) => needle >>> 1)).size };
}

/** The beginning of a text, no longer than the overlap of blocks. */
function needleOf(text: string, encoding: 'utf8' | 'utf16le'): Uint8Array {
  return Buffer.from(text, encoding).subarray(0, VALUE_BYTES_MAX);
}

/** Overlapping blocks, so that a text across a border is complete in one of them. A deleted file has none. */
function* blocksOf(path: string, bytesMax: number): Generator<Buffer, void, void> {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    return;
  }
  try {
    const block = Buffer.allocUnsafe(BLOCK_BYTES);
    for (let at = 0; at < bytesMax; at += BLOCK_BYTES - VALUE_BYTES_MAX) {
      const bytes = readSync(file, block, 0, BLOCK_BYTES, at);
      if (bytes > 0) yield block.subarray(0, bytes);
      if (bytes < BLOCK_BYTES) return;
    }
  } finally {
    closeSync(file);
  }
}
