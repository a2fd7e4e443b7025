// The interface of a shard's indexes: publish committed records, query a memory's parts, and maintain the segments.
//
// Tails take published records. `seal` freezes them and writes a segment file while new tails take over; `mergeStep`,
// `purge` and `compact` write one file from others. Each returns a SegmentChange: the caller writes its state in one
// transaction of the log and calls `commit`, which swaps the parts. A crash before the transaction leaves a file that
// no manifest names; a crash after it leaves the new files in force. There is never a mixture.

import { assert } from '../base/assert.ts';
import { EngineError } from '../base/errors.ts';
import { INDEX_CHUNKS_OPEN_MAX, INDEX_MEMORIES_OPEN_MAX, TAIL_GRAINS_MAX } from '../base/limits.ts';
import type { Log, Sequence } from '../log/log.ts';
import { DamagedChunks } from './damaged-chunks.ts';
import type { CorruptBlock, Sliced } from './files/section.ts';
import { type SegmentChange, SegmentChanges } from './files/segment-change.ts';
import type { SegmentFile } from './files/segment-file.ts';
import { SegmentSet } from './files/segment-set.ts';
import type { HeapBudget } from './heap-budget.ts';
import type { IndexKeys } from './index-keys.ts';
import { MemoryIndex, type ShardView } from './memory-index.ts';
import { Bitmap } from './parts/bitmaps.ts';
import { liveEntry } from './parts/merge-plan.ts';
import {
  type IndexedGrain,
  type IndexPart,
  type Keyed,
  type Ordinal,
  VERIFICATIONS,
  type Verification,
} from './parts/part.ts';
import { TailSet } from './parts/tail.ts';
import type { Sealer } from './sealing.ts';
import { type MergesElsewhere, SegmentRewrites } from './segment-rewrites.ts';
import { TailSealing } from './tail-sealing.ts';
import { type SegmentReport, verifySegments } from './verify.ts';

export type { SegmentChange } from './files/segment-change.ts';
export type { IndexKeys } from './index-keys.ts';

export interface ShardIndexOptions {
  /** `shard-N/segments`; created if missing. */
  readonly directory: string;
  /** The folder may be emptied between two runs: missing segments are built again without a word. */
  readonly isCache?: boolean | undefined;
  /** Used only for its state. */
  readonly log: Pick<Log, 'getState' | 'scanState'>;
  readonly budget: HeapBudget;
  readonly keys: IndexKeys;
}

/** The open indexes of this thread. */
const openHere = new Set<ShardIndex>();

/** Grains in the tails of all shards of this thread: a restart replays them one after the other. */
export function tailGrainsOfThread(): number {
  let grains = 0;
  for (const index of openHere) grains += index.tailGrains;
  return grains;
}

export class ShardIndex {
  readonly removed = new Bitmap('removed');
  /** Removed grains that an erasure took. Requests for them get the erasure's code as long as the index knows them. */
  readonly erased = new Bitmap('erased');
  readonly superseded = new Bitmap('superseded');
  /** By the current verification flag. A grain without a flag is in none. */
  readonly verification: Readonly<Record<Verification, Bitmap>> = {
    unverified: new Bitmap('unverified'),
    verified: new Bitmap('verified'),
    contested: new Bitmap('contested'),
    retracted: new Bitmap('retracted'),
  };
  readonly #segments: SegmentSet;
  readonly #keys: IndexKeys;
  readonly #view: ShardView;
  readonly #memories = new Map<number, MemoryIndex>();
  readonly #changes: SegmentChanges;
  readonly #sealed: TailSealing;
  readonly #rewrites: SegmentRewrites;
  readonly #dropped = new Set<number>();
  readonly #damaged: DamagedChunks;
  #active: TailSet;
  #frozen: { readonly tails: TailSet; readonly upTo: Sequence } | undefined;
  #sealing = false;
  #publishedSequence: Sequence;
  #version = 0;
  #openChunks = 0;

