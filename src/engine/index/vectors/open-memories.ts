// The memories of a shard whose vectors somebody asked for. They are made of the files when they are first asked for, let go
// of when their rows are too many, and made anew.

import type { Sliced } from '../files/section.ts';
import type { IndexKeys } from '../index-keys.ts';
import { Arena } from './arena.ts';
import { Coverage } from './coverage.ts';
import type { EmbedderStamp, Generation, NearFrom } from './generation.ts';
import { isSameStamp, MemoryVectors, type VectorShard } from './memory-vectors.ts';
import type { PlacedEntry, VectorFiles } from './vector-files.ts';

export interface OpenMemoriesOptions {
  readonly files: VectorFiles;
  readonly keys: Pick<IndexKeys, 'indexKey' | 'indexKeyById'>;
  readonly isRemoved: (ordinal: number) => boolean;
  /** Who makes a memory's vectors from now on. */
  readonly embedderOf: (memory: number) => EmbedderStamp;
  readonly nearFrom: NearFrom;
  readonly heapBytes: number;
  /** Something of the memory is to be embedded again. */
  readonly onLost: (memory: number) => void;
}

/** Blocks that are loaded at once: 10 to 50 ms. Whoever does it has other things to do, and asks again. */
const LOAD_STEPS_MAX = 64;

export class OpenMemories {
  readonly #options: OpenMemoriesOptions;
  readonly #arena = new Arena();
  readonly #shard: VectorShard;
  /** Those asked for longest ago first. */
  readonly #open = new Map<number, MemoryVectors>();
  /** Memories in which something changed since nothing was found to be done there. */
  readonly changed = new Set<number>();
  /** Memories that may have something that is in no file. */
  readonly unsealed = new Set<number>();
  /** Memories that are to be brought to heap. */
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
      for (const generation of this.#open.get(memory)?.generations ?? []) count += generation.unsealedCount;
    return count;
  }

  /** True when a file could take something. */
  get isSealable(): boolean {
    for (const memory of this.unsealed)
      for (const generation of this.#open.get(memory)?.generations ?? [])
        if (generation.unsealedRanges().length > 0) return true;
    return false;
  }

  numbers(): IterableIterator<number> {
    return this.#open.keys();
  }

  /** The memory if it is open; it is not thereby asked for. */
  find(memory: number): MemoryVectors | undefined {
    return this.#open.get(memory);
  }

  /** What an embedder covered; of a memory that is not open, which it stays, by its files. */
  coverageOf(memory: number, stamp: EmbedderStamp): Coverage {
    const opened = this.#open.get(memory);
    const known = opened?.find(stamp)?.coverage;
    if (known !== undefined) return known;
    const coverage = new Coverage();
    if (opened === undefined) for (const { entry } of this.entries(memory, stamp)) coverage.add(entry);
    return coverage;
  }

  /** Whose vectors there are, some more than once; a memory that is not open stays so. */
  stampsOf(memory: number): EmbedderStamp[] {
    const opened = this.#open.get(memory);
    if (opened !== undefined) return opened.generations.map(({ stamp }) => stamp);
    return this.#options.files.entriesOf(memory).map(({ entry }) => entry.stamp);
  }

  get(memory: number): MemoryVectors {
    const known = this.#open.get(memory);
    const opened = known ?? new MemoryVectors(memory, this.#shard);
    if (known === undefined && opened.generations.length > 1) this.changed.add(memory);
    this.#open.delete(memory);
    this.#open.set(memory, opened);
    return opened;
  }

  serving(memory: number): Generation | undefined {
    return this.get(memory).serving(this.#options.embedderOf(memory));
  }

  /** The generation that serves, or that of the named embedder, in heap. */
  ready(memory: number, embedder?: string): Generation | undefined {
    const opened = this.get(memory);
    const current = this.#options.embedderOf(memory);
    const find = (): Generation | undefined =>
      embedder === undefined
        ? opened.serving(current)
        : (opened.generations.find(({ stamp }) => isSameStamp(stamp, current) && stamp.name === embedder) ??
          opened.generations.find(({ stamp }) => stamp.name === embedder));
    let found = find();
    // Loading may meet damage, after which another serves.
    while (found !== undefined && !opened.isLoaded(found)) {
      opened.ready(found);
      this.changed.add(memory);
      found = find();
    }
    return found;
  }

  /** Rows that the next search of the memory has to bring to heap first. */
  rowsToLoad(memory: number): number {
    return this.#rowsToLoad(memory, this.serving(memory));
  }

  /** Rows that the next addition to the memory has to bring to heap first: those of its embedder, whether they serve or not. */
  rowsToAdd(memory: number): number {
    return this.#rowsToLoad(memory, this.#own(memory));
  }

  #rowsToLoad(memory: number, generation: Generation | undefined): number {
    if (generation === undefined || this.get(memory).isLoaded(generation)) return 0;
    return this.entries(memory, generation.stamp).reduce((rows, { entry }) => rows + entry.rows, 0);
  }

  #own(memory: number): Generation | undefined {
    return this.get(memory).find(this.#options.embedderOf(memory));
  }

  /** `loading` gives some of what brings the memory to heap, as long as it is not there. */
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
    for (const generation of new Set([this.serving(memory), this.#own(memory)]))
      if (generation !== undefined) yield* this.get(memory).load(generation);
    this.changed.add(memory);
  }

  /** Entries that count, of one embedder. */
  entries(memory: number, stamp: EmbedderStamp): PlacedEntry[] {
    return this.#options.files.entriesOf(memory).filter(({ entry }) => isSameStamp(entry.stamp, stamp));
  }

  /** Lets go of the vectors with which the embedder has caught up. */
  dropOutdated(opened: MemoryVectors): void {
    for (const generation of opened.outdated(this.#options.embedderOf(opened.memory))) {
      opened.drop(generation);
      this.#options.files.letGo(this.entries(opened.memory, generation.stamp));
    }
  }

  /** Past the heap's bound those asked for longest ago go, but `memory`, unless something of theirs is in no file. */
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

  /** An entry cannot be read, for a reason that is named, or because its key is gone as it should be. */
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

  /** Forgets a memory, in files too. */
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
