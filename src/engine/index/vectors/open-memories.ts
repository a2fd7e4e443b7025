// The memories of a shard whose vectors are in use. They are loaded from the files on demand, unloaded when their rows
// are too many, and loaded again.

import type { Sliced } from '../files/section.ts';
import type { IndexKeys } from '../index-keys.ts';
import { Arena } from './arena.ts';
import { Coverage } from './coverage.ts';
import { isSameStamp, MemoryVectors, type VectorShard } from './memory-vectors.ts';
import type { PlacedEntry, VectorFiles } from './vector-files.ts';
import type { EmbedderStamp, NearFrom, VectorSet } from './vector-set.ts';

export interface OpenMemoriesOptions {
  readonly files: VectorFiles;
  readonly keys: Pick<IndexKeys, 'indexKey' | 'indexKeyById'>;
  readonly isRemoved: (ordinal: number) => boolean;
  /** The current embedder of a memory. */
  readonly embedderOf: (memory: number) => EmbedderStamp;
  readonly nearFrom: NearFrom;
  readonly heapBytes: number;
  /** Called when vectors of the memory must be made again. */
  readonly onLost: (memory: number) => void;
}

/** Blocks that are loaded in one piece of work: 10 to 50 ms. The caller has other things to do and calls again. */
const LOAD_STEPS_MAX = 64;

export class OpenMemories {
  readonly #options: OpenMemoriesOptions;
  readonly #arena = new Arena();
  readonly #shard: VectorShard;
  /** In the order of their last use, oldest first. */
  readonly #open = new Map<number, MemoryVectors>();
  /** Memories that changed since no work was found for them. */
  readonly changed = new Set<number>();
  /** Memories that may have vectors in no file. */
  readonly unsealed = new Set<number>();
  /** Memories that should be loaded. */
  readonly #awaited = new Set<number>();

