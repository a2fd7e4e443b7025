// Writes one segment file from others: merges, compactions and purges. One runs at a time.
import { assert } from '../base/assert.ts';
import { Elsewhere } from './elsewhere.ts';
import { openWritten, type SequenceRange, writeSegment } from './files/new-segment.ts';
import { CorruptBlock, type Sliced } from './files/section.ts';
import type { SegmentChange, SegmentChanges } from './files/segment-change.ts';
import type { SegmentFile, SegmentWriter } from './files/segment-file.ts';
import type { SegmentSet } from './files/segment-set.ts';
import { newestKey } from './index-keys.ts';
import { asCorruptBlock, type Merger, mergeOrder } from './merging.ts';
import { chooseMerge, closeUnderOrder, liveEntry } from './parts/merge-plan.ts';
import { holdsRemoved, hullOf, isGone, type RewriteOptions, rewriteFiles, rewriteMemory } from './parts/rewrite.ts';

export interface RewritesOptions extends RewriteOptions {
  readonly segments: SegmentSet;
  readonly changes: SegmentChanges;
  /** True for a file with a bad chunk of the memory. */
  readonly isDamaged: (file: SegmentFile, memory: number) => boolean;
  /** False for a file whose live chunks cannot all be read. */
  readonly isUsable: (file: SegmentFile) => boolean;
  /** Keeps the current files open until the returned function is called. */
  readonly beginRead: () => () => void;
}

/** A thread that merges, and the size in bytes of the files from which on a merge is worth the way to it. */
export interface MergesElsewhere {
  readonly merger: Merger;
  readonly bytesMin: number;
}

export class SegmentRewrites {
  readonly elsewhere = new Elsewhere();
  readonly #options: RewritesOptions;
  readonly #segments: SegmentSet;
  #running = false;

  constructor(options: RewritesOptions) {
    this.#options = options;
    this.#segments = options.segments;
  }

  get running(): boolean {
    return this.#running;
  }

  /** A merge that is worthwhile now, or undefined. The merge may return undefined when it meets a bad block. */
  mergeStep(thread?: MergesElsewhere): Sliced<SegmentChange | undefined> | undefined {
    if (this.#running) return undefined;
    const chosen = chooseMerge(this.#segments, this.#options.isUsable);
    return chosen === undefined ? undefined : this.#merge('merge', chosen, thread);
  }

  /** Merges all segments into one, without removed records; undefined when nothing would be gained. */
  *compact(thread?: MergesElsewhere): Sliced<SegmentChange | undefined> {
    const files = this.#segments.files.filter(this.#options.isUsable);
    const [only] = files;
    if (only === undefined) return undefined;
    const isClean = this.#segments.deadIn(only).size === 0 && !this.#options.removed.any(only.first, only.last);
    if (files.length === 1 && isClean) return undefined;
    return yield* this.#merge('compact', files, thread);
  }

  /** Rewrites a memory's chunks as one under its newest index key, without removed records. */
  *purge(memory: number): Sliced<SegmentChange | undefined> {
    const release = this.#begin();
    try {
      for (;;) {
        const all = this.#segments.files.filter((file) => liveEntry(this.#segments, file, memory) !== undefined);
        const files = all.filter((file) => !this.#options.isDamaged(file, memory));
        try {
          if (all.length === 0 || !(yield* this.#needsPurge(all, files, memory))) return undefined;
          const range = hullOf(all.map((file) => file.find(memory)!));
          const added = yield* this.#write(range, (writer) => rewriteMemory(files, memory, writer, this.#options));
          const dead = all.map((file) => [file, memory] as const);
          return this.#options.changes.make('purge', { added, dead });
        } catch (error) {
          // Unreadable data is purged too; the chunk is marked as damaged, and the next round skips it.
          if (!(error instanceof CorruptBlock)) throw error;
        }
      }
    } finally {
      release();
    }
  }

  *#needsPurge(all: readonly SegmentFile[], files: readonly SegmentFile[], memory: number): Sliced<boolean> {
    if (files.length < all.length) return true;
    const newest = newestKey(this.#options.keys, memory);
    for (const file of files) {
      if (file.find(memory)!.keyId !== newest?.id) return true;
      if (yield* holdsRemoved(file, memory, this.#options)) return true;
    }
    return false;
  }

  *#merge(
    kind: 'merge' | 'compact',
    chosen: readonly SegmentFile[],
    thread: MergesElsewhere | undefined,
  ): Sliced<SegmentChange | undefined> {
    const release = this.#begin();
    try {
      const files = yield* closeUnderOrder(this.#segments, chosen, this.#options.isUsable);
      if (files === undefined) return undefined;
      const isLarge = thread !== undefined && files.reduce((sum, file) => sum + file.bytes, 0) >= thread.bytesMin;
      const merged = isLarge ? yield* this.#mergeElsewhere(files, thread.merger) : undefined;
      const added =
        merged === undefined
          ? yield* this.#write(hullOf(files), (writer) => rewriteFiles(files, writer, this.#options))
          : merged.file;
      return this.#options.changes.make(kind, { added, removed: files });
    } catch (error) {
      // The bad chunk is known now, and the next choice avoids its file. A memory that was dropped meanwhile is dead by
      // then.
      if (error instanceof CorruptBlock || isGone(error)) return undefined;
      throw error;
    } finally {
      release();
    }
  }

  /** Merges in another thread. Returns undefined when it did not, and throws CorruptBlock after calling `onCorrupt`. */
  *#mergeElsewhere(
    files: readonly SegmentFile[],
    merger: Merger,
  ): Sliced<{ readonly file: SegmentFile | undefined } | undefined> {
    const { id, path } = this.#segments.allocate();
    const order = yield* mergeOrder(files, { path, range: hullOf(files) }, this.#options);
    const merging = merger.merge(order);
    if (merging === undefined) return undefined;
    this.elsewhere.begin(merging);
    // The next open deletes the remains of a file that a dead thread left.
    const outcome = yield* this.elsewhere.result(merging);
    if (outcome === undefined) return undefined;
    if ('chunks' in outcome) return { file: outcome.chunks === 0 ? undefined : openWritten(path, id) };
    const error = asCorruptBlock(files, outcome.bad);
    this.#options.onCorrupt(files[outcome.bad.file]!, outcome.bad.memory, error);
    throw error;
  }

  /** Writes a file through `fill`; undefined when `fill` wrote nothing. */
  *#write(range: SequenceRange, fill: (writer: SegmentWriter) => Sliced<void>): Sliced<SegmentFile | undefined> {
    const { id, path } = this.#segments.allocate();
    return (yield* writeSegment(path, range, fill)) === 0 ? undefined : openWritten(path, id);
  }

  /** The files that a rewrite may read stay open until the returned function is called. */
  #begin(): () => void {
    assert(!this.#running, 'one rewrite runs at a time');
    this.#running = true;
    const release = this.#options.beginRead();
    return () => {
      this.#running = false;
      release();
    };
  }
}
