// Writes one segment file from several, for a merge, a purge or a compaction. Memories come one after the other; a
// chunk that needs no change is copied.
import { AssertionError } from '../../base/assert.ts';
import { EngineError } from '../../base/errors.ts';
import type { Sequence } from '../../log/log.ts';
import { CorruptBlock, type Sliced } from '../files/section.ts';
import type { SegmentFile, SegmentWriter } from '../files/segment-file.ts';
import type { SegmentSet } from '../files/segment-set.ts';
import { HeapBudget } from '../heap-budget.ts';
import { type IndexKeys, LostKey, newestKey } from '../index-keys.ts';
import type { Bitmap } from './bitmaps.ts';
import { ChunkPart } from './chunk-part.ts';
import { mergeChunks, wouldShrink } from './merge.ts';
import { liveEntry } from './merge-plan.ts';

/** Heap for decoded blocks of the chunks being merged, separate from the shard's budget, which searches use. */
const MERGE_HEAP_BYTES = 8 * 1_048_576;
/** Memories skipped between two yields. */
const SLICE_MEMORIES = 16;

/** A rewrite takes tokens as they are, and looks none up. */
const noToken = (): never => {
  throw new AssertionError('a rewrite looks nothing up');
};
const NO_TOKENS = { term: noToken, facet: noToken, keyed: noToken };

export interface RewriteOptions {
  readonly segments: Pick<SegmentSet, 'isDead' | 'deadIn'>;
  readonly keys: Pick<IndexKeys, 'indexKey' | 'indexKeyById' | 'formerIndexKey'>;
  readonly removed: Pick<Bitmap, 'get' | 'any' | 'pages'>;
  readonly isDropped: (memory: number) => boolean;
  readonly onCorrupt: (file: SegmentFile, memory: number, error: CorruptBlock) => void;
}

/** Writes the live chunks of `files`. Throws CorruptBlock after calling `onCorrupt`. */
export function* rewriteFiles(
  files: readonly SegmentFile[],
  writer: SegmentWriter,
  options: RewriteOptions,
): Sliced<void> {
  let memories = 0;
  for (const memory of memoriesOf(files)) {
    if (++memories % SLICE_MEMORIES === 0) yield;
    if (options.isDropped(memory)) continue;
    const parts = openParts(files, memory, options);
    if (parts.length === 0) continue;
    const only = parts[0]!;
    if (parts.length === 1 && !(yield* needsChange(only, options))) yield* copy(only, writer, options);
    else yield* mergeParts(parts, memory, writer, options);
    for (const part of parts) part.close();
  }
}

/** Writes one chunk of a memory from its live chunks in `files`. */
export function* rewriteMemory(
  files: readonly SegmentFile[],
  memory: number,
  writer: SegmentWriter,
  options: RewriteOptions,
): Sliced<void> {
  const parts = openParts(files, memory, options);
  yield* mergeParts(parts, memory, writer, options);
  for (const part of parts) part.close();
}

/** True when the chunk contains removed records. */
export function* holdsRemoved(file: SegmentFile, memory: number, options: RewriteOptions): Sliced<boolean> {
  const [part] = openParts([file], memory, options);
  return part !== undefined && (yield* needsChange(part, options));
}

function* needsChange(part: ChunkPart, { removed }: RewriteOptions): Sliced<boolean> {
  const { first, last } = part.entry;
  // Ordinals of other memories lie between: only the chunk itself can tell.
  if (!removed.any(first, last)) return false;
  try {
    return yield* wouldShrink(asMerged(part), (sequence) => removed.get(sequence));
  } catch (error) {
    if (isKeyDestroyed(error)) return true;
    throw error;
  }
}

function* copy(part: ChunkPart, writer: SegmentWriter, { onCorrupt }: RewriteOptions): Sliced<void> {
  try {
    yield* writer.copyChunk(part.entry, part.file);
  } catch (error) {
    if (error instanceof CorruptBlock) onCorrupt(part.file, part.entry.memory, error);
    throw error;
  }
}

function* mergeParts(
  parts: readonly ChunkPart[],
  memory: number,
  writer: SegmentWriter,
  { keys, removed }: RewriteOptions,
): Sliced<void> {
  const key = newestKey(keys, memory);
  if (key === undefined) return;
  const readable = parts.filter((part) => isReadable(part));
  if (readable.length === 0) return;
  yield* mergeChunks(readable.map(asMerged), memory, writer, { key, isRemoved: (sequence) => removed.get(sequence) });
}

function asMerged(part: ChunkPart): Parameters<typeof mergeChunks>[0][number] {
  const { first, last } = part.entry;
  return { source: part.source, text: part.text, docCount: part.docCount, first, last };
}

/**
 * False when the chunk's key was destroyed or lost, so that it is unreadable. A rebuild restores the data of a lost
 * key.
 */
function isReadable(part: ChunkPart): boolean {
  try {
    part.source.section('docs').length;
    return true;
  } catch (error) {
    if (isKeyDestroyed(error)) return false;
    throw error;
  }
}

/** True for an error caused by a memory, or its keys, that disappeared during the read. */
export function isGone(error: unknown): boolean {
  return isKeyDestroyed(error) || (error instanceof EngineError && error.code === 'MEM-E003');
}

export function isKeyDestroyed(error: unknown): boolean {
  return error instanceof LostKey || (error instanceof EngineError && error.code === 'CRY-E002');
}

function openParts(files: readonly SegmentFile[], memory: number, options: RewriteOptions): ChunkPart[] {
  const { segments, keys, onCorrupt } = options;
  const budget = new HeapBudget(MERGE_HEAP_BYTES);
  const parts: ChunkPart[] = [];
  for (const file of files) {
    const entry = liveEntry(segments, file, memory);
    if (entry === undefined) continue;
    const tell = (error: CorruptBlock): void => onCorrupt(file, memory, error);
    parts.push(new ChunkPart({ file, entry, keys, tokens: NO_TOKENS, budget, onCorrupt: tell }));
  }
  return parts.sort((a, b) => a.entry.first - b.entry.first);
}

/** The memories of all files, ascending, each once. */
export function* memoriesOf(files: readonly SegmentFile[]): IterableIterator<number> {
  const places = files.map(() => 0);
  for (;;) {
    let next = Number.POSITIVE_INFINITY;
    files.forEach((file, i) => {
      if (places[i]! < file.count) next = Math.min(next, file.memoryAt(places[i]!));
    });
    if (next === Number.POSITIVE_INFINITY) return;
    files.forEach((file, i) => {
      if (places[i]! < file.count && file.memoryAt(places[i]!) === next) places[i]! += 1;
    });
    yield next;
  }
}

/** The range of sequence numbers for a file with the chunks of these files. */
export function hullOf(ranges: readonly { first: Sequence; last: Sequence }[]): { first: Sequence; last: Sequence } {
  return {
    first: Math.min(...ranges.map((range) => range.first)),
    last: Math.max(...ranges.map((range) => range.last)),
  };
}