  constructor(options: OpenMemoriesOptions) {
    const { files, keys, nearFrom, isRemoved } = options;
    this.#options = options;
    this.#shard = {
      arena: this.#arena,
      keys,
      nearFrom,
      entriesOf: (memory) => files.entriesOf(memory),
      isRemoved,
      lost: (placed, reason) => this.lost(placed, reason),
    };
  }

  get bytes(): number {
    let bytes = this.#arena.bytes;
    for (const memory of this.#open.values()) bytes += memory.bytes;
    return bytes;
  }

  /** Grains whose vectors are in no file yet. */
  get unsealedCount(): number {
    let count = 0;
    for (const memory of this.unsealed)
      for (const vectorSet of this.#open.get(memory)?.sets ?? []) count += vectorSet.unsealedCount;
    return count;
  }

  /** True when a file could take something. */
  get isSealable(): boolean {
    for (const memory of this.unsealed)
      for (const vectorSet of this.#open.get(memory)?.sets ?? [])
        if (vectorSet.unsealedRanges().length > 0) return true;
    return false;
  }

  numbers(): IterableIterator<number> {
    return this.#open.keys();
  }

  /** The memory if it is open. Does not count as a use. */
  find(memory: number): MemoryVectors | undefined {
    return this.#open.get(memory);
  }

  /** The coverage of an embedder. A memory that is not open stays closed, and its files are used. */
  coverageOf(memory: number, stamp: EmbedderStamp): Coverage {
    const opened = this.#open.get(memory);
    const known = opened?.find(stamp)?.coverage;
    if (known !== undefined) return known;
    const coverage = new Coverage();
    if (opened === undefined) for (const { entry } of this.entries(memory, stamp)) coverage.add(entry);
    return coverage;
  }

  /** The embedders with vectors, possibly repeated. A memory that is not open stays closed. */
  stampsOf(memory: number): EmbedderStamp[] {
    const opened = this.#open.get(memory);
    if (opened !== undefined) return opened.sets.map(({ stamp }) => stamp);
    return this.#options.files.entriesOf(memory).map(({ entry }) => entry.stamp);
  }

  get(memory: number): MemoryVectors {
    const known = this.#open.get(memory);
    const opened = known ?? new MemoryVectors(memory, this.#shard);
    if (known === undefined && opened.sets.length > 1) this.changed.add(memory);
    this.#open.delete(memory);
    this.#open.set(memory, opened);
    return opened;
  }

  serving(memory: number): VectorSet | undefined {
    return this.get(memory).serving(this.#options.embedderOf(memory));
  }

  /** The vector set that serves, or that of the named embedder, loaded. */
  ready(memory: number, embedder?: string): VectorSet | undefined {
    const opened = this.get(memory);
    const current = this.#options.embedderOf(memory);
    const find = (): VectorSet | undefined =>
      embedder === undefined
        ? opened.serving(current)
        : (opened.sets.find(({ stamp }) => isSameStamp(stamp, current) && stamp.name === embedder) ??
          opened.sets.find(({ stamp }) => stamp.name === embedder));
    let found = find();
    // Loading may meet damage, after which another vector set serves.
    while (found !== undefined && !opened.isLoaded(found)) {
      opened.ready(found);
      this.changed.add(memory);
      found = find();
    }
    return found;
  }

  /** Rows that the next search of the memory must load first. */
  rowsToLoad(memory: number): number {
    return this.#rowsToLoad(memory, this.serving(memory));
  }

  /** Rows that the next addition to the memory must load first: those of its embedder, whether they serve or not. */
  rowsToAdd(memory: number): number {
    return this.#rowsToLoad(memory, this.#own(memory));
  }

  #rowsToLoad(memory: number, vectorSet: VectorSet | undefined): number {
    if (vectorSet === undefined || this.get(memory).isLoaded(vectorSet)) return 0;
    return this.entries(memory, vectorSet.stamp).reduce((rows, { entry }) => rows + entry.rows, 0);
  }

  #own(memory: number): VectorSet | undefined {
    return this.get(memory).find(this.#options.embedderOf(memory));
  }

  /** Makes `loading` load the memory piece by piece until it is complete. */
  await(memory: number): void {
    this.#awaited.add(memory);
  }

  loading(): Sliced<void> | undefined {
    for (const memory of this.#awaited) {
      if (this.rowsToLoad(memory) > 0 || this.rowsToAdd(memory) > 0) return this.#loadSome(memory);
      this.#awaited.delete(memory);
    }
    return undefined;
  }

  *#loadSome(memory: number): Sliced<void> {
    const load = this.load(memory);
    for (let steps = 0; steps < LOAD_STEPS_MAX && load.next().done !== true; steps++) yield;
  }

  *load(memory: number): Sliced<void> {
    for (const vectorSet of new Set([this.serving(memory), this.#own(memory)]))
      if (vectorSet !== undefined) yield* this.get(memory).load(vectorSet);
    this.changed.add(memory);
  }

  /** Entries in force of one embedder. */
  entries(memory: number, stamp: EmbedderStamp): PlacedEntry[] {
    return this.#options.files.entriesOf(memory).filter(({ entry }) => isSameStamp(entry.stamp, stamp));
  }

  /** Drops the vectors that the embedder has caught up with. */
  dropOutdated(opened: MemoryVectors): void {
    for (const vectorSet of opened.outdated(this.#options.embedderOf(opened.memory))) {
      opened.drop(vectorSet);
      this.#options.files.letGo(this.entries(opened.memory, vectorSet.stamp));
    }
  }

  /**
   * Above the heap limit, unloads the least recently used memories, except `memory` and those with vectors in no file.
   */
  letGoOfOthers(memory: number): void {
    const { heapBytes } = this.#options;
    if (this.#arena.bytes <= heapBytes) return;
    for (const [other, opened] of this.#open) {
      if (this.#arena.bytes <= heapBytes) return;
      if (other === memory || !opened.isSealed) continue;
      opened.dropAll();
      this.#open.delete(other);
    }
  }

  /** Handles an unreadable entry, with a reason, or without one when its key is gone on purpose. */
  lost(placed: PlacedEntry, reason: string | undefined): void {
    const { file, entry } = placed;
    if (reason !== undefined)
      this.#options.files.problem(
        `vectors of memory ${entry.memory} from ${entry.after + 1} to ${entry.upTo} in ${file.name} are embedded again: ${reason}`,
      );
    this.#open.get(entry.memory)?.find(entry.stamp)?.forget(entry);
    this.#options.files.letGo([placed]);
    this.#options.onLost(entry.memory);
  }

  /** Drops a memory, in files too. */
  drop(memory: number): void {
    this.#open.get(memory)?.dropAll();
    this.#open.delete(memory);
    this.changed.delete(memory);
    this.unsealed.delete(memory);
    this.#awaited.delete(memory);
    this.#options.files.letGo(this.#options.files.entriesOf(memory));
  }

  close(): void {
    for (const memory of this.#open.values()) memory.dropAll();
    this.#open.clear();
  }
}
