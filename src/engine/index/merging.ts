// A merge in another thread: its interface for the thread that publishes, and its work. The other thread opens the files
// itself. It gets the keys that open and seal chunks, and what was removed until now.
import { assert } from '../base/assert.ts';
import { EngineError } from '../base/errors.ts';
import { KEY_BYTES } from '../crypto/envelope.ts';
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
  readonly keys: ChunkKeys;
  /** The removed records of the range. */
  readonly removed: readonly BitmapPage[];
}

interface MergedFile {
  readonly path: string;
  readonly id: number;
  /** Memories whose chunk of this file is dead. */
  readonly dead: readonly number[];
}

/** Keys in columns, which cross to another thread at once: a hundred thousand objects would take a third of a second. */
export interface ChunkKeys {
  /** For each key: its memory, its id, and 1 for the key of the memory's new chunk. */
  readonly rows: Uint32Array<ArrayBuffer>;
  /** KEY_BYTES of each. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

const ROW_NUMBERS = 3;

/** Collects copies of keys. */
export class KeyColumns {
  readonly #rows: number[] = [];
  #bytes = new Uint8Array(KEY_BYTES * 16);
  #length = 0;

  add(memory: number, id: number, isNewest: boolean, key: Uint8Array): void {
    assert(key.length === KEY_BYTES, 'an index key has its size');
    if (this.#length === this.#bytes.length) {
      const larger = new Uint8Array(this.#length * 2);
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    this.#bytes.set(key, this.#length);
    this.#length += KEY_BYTES;
    this.#rows.push(memory, id, isNewest ? 1 : 0);
  }

  columns(): ChunkKeys {
    return { rows: Uint32Array.from(this.#rows), bytes: this.#bytes.slice(0, this.#length) };
  }
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
  const found = new KeyColumns();
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
    if (!isCopied) addKeys(found, memory, entries, keys);
  }
  return {
    ...place,
    files: files.map((file) => ({
      path: file.path,
      id: file.id,
      dead: [...new Set([...segments.deadIn(file), ...dropped])],
    })),
    keys: found.columns(),
    removed: removed.pages(place.range.first, place.range.last),
  };
}

function addKeys(into: KeyColumns, memory: number, entries: readonly ChunkEntry[], keys: RewriteOptions['keys']): void {
  const newest = newestKey(keys, memory);
  if (newest !== undefined) into.add(memory, newest.id, true, newest.key);
  for (const id of new Set(entries.map(({ keyId }) => keyId))) {
    if (id === newest?.id) continue;
    try {
      into.add(memory, id, false, keys.indexKeyById(id, memory));
    } catch (error) {
      if (!isKeyDestroyed(error)) throw error;
    }
  }
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
  const byId = new Map<number, Uint8Array>();
  const newest = new Map<number, number>();
  for (let row = 0; row * ROW_NUMBERS < keys.rows.length; row++) {
    const [memory, id, isNewest] = keys.rows.subarray(row * ROW_NUMBERS, (row + 1) * ROW_NUMBERS);
    byId.set(id!, keys.bytes.subarray(row * KEY_BYTES, (row + 1) * KEY_BYTES));
    if (isNewest === 1) newest.set(memory!, id!);
  }
  const key = (id: number): Uint8Array => {
    const found = byId.get(id);
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
        const id = newest.get(memory);
        if (id === undefined) throw new EngineError('CRY-E002');
        return { id, key: key(id) };
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
