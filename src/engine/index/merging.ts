// A merge in another thread: its interface for the thread that publishes, and its work. The other thread opens the files
// itself. It gets the keys that open and seal chunks, and what was removed until now.
import { EngineError } from '../base/errors.ts';
import type { RemoteWork } from './elsewhere.ts';
import { type SequenceRange, writeSegment } from './files/new-segment.ts';
import { CorruptBlock, type Sliced } from './files/section.ts';
import { type ChunkEntry, SegmentFile } from './files/segment-file.ts';
import { newestKey } from './index-keys.ts';
import { Bitmap, type BitmapPage } from './parts/bitmaps.ts';
import { liveEntry } from './parts/merge-plan.ts';
import { isKeyDestroyed, memoriesOf, type RewriteOptions, rewriteFiles } from './parts/rewrite.ts';

/** Everything that a merge needs. */
export interface MergeOrder {
  /** The new file, which must not exist. */
  readonly path: string;
  readonly range: SequenceRange;
  /** The files to merge, in the order of their ranges. */
  readonly files: readonly MergedFile[];
  /** Keys of the memories whose chunks must be opened. A chunk whose key is not here is left out. */
  readonly keys: readonly ChunkKeys[];
  /** The removed records of the range. */
  readonly removed: readonly BitmapPage[];
}

interface MergedFile {
  readonly path: string;
  readonly id: number;
  /** Memories whose chunk of this file is dead. */
  readonly dead: readonly number[];
}

interface ChunkKeys {
  readonly memory: number;
  /** Id of the key for the new chunk; undefined when the memory or its newest key is gone. */
  readonly newest: number | undefined;
  readonly keys: readonly (readonly [id: number, key: Uint8Array])[];
}

/** The number of chunks that were written, or the bad block that ended the merge. */
export type MergeOutcome = { readonly chunks: number } | { readonly bad: BadBlock };

interface BadBlock extends Pick<CorruptBlock, 'offset' | 'reason'> {
  /** Index in the order's files. */
  readonly file: number;
  readonly memory: number;
}

/** Merges in another thread, one after the other. */
export interface Merger {
  /** Begins a merge; undefined when the other thread is not to be had. */
  merge(order: MergeOrder): RemoteWork<MergeOutcome> | undefined;
}

/** Memories that are looked at between two yields. */
const SLICE_MEMORIES = 32;

/** The order of a merge, as of now. Memories that are dropped count as dead. */
export function* mergeOrder(
  files: readonly SegmentFile[],
  place: { readonly path: string; readonly range: SequenceRange },
  { segments, keys, removed, isDropped }: RewriteOptions,
): Sliced<MergeOrder> {
  const found: ChunkKeys[] = [];
  const dropped = new Set<number>();
  let memories = 0;
  for (const memory of memoriesOf(files)) {
    if (++memories % SLICE_MEMORIES === 0) yield;
    if (isDropped(memory)) {
      dropped.add(memory);
      continue;
    }
    const entries = files.flatMap((file) => liveEntry(segments, file, memory) ?? []);
    // A chunk that is copied is not opened.
    const isCopied = entries.length <= 1 && entries.every(({ first, last }) => !removed.any(first, last));
    if (!isCopied) found.push(keysOf(memory, entries, keys));
  }
  return {
    ...place,
    files: files.map((file) => ({
      path: file.path,
      id: file.id,
      dead: [...new Set([...segments.deadIn(file), ...dropped])],
    })),
    keys: found,
    removed: removed.pages(place.range.first, place.range.last),
  };
}

/** Copies: a key may be part of a larger buffer, which would cross whole. */
function keysOf(memory: number, entries: readonly ChunkEntry[], keys: RewriteOptions['keys']): ChunkKeys {
  const newest = newestKey(keys, memory);
  const known = new Map(newest === undefined ? [] : [[newest.id, new Uint8Array(newest.key)] as const]);
  for (const { keyId } of entries) {
    if (known.has(keyId)) continue;
    try {
      known.set(keyId, new Uint8Array(keys.indexKeyById(keyId, memory)));
    } catch (error) {
      if (!isKeyDestroyed(error)) throw error;
    }
  }
  return { memory, newest: newest?.id, keys: [...known] };
}

/** The error of a bad block that ended a merge in another thread. */
export function asCorruptBlock(files: readonly SegmentFile[], { file, offset, reason }: BadBlock): CorruptBlock {
  return new CorruptBlock(files[file]!.name, offset, reason);
}

/**
 * Writes the file of an order. Without chunks it leaves no file. Returns undefined when the files cannot be opened here.
 * STO-E001 when the new file cannot be written.
 */
export function* runMerge(order: MergeOrder): Sliced<MergeOutcome | undefined> {
  const files = openAll(order);
  if (files === undefined) return undefined;
  let bad: BadBlock | undefined;
  const options = optionsOf(order, files, (file, memory, { offset, reason }) => {
    bad ??= { file: files.indexOf(file), memory, offset, reason };
  });
  try {
    return { chunks: yield* writeSegment(order.path, order.range, (writer) => rewriteFiles(files, writer, options)) };
  } catch (error) {
    if (bad === undefined || !(error instanceof CorruptBlock)) throw error;
    return { bad };
  } finally {
    for (const file of files) file.release();
  }
}

function openAll({ files }: MergeOrder): SegmentFile[] | undefined {
  const open: SegmentFile[] = [];
  try {
    for (const { path, id } of files) open.push(SegmentFile.open(path, id));
    return open;
  } catch {
    // The thread that owns them has them open, and tells what is wrong with them.
    for (const file of open) file.release();
    return undefined;
  }
}

function optionsOf(
  { files, keys, removed }: MergeOrder,
  open: readonly SegmentFile[],
  onCorrupt: RewriteOptions['onCorrupt'],
): RewriteOptions {
  const dead = new Map(open.map((file, i) => [file, new Set(files[i]!.dead)]));
  const known = new Map(keys.map((of) => [of.memory, { newest: of.newest, keys: new Map(of.keys) }]));
  const key = (id: number | undefined, memory: number): Uint8Array => {
    const found = id === undefined ? undefined : known.get(memory)?.keys.get(id);
    if (found === undefined) throw new EngineError('CRY-E002');
    return found;
  };
  return {
    segments: {
      isDead: (file, memory) => dead.get(file)!.has(memory),
      deadIn: (file) => dead.get(file)!,
    },
    keys: {
      indexKey: (memory) => {
        const id = known.get(memory)?.newest;
        return { id: id ?? 0, key: key(id, memory) };
      },
      indexKeyById: key,
      // Here no file is replaced.
      formerIndexKey: key,
    },
    removed: Bitmap.of(removed),
    // Dropped ones are dead.
    isDropped: () => false,
    onCorrupt,
  };
}