  private constructor(options: ShardIndexOptions) {
    this.#segments = SegmentSet.open(options.directory, options.log, options.isCache === true);
    this.#keys = options.keys;
    const bitmaps = [this.removed, this.erased, this.superseded, ...Object.values(this.verification)];
    for (const bitmap of bitmaps) {
      try {
        bitmap.load(options.log);
      } catch (error) {
        if (!(error instanceof EngineError)) throw error;
        // The log contains the lost bits.
        this.#segments.distrust(error.message);
      }
    }
    this.#damaged = new DamagedChunks(this.#segments);
    this.#active = new TailSet(this.#segments.sealedSequence);
    this.#publishedSequence = this.#segments.sealedSequence;
    this.#changes = new SegmentChanges(this.#segments, bitmaps, this.#dropped);
    this.#sealed = new TailSealing(this.#segments, this.#keys, this.removed);
    this.#rewrites = new SegmentRewrites({
      segments: this.#segments,
      keys: this.#keys,
      removed: this.removed,
      changes: this.#changes,
      isDropped: (memory) => this.#dropped.has(memory),
      isDamaged: (file, memory) => this.#damaged.has(file, memory),
      isUsable: (file) => this.#damaged.isUsable(file),
      onCorrupt: (file, memory, error) => this.#damage(file, memory, error),
      beginRead: () => this.beginRead(),
    });
    this.#view = this.#makeView(options);
  }

  /**
   * Opens the segments in the manifest. Records after `sealedSequence` must then be published again; it is lower than
   * before when a segment file was bad (`problems` says which). STO-E001 when the folder cannot be read.
   */
  static open(options: ShardIndexOptions): ShardIndex {
    const index = new ShardIndex(options);
    openHere.add(index);
    return index;
  }

  /** Everything up to it is in segments. Replay begins after it. */
  get sealedSequence(): Sequence {
    return this.#segments.sealedSequence;
  }

  /** The largest published sequence number, sealed ones included. */
  get publishedSequence(): Sequence {
    return this.#publishedSequence;
  }

  /** Grains that are not in a segment yet. */
  get tailGrains(): number {
    return this.#active.grains + (this.#frozen?.tails.grains ?? 0);
  }

  /** Memories with grains that are not in a segment yet, counted for each tail set. */
  get tailMemories(): number {
    return this.#active.tailsWithGrains + (this.#frozen?.tails.tailsWithGrains ?? 0);
  }

  /** True when writes should wait for a seal. */
  tailIsFull(): boolean {
    return this.tailGrains >= TAIL_GRAINS_MAX;
  }

  /** Segment files. */
  get segments(): number {
    return this.#segments.files.length;
  }

  get bytesOnDisk(): number {
    return this.#segments.bytes;
  }

  /** Problems of the segments, as text. */
  get problems(): readonly string[] {
    return this.#damaged.problems;
  }

  /** True when a live chunk of the memory cannot be read. Queries are then answered from the others. */
  isDamaged(memory: number): boolean {
    return this.#damaged.hasOf(memory);
  }

  /** True when any live chunk cannot be read: the segments must be rebuilt from the log. */
  get damaged(): boolean {
    return this.#damaged.any;
  }

  /** Paths of the live segment files, for a backup. They stay until a change is committed. */
  files(): string[] {
    return this.#segments.files.map((file) => file.path);
  }

  memory(number: number): MemoryIndex {
    const known = this.#memories.get(number);
    if (known !== undefined) return known;
    const made = new MemoryIndex(this.#view, number);
    if (this.#memories.size >= INDEX_MEMORIES_OPEN_MAX || this.#openChunks >= INDEX_CHUNKS_OPEN_MAX)
      this.#closeOldest();
    this.#memories.set(number, made);
    return made;
  }

  /** Parts of a memory that are not in a segment yet. */
  unsealedParts(memory: number): IndexPart[] {
    const { frozenTail, activeTail } = this.#view;
    return [frozenTail(memory), activeTail(memory)].filter((part) => part !== undefined);
  }

  /** Stored bytes of a memory's live chunks. */
  memoryBytes(memory: number): number {
    let bytes = 0;
    for (const file of this.#segments.files)
      if (!this.#segments.isDead(file, memory)) bytes += file.find(memory)?.length ?? 0;
    return bytes;
  }

  /** Adds a committed grain; ordinals of a memory ascend. */
  publish(memory: number, grain: IndexedGrain): void {
    if (this.#dropped.has(memory)) return;
    this.#reached(grain.ordinal);
    this.#active.publish(memory, grain);
  }

  /** Adds a committed record that can be found by `key`. */
  publishKeyed(memory: number, kind: Keyed, key: string | number, sequence: Sequence): void {
    if (this.#dropped.has(memory)) return;
    this.#reached(sequence);
    this.#active.publishKeyed(memory, kind, key, sequence);
  }

  markSuperseded(ordinal: Ordinal): void {
    this.superseded.set(ordinal);
  }

  /** Sets the verification flag in place of any earlier one. */
  markVerification(ordinal: Ordinal, word: Verification): void {
    for (const other of VERIFICATIONS) if (other !== word) this.verification[other].clear(ordinal);
    this.verification[word].set(ordinal);
  }

  /**
   * The current verification flag of the grain; undefined: none. Every answer needs it for every grain, so it is read
   * from the bitmaps and not from records.
   */
  verificationOf(ordinal: Ordinal): Verification | undefined {
    for (const word of VERIFICATIONS) if (this.verification[word].get(ordinal)) return word;
    return undefined;
  }

  /**
   * Marks a record as removed: readers skip it (`removed`), seals and merges leave it out. Sequence numbers of keyed
   * entries can be marked too; a merge drops those entries.
   */
  markRemoved(_memory: number, ordinal: Ordinal): void {
    this.removed.set(ordinal);
  }

  /** A record was removed by an erasure. */
  markErased(memory: number, ordinal: Ordinal): void {
    this.markRemoved(memory, ordinal);
    this.erased.set(ordinal);
  }

  /**
   * Freezes the tails and writes them as a segment file; everything up to `upTo` was published. A seal that was
   * abandoned is tried again first, with its own `upTo`: check `sealedSequence`. STO-E001 when the disk refuses;
   * nothing is lost, and `seal` may be called again. With a `sealer`, another thread writes the file: when the steps have
   * nothing to do, `sealsElsewhere` says so.
   */
  seal(upTo: Sequence, sealer?: Sealer): Sliced<SegmentChange> {
    assert(!this.#sealing, 'one seal runs at a time');
    if (this.#frozen === undefined) {
      assert(upTo >= this.#publishedSequence, 'a seal takes everything that was published');
      this.#frozen = { tails: this.#active, upTo };
      this.#active = new TailSet(upTo);
      this.#publishedSequence = upTo;
    }
    return this.#seal(this.#frozen, sealer);
  }

  /** While another thread writes a seal's file: resolves when that has ended. The steps of the seal have nothing to do until then. */
  get sealsElsewhere(): Promise<void> | undefined {
    return this.#sealed.elsewhere.ended;
  }

  /** The same for a merge or a compaction. */
  get mergesElsewhere(): Promise<void> | undefined {
    return this.#rewrites.elsewhere.ended;
  }

  /** Gives up what another thread writes. Resolves when nobody writes its files any more. Call before `close`. */
  async endElsewhere(): Promise<void> {
    await Promise.all([this.#sealed.elsewhere.cancel(), this.#rewrites.elsewhere.cancel()]);
  }

  /**
   * A merge that is worthwhile now, or undefined. The merge may return undefined when it meets a bad block. With a `thread`,
   * another thread writes a large file: when the steps have nothing to do, `mergesElsewhere` says so.
   */
  mergeStep(thread?: MergesElsewhere): Sliced<SegmentChange | undefined> | undefined {
    return this.#rewrites.mergeStep(thread);
  }

  /** Merges all segments into one, without removed records; undefined when nothing would be gained. As `mergeStep`. */
  compact(thread?: MergesElsewhere): Sliced<SegmentChange | undefined> {
    return this.#rewrites.compact(thread);
  }

  /**
   * Rewrites a memory's chunks as one under its newest index key, without removed records. After the commit no live
   * chunk is sealed under an older key. Undefined when there is nothing to rewrite. Tails are not touched: seal first.
   */
  purge(memory: number): Sliced<SegmentChange | undefined> {
    return this.#rewrites.purge(memory);
  }

  /** Ids of the index keys that seal live chunks of a memory. */
  indexKeysInUse(memory: number): number[] {
    const ids = this.#segments.files.map((file) => liveEntry(this.#segments, file, memory)?.keyId);
    return [...new Set(ids)].filter((id) => id !== undefined);
  }

  /** Drops a memory: its tails at once, its chunks with the change. Later publications for it are ignored. */
  dropMemory(memory: number): Sliced<SegmentChange> {
    this.#dropped.add(memory);
    this.#active.drop(memory);
    this.#frozen?.tails.drop(memory);
    this.#memories.get(memory)?.close();
    this.#memories.delete(memory);
    this.#version += 1;
    return this.#drop(memory);
  }

  /** Drops every segment and tail with the change: the whole log must be published again, from sequence number 1. */
  reset(): SegmentChange {
    assert(!this.#sealing && !this.#rewrites.running, 'nothing else changes the segments');
    return this.#changes.make('reset', { removed: this.#segments.files, sealedSequence: 0 }, () => {
      this.#active = new TailSet(0);
      this.#frozen = undefined;
      this.#publishedSequence = 0;
      this.#damaged.clear();
    });
  }

  /** Checks every live chunk: checksums, seals, order and ranges. Files stay until it is done. */
  *verify(): Sliced<SegmentReport> {
    const { files } = this.#segments;
    const release = this.beginRead();
    try {
      return yield* verifySegments(files, this.#segments, this.#keys);
    } finally {
      release();
    }
  }

  /** Begins a read in several slices: see `SegmentSet`. */
  beginRead(): () => void {
    return this.#segments.beginRead();
  }

  /** Takes over the reads of the index that this one replaces. */
  takeReads(from: ShardIndex): void {
    this.#segments.takeReads(from.#segments);
  }

  /** Puts a change in force, after the transaction with its state. */
  commit(change: SegmentChange): void {
    this.#changes.commit(change);
    this.#damaged.forgetReplaced();
    for (const memory of this.#memories.values()) memory.forgetTails();
    this.#version += 1;
  }

  /**
   * Abandons a change: its transaction failed or will not run. Its file is deleted, or left for the next open to keep
   * or delete when it is unknown whether the transaction is on disk.
   */
  abandon(change: SegmentChange, { isUncertain = false } = {}): void {
    this.#changes.abandon(change, isUncertain);
  }

  /** Closes the files. Unsealed records will be published again from the log. */
  close(): void {
    openHere.delete(this);
    this.#changes.close();
    for (const memory of this.#memories.values()) memory.close();
    this.#memories.clear();
    this.#segments.close();
  }

  *#seal(
    frozen: { readonly tails: TailSet; readonly upTo: Sequence },
    sealer: Sealer | undefined,
  ): Sliced<SegmentChange> {
    this.#sealing = true;
    try {
      const { tails, upTo } = frozen;
      const range = { first: tails.base + 1, last: upTo };
      const added = yield* this.#sealed.write(tails, range, sealer);
      const edit = { added, sealedSequence: upTo };
      return this.#changes.make('seal', edit, () => {
        this.#frozen = undefined;
      });
    } finally {
      this.#sealing = false;
    }
  }

  /** A single step, but callers run every change in the same way. */
  *#drop(memory: number): Sliced<SegmentChange> {
    const files = this.#segments.files.filter((file) => liveEntry(this.#segments, file, memory) !== undefined);
    return this.#changes.make('drop', { dead: files.map((file) => [file, memory] as const) });
  }

  #reached(sequence: Sequence): void {
    if (sequence > this.#publishedSequence) this.#publishedSequence = sequence;
  }

  /** Closes the memories that were opened first until there is room again. */
  #closeOldest(): void {
    for (const [number, memory] of this.#memories) {
      memory.close();
      this.#memories.delete(number);
      if (this.#memories.size < INDEX_MEMORIES_OPEN_MAX && this.#openChunks < INDEX_CHUNKS_OPEN_MAX) return;
    }
  }

  #makeView(options: ShardIndexOptions): ShardView {
    const version = (): number => this.#version;
    return {
      keys: options.keys,
      budget: options.budget,
      segments: this.#segments,
      get version() {
        return version();
      },
      frozenTail: (memory) => this.#frozen?.tails.tails.get(memory),
      activeTail: (memory) => this.#active.tails.get(memory),
      opened: (chunks) => {
        this.#openChunks += chunks;
      },
      isDamaged: (file, memory) => this.#damaged.has(file, memory),
      onCorrupt: (file, memory) => (error) => this.#damage(file, memory, error),
    };
  }

  /** Marks the chunk as damaged: from now on the shard goes on without it. */
  #damage(file: SegmentFile, memory: number, error: CorruptBlock): void {
    if (this.#damaged.add(file, memory, error)) this.#version += 1;
  }
}
