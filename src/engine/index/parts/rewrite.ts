// One segment file from several: what a merge, a purge and a compaction do. Memories come one after the other; a chunk
// that needs no change is copied as it is.
import { EngineError } from '../../base/errors.ts';
import type { Sequence } from '../../log/log.ts';
import { CorruptBlock, type Sliced } from '../files/section.ts';
import type { SegmentFile, SegmentWriter } from '../files/segment-file.ts';
import type { SegmentSet } from '../files/segment-set.ts';
import { HeapBudget } from '../heap-budget.ts';
import { type IndexKeys, LostKey, newestKey } from '../index-keys.ts';
import { TokenMemo } from '../token-memo.ts';
import { ChunkPart } from './chunk-part.ts';
import { mergeChunks, wouldShrink } from './merge.ts';
import { liveEntry } from './merge-plan.ts';
import type { Bitmap } from './standing.ts';

/** Decoded blocks of the chunks that are being merged: apart from the shard's, which searches fill. */
const MERGE_HEAP_BYTES = 8 * 1_048_576;
/** Memories passed over between two yields. */
const SLICE_MEMORIES = 16;

export interface RewriteOptions {
  readonly segments: SegmentSet;
  readonly keys: IndexKeys;
  readonly removed: Bitmap;
  readonly isDropped: (memory: number) => boolean;
  readonly onCorrupt: (file: SegmentFile, memory: number, error: CorruptBlock) => void;
}

/** Writes the live chunks of `files`. Throws CorruptBlock after `onCorrupt` was told. */
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

/** True when the chunk holds what was removed. */
export function* holdsRemoved(file: SegmentFile, memory: number, options: RewriteOptions): Sliced<boolean> {
  const [part] = openParts([file], memory, options);
  return part !== undefined && (yield* needsChange(part, options));
}

function* needsChange(part: ChunkPart, { removed }: RewriteOptions): Sliced<boolean> {
  const { first, last } = part.entry;
  // Ordinals of other memories lie between: only the chunk itself knows.
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

/** False when the chunk's key was destroyed or lost: nobody can read it any more. A lost one is made good by a rebuild. */
function isReadable(part: ChunkPart): boolean {
  try {
    part.source.section('docs').length;
    return true;
  } catch (error) {
    if (isKeyDestroyed(error)) return false;
    throw error;
  }
}

/** True for what is thrown of a memory, or of its keys, that went while it was read. */
export function isGone(error: unknown): boolean {
  return isKeyDestroyed(error) || (error instanceof EngineError && error.code === 'MEM-E003');
}

function isKeyDestroyed(error: unknown): boolean {
  return error instanceof LostKey || (error instanceof EngineError && error.code === 'CRY-E002');
}

function openParts(files: readonly SegmentFile[], memory: number, options: RewriteOptions): ChunkPart[] {
  const { segments, keys, onCorrupt } = options;
  const budget = new HeapBudget(MERGE_HEAP_BYTES);
  const parts: ChunkPart[] = [];
  for (const file of files) {
    const entry = liveEntry(segments, file, memory);
    if (entry === undefined) continue;
    const tokens = new TokenMemo(() => keys.tokens(memory));
    const tell = (error: CorruptBlock): void => onCorrupt(file, memory, error);
    parts.push(new ChunkPart({ file, entry, keys, tokens, budget, onCorrupt: tell }));
  }
  return parts.sort((a, b) => a.entry.first - b.entry.first);
}

/** Memories of all the files, ascending, each once. */
function* memoriesOf(files: readonly SegmentFile[]): IterableIterator<number> {
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

/** The range of sequences that a file of these files' chunks answers for. */
export function hullOf(ranges: readonly { first: Sequence; last: Sequence }[]): { first: Sequence; last: Sequence } {
  return {
    first: Math.min(...ranges.map((range) => range.first)),
    last: Math.max(...ranges.map((range) => range.last)),
  };
}
