// One memory's vectors: a vector set for each embedder with vectors, loaded from the files on demand.
// When there are two sets, the one that covers more grains answers: the old one while a new embedder works through the
// memory, the new one when it has caught up. Then the old one is dropped.
import { EngineError } from '../../base/errors.ts';
import { CorruptBlock, type Sliced } from '../files/section.ts';
import type { IndexKeys } from '../index-keys.ts';
import type { Arena } from './arena.ts';
import type { VectorBlock, VectorFile } from './vector-file.ts';
import type { PlacedEntry } from './vector-files.ts';
import { type EmbedderStamp, type NearFrom, VectorSet } from './vector-set.ts';

/** The parts of the shard that a memory's vectors need. */
export interface VectorShard {
  readonly arena: Arena;
  readonly keys: Pick<IndexKeys, 'indexKey' | 'indexKeyById'>;
  readonly nearFrom: NearFrom;
  /** Entries in force, oldest content first. */
  entriesOf(memory: number): readonly PlacedEntry[];
  /** True for a grain that must not be found any more. */
  readonly isRemoved: (ordinal: number) => boolean;
  /** Called when an entry cannot be read. `reason` is undefined when its key is gone on purpose. */
  lost(placed: PlacedEntry, reason: string | undefined): void;
}

export function isSameStamp(a: EmbedderStamp, b: EmbedderStamp): boolean {
  return a.name === b.name && a.dimensions === b.dimensions;
}

export class MemoryVectors {
  readonly memory: number;
  readonly #shard: VectorShard;
  readonly #sets: VectorSet[] = [];
  /** Sets whose rows are not all loaded yet. */
  readonly #loading = new Map<VectorSet, Sliced<void>>();

  constructor(memory: number, shard: VectorShard) {
    this.memory = memory;
    this.#shard = shard;
    for (const { entry } of shard.entriesOf(memory)) {
      const vectorSet = this.vectorSet(entry.stamp);
      vectorSet.coverage.add(entry);
      vectorSet.sealed.add(entry);
    }
    for (const vectorSet of this.#sets) this.#loading.set(vectorSet, this.#load(vectorSet));
  }

  get sets(): readonly VectorSet[] {
    return this.#sets;
  }

  /** Bytes of its rows and graphs outside the arena. */
  get bytes(): number {
    return this.#sets.reduce((total, vectorSet) => total + vectorSet.bytes, 0);
  }

  get isSealed(): boolean {
    return this.#sets.every((vectorSet) => vectorSet.isSealed);
  }

  isLoaded(vectorSet: VectorSet): boolean {
    return !this.#loading.has(vectorSet);
  }

  find(stamp: EmbedderStamp): VectorSet | undefined {
    return this.#sets.find((vectorSet) => isSameStamp(vectorSet.stamp, stamp));
  }

  /** The vector set of an embedder, created if missing. */
  vectorSet(stamp: EmbedderStamp): VectorSet {
    const known = this.find(stamp);
    if (known !== undefined) return known;
    const made = new VectorSet(stamp, this.#shard.arena, this.#shard.nearFrom);
    this.#sets.push(made);
    return made;
  }

  /** The vector set that serves while `current` is the embedder: its own, unless another covers more. */
  serving(current: EmbedderStamp): VectorSet | undefined {
    const own = this.find(current);
    let best = own;
    for (const vectorSet of this.#sets)
      if (vectorSet !== own && vectorSet.coverage.end > (best?.coverage.cursor ?? 0)) best = vectorSet;
    return best;
  }

  /** Sets that `current` has caught up with, in files too. Otherwise a crash would lose vectors. */
  outdated(current: EmbedderStamp): VectorSet[] {
    const cursor = this.find(current)?.sealed.cursor ?? 0;
    return this.#sets.filter((vectorSet) => !isSameStamp(vectorSet.stamp, current) && vectorSet.coverage.end <= cursor);
  }

  drop(vectorSet: VectorSet): void {
    vectorSet.drop();
    this.#loading.get(vectorSet)?.return();
    this.#loading.delete(vectorSet);
    this.#sets.splice(this.#sets.indexOf(vectorSet), 1);
  }

  dropAll(): void {
    for (const vectorSet of [...this.#sets]) this.drop(vectorSet);
  }

  /** Loads all rows: some microseconds a vector of 512 dimensions, once. */
  ready(vectorSet: VectorSet): VectorSet {
    const loading = this.#loading.get(vectorSet);
    if (loading !== undefined) while (loading.next().done !== true);
    return vectorSet;
  }

  /** The same in slices. A search meanwhile loads all the rest first. */
  *load(vectorSet: VectorSet): Sliced<void> {
    for (;;) {
      const loading = this.#loading.get(vectorSet);
      if (loading === undefined || loading.next().done === true) return;
      yield;
    }
  }

  remove(ordinal: number): void {
    for (const vectorSet of this.#sets) vectorSet.remove(ordinal);
  }

  *#load(vectorSet: VectorSet): Sliced<void> {
    const entries = this.#shard.entriesOf(this.memory).filter(({ entry }) => isSameStamp(entry.stamp, vectorSet.stamp));
    // A merge may drop the files between two slices.
    const files = entries.map(({ file }) => file.hold());
    try {
      for (const placed of entries) yield* this.#loadEntry(vectorSet, placed);
    } finally {
      for (const file of files) file.release();
    }
    this.#loading.delete(vectorSet);
  }

  *#loadEntry(vectorSet: VectorSet, placed: PlacedEntry): Sliced<void> {
    try {
      for (const block of readEntry(placed, this.#shard.keys.indexKeyById(placed.entry.keyId, this.memory))) {
        loadBlock(vectorSet, block, this.#shard.isRemoved);
        yield;
      }
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      vectorSet.forget(placed.entry);
      this.#shard.lost(placed, isGone(error) ? undefined : error.message);
    }
  }
}

/** True when a key is gone on purpose. */
export function isGone(error: EngineError): boolean {
  return error.code === 'CRY-E002' || error.code === 'MEM-E003';
}

/** The blocks of an entry. Throws CorruptBlock, also for a block that is sealed correctly but has invalid content. */
export function* readEntry({ file, entry }: PlacedEntry, key: Uint8Array): IterableIterator<VectorBlock> {
  let [ordinal, chunk] = [-1, -1];
  for (const block of file.blocks(entry, key)) {
    for (let i = 0; i < block.count; i++) {
      const isNext = block.ordinals[i] === ordinal && block.chunks[i] === chunk + 1;
      if (!isNext && block.chunks[i] !== 0) throw misplaced(file, entry.offset);
      ordinal = block.ordinals[i]!;
      chunk = block.chunks[i]!;
      if (ordinal <= entry.after || ordinal > entry.upTo) throw misplaced(file, entry.offset);
    }
    yield block;
  }
}

function misplaced(file: VectorFile, offset: number): CorruptBlock {
  return new CorruptBlock(file.name, offset, 'rows are not in their order or range');
}

function loadBlock(vectorSet: VectorSet, block: VectorBlock, isSkipped: (ordinal: number) => boolean): void {
  for (let i = 0; i < block.count; i++) {
    const ordinal = block.ordinals[i]!;
    if (isSkipped(ordinal)) continue;
    vectorSet.load(ordinal, block.halves, i * vectorSet.stamp.dimensions, block.chunks[i] === 0);
  }
}
