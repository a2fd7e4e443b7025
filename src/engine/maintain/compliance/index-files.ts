// The files of the index, searched for names in plain text.
import { closeSync, openSync, readSync } from 'node:fs';
import type { IndexEvidence } from '../../calls/compliance.ts';
import type { Sliced } from '../../index/files/section.ts';
import type { Ordinal } from '../../index/parts/part.ts';
import type { Memory } from '../../store/memory.ts';
import type { Store } from '../../store/store.ts';
import { Needles } from './needles.ts';

/** Bytes read for it, of the newest files first, and at once. */
const BYTES_MAX = 64 << 20;
const BLOCK_BYTES = 1 << 18;
const VALUES_MAX = 20;
/** A shorter text is met by chance. */
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

/** How many of the texts stand in the index files as UTF-8 or UTF-16. */
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

/** As much of a text as blocks overlap by. */
function needleOf(text: string, encoding: 'utf8' | 'utf16le'): Uint8Array {
  return Buffer.from(text, encoding).subarray(0, VALUE_BYTES_MAX);
}

/** Blocks that overlap, so that what lies across a border is in one of them. A file that is gone has none. */
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
