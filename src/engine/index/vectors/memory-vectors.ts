// One memory's vectors: a generation for each embedder with vectors, loaded from the files on demand.
// Of two generations, the one that covers more serves: while a new embedder works through the memory, the old vectors
// answer; when it has caught up, they are dropped.
import { EngineError } from '../../base/errors.ts';
import { CorruptBlock, type Sliced } from '../files/section.ts';
import type { IndexKeys } from '../index-keys.ts';
import type { Arena } from './arena.ts';
import { type EmbedderStamp, Generation, type NearFrom } from './generation.ts';
import type { VectorBlock, VectorFile } from './vector-file.ts';
import type { PlacedEntry } from './vector-files.ts';

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
  readonly #generations: Generation[] = [];
  /** Generations whose rows are not all loaded yet. */
  readonly #loading = new Map<Generation, Sliced<void>>();

  constructor(memory: number, shard: VectorShard) {
    this.memory = memory;
    this.#shard = shard;
    for (const { entry } of shard.entriesOf(memory)) {
      const generation = this.generation(entry.stamp);
      generation.coverage.add(entry);
      generation.sealed.add(entry);
    }
    for (const generation of this.#generations) this.#loading.set(generation, this.#load(generation));
  }

  get generations(): readonly Generation[] {
    return this.#generations;
  }

  /** Bytes of its rows and graphs outside the arena. */
  get bytes(): number {
    return this.#generations.reduce((total, generation) => total + generation.bytes, 0);
  }

  get isSealed(): boolean {
    return this.#generations.every((generation) => generation.isSealed);
  }

  isLoaded(generation: Generation): boolean {
    return !this.#loading.has(generation);
  }

  find(stamp: EmbedderStamp): Generation | undefined {
    return this.#generations.find((generation) => isSameStamp(generation.stamp, stamp));
  }

  /** The generation of an embedder, created if missing. */
  generation(stamp: EmbedderStamp): Generation {
    const known = this.find(stamp);
    if (known !== undefined) return known;
    const made = new Generation(stamp, this.#shard.arena, this.#shard.nearFrom);
    this.#generations.push(made);
    return made;
  }

  /** The generation that serves while `current` is the embedder: its own, unless another covers more. */
  serving(current: EmbedderStamp): Generation | undefined {
    const own = this.find(current);
    let best = own;
    for (const generation of this.#generations)
      if (generation !== own && generation.coverage.end > (best?.coverage.cursor ?? 0)) best = generation;
    return best;
  }

  /** Generations that `current` has caught up with, in files too. Otherwise a crash would lose vectors. */
  outdated(current: EmbedderStamp): Generation[] {
    const cursor = this.find(current)?.sealed.cursor ?? 0;
    return this.#generations.filter(
      (generation) => !isSameStamp(generation.stamp, current) && generation.coverage.end <= cursor,
    );
  }

  drop(generation: Generation): void {
    generation.drop();
    this.#loading.get(generation)?.return();
    this.#loading.delete(generation);
    this.#generations.splice(this.#generations.indexOf(generation), 1);
  }

  dropAll(): void {
    for (const generation of [...this.#generations]) this.drop(generation);
  }

  /** Loads all rows: some microseconds a vector of 512 dimensions, once. */
  ready(generation: Generation): Generation {
    const loading = this.#loading.get(generation);
    if (loading !== undefined) while (loading.next().done !== true);
    return generation;
  }

  /** The same in slices. A search meanwhile loads all the rest first. */
  *load(generation: Generation): Sliced<void> {
    for (;;) {
      const loading = this.#loading.get(generation);
      if (loading === undefined || loading.next().done === true) return;
      yield;
    }
  }

  remove(ordinal: number): void {
    for (const generation of this.#generations) generation.remove(ordinal);
  }

  *#load(generation: Generation): Sliced<void> {
    const entries = this.#shard
      .entriesOf(this.memory)
      .filter(({ entry }) => isSameStamp(entry.stamp, generation.stamp));
    // A merge may drop the files between two slices.
    const files = entries.map(({ file }) => file.hold());
    try {
      for (const placed of entries) yield* this.#loadEntry(generation, placed);
    } finally {
      for (const file of files) file.release();
    }
    this.#loading.delete(generation);
  }

  *#loadEntry(generation: Generation, placed: PlacedEntry): Sliced<void> {
    try {
      for (const block of readEntry(placed, this.#shard.keys.indexKeyById(placed.entry.keyId, this.memory))) {
        loadBlock(generation, block, this.#shard.isRemoved);
        yield;
      }
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      generation.forget(placed.entry);
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

function loadBlock(generation: Generation, block: VectorBlock, isSkipped: (ordinal: number) => boolean): void {
  for (let i = 0; i < block.count; i++) {
    const ordinal = block.ordinals[i]!;
    if (isSkipped(ordinal)) continue;
    generation.load(ordinal, block.halves, i * generation.stamp.dimensions, block.chunks[i] === 0);
  }
}
