// The vectors of one shard: give it vectors of grains, ask it which grains are near a query.
//
// Embedding follows the log at its own pace: `add` takes what an embedder made, `advance` says how far it has come, `seal` writes
// that to files. What is in no file when the process ends is embedded again. Nothing here waits: what takes long is
// a `Sliced` generator, of which one at a time is run to its end (or closed with `return`); all else may be called between its
// slices. A memory's rows are brought to heap when somebody asks, and let go when they are too many.
import { assert } from '../../base/assert.ts';
import { EngineError } from '../../base/errors.ts';
import {
  VECTOR_CHUNKS_MAX,
  VECTOR_DIMENSIONS_MAX,
  VECTOR_HEAP_BYTES,
  VECTOR_LIST_MAX,
  VECTOR_SCAN_MAX,
  VECTORS_SEAL,
} from '../../base/limits.ts';
import type { Sliced } from '../files/section.ts';
import type { IndexKeys } from '../index-keys.ts';
import type { VectorHit } from './best-grains.ts';
import type { Range } from './coverage.ts';
import type { EmbedderStamp, Generation } from './generation.ts';
import { meanOfChunks } from './mean.ts';
import { isSameStamp } from './memory-vectors.ts';
import { OpenMemories } from './open-memories.ts';
import { cosinesOf, type SearchTuning, searchRows, type VectorFilter } from './search.ts';
import { VectorFiles } from './vector-files.ts';
import { type VectorReport, VectorUpkeep } from './vector-upkeep.ts';

export interface VectorIndexOptions {
  /** The folder of the shard's vectors, which is made if need be; nobody else writes there. */
  readonly directory: string;
  readonly keys: Pick<IndexKeys, 'indexKey' | 'indexKeyById'>;
  /** Says of every grain that was removed or erased, from the moment on that `remove` is called for it and in all later lives. */
  readonly isRemoved: (ordinal: number) => boolean;
  /** Who makes the vectors of memories without an embedder of their own (`use`). */
  readonly embedder: EmbedderStamp;
  /** Something of the memory turned out to be lost: it is to be embedded again. */
  readonly onLost?: (memory: number) => void;
  /** The last ordinal that was given: vectors of later ones are of another log, and forgotten. */
  readonly lastOrdinal?: number;
  /** Vectors of a memory up to which every search is a scan, and up to which their sketches are. */
  readonly scanMax?: number;
  readonly listMax?: number;
  readonly tuning?: SearchTuning;
  /** Vectors in no file at which `work` seals. */
  readonly sealAt?: number;
  /** Bytes of rows in heap above which the memories that were not asked for longest are let go. */
  readonly heapBytes?: number;
}

export interface VectorSearch extends VectorFilter {
  /** Whose vectors to search; without it those that `serving` names. */
  readonly embedder?: string;
}

/** A vector whose length differs from 1 by more is no unit vector. */
const UNIT_TOLERANCE = 0.01;

export class VectorIndex {
  readonly #options: VectorIndexOptions;
  readonly #files: VectorFiles;
  readonly #memories: OpenMemories;
  readonly #upkeep: VectorUpkeep;
  readonly #embedder: EmbedderStamp;
  /** Embedders that memories have of their own. */
  readonly #embedders = new Map<number, EmbedderStamp>();

  private constructor(options: VectorIndexOptions, files: VectorFiles) {
    const { keys, isRemoved } = options;
    this.#options = options;
    this.#files = files;
    this.#embedder = checkedStamp(options.embedder);
    this.#memories = new OpenMemories({
      files,
      keys,
      isRemoved,
      embedderOf: (memory) => this.embedderOf(memory),
      nearFrom: { scanMax: options.scanMax ?? VECTOR_SCAN_MAX, listMax: options.listMax ?? VECTOR_LIST_MAX },
      heapBytes: options.heapBytes ?? VECTOR_HEAP_BYTES,
      onLost: options.onLost ?? (() => undefined),
    });
    this.#upkeep = new VectorUpkeep({ files, memories: this.#memories, keys, isRemoved });
  }

  /**
   * Opens the files of a shard: their directories are read, not their vectors. Damaged files are moved aside and named in
   * `problems`; what they covered is a gap (`gaps`). Throws STO-E001 when the folder cannot be read.
   */
  static open(options: VectorIndexOptions): VectorIndex {
    return new VectorIndex(options, VectorFiles.open(options.directory, options.lastOrdinal));
  }

  /** What was found damaged, in words. */
  get problems(): readonly string[] {
    return this.#files.problems;
  }

  /** Whose vectors the memory gets. */
  embedderOf(memory: number): EmbedderStamp {
    return this.#embedders.get(memory) ?? this.#embedder;
  }

  /** Bytes in heap and outside it: rows, sketches, graphs (an estimate, since usearch does not tell), and what finds them. */
  get bytes(): number {
    return this.#memories.bytes;
  }

  /** Bytes of the files. */
  get diskBytes(): number {
    return this.#files.bytes;
  }

  /** Paths of the files, whose contents never change. What was added since the last `seal` is in none. */
  paths(): string[] {
    return this.#files.files.map(({ path }) => path);
  }

  /** Grains whose vectors are in no file yet. Adding asserts that no memory has more than VECTORS_UNSEALED_MAX. */
  get unsealed(): number {
    return this.#memories.unsealedCount;
  }

  /**
   * Gives a memory its embedder: vectors of the one before answer until `advance` has covered as much with the new one. To say it
   * again costs nothing.
   */
  use(memory: number, embedder: EmbedderStamp): void {
    if (isSameStamp(this.embedderOf(memory), embedder)) return;
    this.#embedders.set(memory, checkedStamp(embedder));
    if (this.#memories.find(memory) !== undefined) this.#memories.changed.add(memory);
  }

  /**
   * Puts the unit vectors of a grain's chunks, at least one, in the place of what it had; they are copied. They are found at once,
   * and are in a file after a `seal` that follows the `advance` past them.
   */
  add(memory: number, ordinal: number, vectors: readonly Float32Array[]): void {
    const stamp = this.embedderOf(memory);
    assert(vectors.length > 0 && vectors.length <= VECTOR_CHUNKS_MAX, 'a grain has some chunks, and not too many');
    assert(Number.isInteger(ordinal) && ordinal > 0 && ordinal <= 0xffff_fffe, 'an ordinal is a sequence of the log');
    for (const vector of vectors) {
      assert(vector.length === stamp.dimensions, 'a vector has the dimensions of its embedder');
      assert(isUnitVector(vector), 'a vector is finite and of length 1');
    }
    const opened = this.#memories.get(memory);
    const generation = opened.ready(opened.generation(stamp));
    generation.add(ordinal, vectors);
    this.#wasAdded(memory);
    this.#letGoOfOthers(memory);
  }

  /**
   * Everything of the memory after `embeddedUpTo` and up to `upTo` was embedded, or has nothing to embed. When the embedder has
   * come as far as the one before, its vectors serve; once they are sealed, those of the one before go.
   */
  advance(memory: number, upTo: number): void {
    const { coverage } = this.#memories.get(memory).generation(this.embedderOf(memory));
    coverage.add({ after: coverage.cursor, upTo });
    this.#wasAdded(memory);
  }

  /** The same of a range that may lie ahead: what is between goes on being embedded in its turn. */
  cover(memory: number, range: Range): void {
    this.#memories.get(memory).generation(this.embedderOf(memory)).coverage.add(range);
    this.#wasAdded(memory);
  }

  /** Ranges that the memory's embedder (or the one that is named) has been over, ascending. */
  covered(memory: number, embedder: EmbedderStamp = this.embedderOf(memory)): readonly Range[] {
    return this.#memories.coverageOf(memory, embedder).ranges;
  }

  /** Up to which ordinal the memory is embedded by the embedder (or the one that is named), without a gap; 0 for nothing. */
  embeddedUpTo(memory: number, embedder: EmbedderStamp = this.embedderOf(memory)): number {
    return this.#memories.coverageOf(memory, embedder).cursor;
  }

  /** True when vectors of another embedder are there too, which go when the memory's own has come as far. */
  hasOthers(memory: number): boolean {
    const own = this.embedderOf(memory);
    return this.#memories.stampsOf(memory).some((stamp) => !isSameStamp(stamp, own));
  }

  /** Ranges before others that the embedder covered and whose vectors were lost: `embeddedUpTo` ends where the first begins. */
  gaps(memory: number): Range[] {
    return this.#memories.get(memory).find(this.embedderOf(memory))?.coverage.gaps ?? [];
  }

  /** Whose vectors a search of the memory compares, so who must embed its query; undefined when there are none. */
  serving(memory: number): EmbedderStamp | undefined {
    return this.#memories.serving(memory)?.stamp;
  }

  /** Takes grains out, of all embedders' vectors, and overwrites them in heap. In files they stay until `purge`. */
  remove(memory: number, ordinals: Iterable<number>): void {
    const opened = this.#memories.get(memory);
    for (const ordinal of ordinals) opened.remove(ordinal);
    this.#memories.changed.add(memory);
  }

  /** Forgets a memory: its keys are gone, or it is to have no vectors. */
  dropMemory(memory: number): void {
    this.#memories.drop(memory);
    this.#embedders.delete(memory);
    this.#upkeep.memoryDropped(memory);
  }

  /** True when the vectors that serve have the grain. Brings the memory to heap. */
  has(memory: number, ordinal: number): boolean {
    return this.#ready(memory)?.grains.has(ordinal) ?? false;
  }

  /**
   * True when the embedder's own vectors have the grain, whether they serve or not: what a gap leaves need not be embedded twice.
   * Brings the memory to heap.
   */
  isEmbedded(memory: number, ordinal: number): boolean {
    return this.#ready(memory, this.embedderOf(memory).name)?.grains.has(ordinal) ?? false;
  }

  /** Vectors that serve. Of a memory that is not in heap, those in its files, with removed grains that no purge has met. */
  count(memory: number): number {
    const serving = this.#memories.serving(memory);
    if (serving === undefined) return 0;
    const rows = this.#memories.rowsToLoad(memory);
    return rows > 0 ? rows : serving.grains.live;
  }

  /**
   * The grains nearest to a query by the cosine of their best chunk, best first, of equal ones the higher ordinal first. As many as
   * `limit` whenever the filter allows that many that have vectors. `query` is of any length but 0. VAL-E001 for a query of
   * other dimensions than the vectors that are searched, or with components that are no finite numbers.
   */
  search(memory: number, query: Float32Array, options: VectorSearch): VectorHit[] {
    const searched = this.#ready(memory, options.embedder);
    const unit = unitQuery(query, searched?.stamp.dimensions ?? this.embedderOf(memory).dimensions);
    return searched === undefined ? [] : searchRows(searched, unit, options, this.#options.tuning);
  }

  /** The cosines of some grains, in their order, each of its best chunk; NaN where there is no vector. Errors as `search`. */
  cosineOf(memory: number, query: Float32Array, ordinals: ArrayLike<number>, embedder?: string): Float64Array {
    const searched = this.#ready(memory, embedder);
    const unit = unitQuery(query, searched?.stamp.dimensions ?? this.embedderOf(memory).dimensions);
    if (searched === undefined) return new Float64Array(ordinals.length).fill(Number.NaN);
    return cosinesOf(searched.grains, unit, ordinals);
  }

  /** A unit vector for a grain: the mean of its chunks, by the embedder that serves; undefined for one without vectors. */
  meanOf(memory: number, ordinal: number): Float32Array | undefined {
    const serving = this.#ready(memory);
    return serving === undefined ? undefined : meanOfChunks(serving.grains, ordinal);
  }

  /** Vectors that the next search of the memory would bring to heap first. */
  rowsToLoad(memory: number): number {
    return this.#memories.rowsToLoad(memory);
  }

  /** Vectors that the next `add` to the memory, or `isEmbedded`, would bring to heap first. */
  rowsToAdd(memory: number): number {
    return this.#memories.rowsToAdd(memory);
  }

  /** Brings the vectors that serve to heap: some microseconds a vector. What is damaged is lost from then on. */
  bring(memory: number): void {
    this.#ready(memory);
  }

  /** From now on `work` brings the memory's vectors to heap: those that serve, and those that its embedder adds to. */
  prepare(memory: number): void {
    this.#memories.await(memory);
  }

  /** The same in slices, before somebody asks. */
  *load(memory: number): Sliced<void> {
    yield* this.#memories.load(memory);
    this.#letGoOfOthers(memory);
  }

  /** Some of what is due: sealing, loading, sketches, graphs, copying what is mostly dead, merging. Undefined when nothing is. */
  work(): Sliced<void> | undefined {
    if (this.#upkeep.isBusy) return undefined;
    const memories = this.#memories;
    if (memories.unsealedCount >= (this.#options.sealAt ?? VECTORS_SEAL) && memories.isSealable) return this.seal();
    const loading = memories.loading();
    if (loading !== undefined) return loading;
    for (const memory of memories.changed) {
      const opened = memories.find(memory);
      if (opened !== undefined) memories.dropOutdated(opened);
      for (const generation of opened?.generations ?? []) {
        const work = opened?.isLoaded(generation) === true ? generation.work() : undefined;
        if (work !== undefined) return this.#upkeep.exclusive(work);
      }
      memories.changed.delete(memory);
    }
    const files = this.#files.mergeable();
    return files === undefined ? undefined : this.#upkeep.exclusive(this.#upkeep.merge(files));
  }

  /** Writes to a file what was covered and is in none. Throws what the file system throws; then nothing is changed. */
  seal(): Sliced<void> {
    return this.#upkeep.exclusive(this.#upkeep.seal());
  }

  /**
   * Writes a memory's vectors anew under its newest key, without those of removed grains, and lets go of a graph that has something
   * of them. Then no file that counts holds a block under an older key. Seals what is covered first.
   */
  purge(memory: number): Sliced<void> {
    return this.#upkeep.exclusive(this.#upkeep.purge(memory));
  }

  /** Keys under which a memory's blocks are sealed in files that count: after a purge, the newest alone. */
  keysInUse(memory: number): Set<number> {
    return new Set(this.#files.entriesOf(memory).map(({ entry }) => entry.keyId));
  }

  /** Forgets all vectors of a memory, or of all: `embeddedUpTo` is 0 again, also after a crash. */
  rebuild(memory?: number): Sliced<void> {
    const numbers = memory === undefined ? [...this.#files.memories(), ...this.#memories.numbers()] : [memory];
    return this.#upkeep.exclusive(this.#upkeep.rebuild(new Set(numbers), (number) => this.dropMemory(number)));
  }

  /**
   * Reads every block that counts. What is damaged is named, and from then on not embedded; vectors of what `isGrain` does not know
   * (it is to know removed grains) are named alone.
   */
  verify(isGrain: (memory: number, ordinal: number) => boolean = () => true): Sliced<VectorReport> {
    return this.#upkeep.exclusive(this.#upkeep.verify(isGrain));
  }

  /** Closes the files. What is in none of them is embedded again by the next life. */
  close(): void {
    this.#memories.close();
    this.#files.close();
  }

  #wasAdded(memory: number): void {
    this.#memories.changed.add(memory);
    this.#memories.unsealed.add(memory);
  }

  /** The generation that serves, or that of the named embedder, in heap. */
  #ready(memory: number, embedder?: string): Generation | undefined {
    const found = this.#memories.ready(memory, embedder);
    this.#letGoOfOthers(memory);
    return found;
  }

  /** Not while a work runs, which may be at any of them. */
  #letGoOfOthers(memory: number): void {
    if (!this.#upkeep.isBusy) this.#memories.letGoOfOthers(memory);
  }
}

function checkedStamp(stamp: EmbedderStamp): EmbedderStamp {
  assert(stamp.name.length > 0 && Buffer.byteLength(stamp.name) <= 0xffff, 'an embedder has a name');
  const { dimensions } = stamp;
  assert(
    Number.isInteger(dimensions) && dimensions >= 1 && dimensions <= VECTOR_DIMENSIONS_MAX,
    'an embedder’s dimensions are within the limit',
  );
  return { name: stamp.name, dimensions };
}

/** True when `add` takes it: finite, and of length 1. */
export function isUnitVector(vector: Float32Array): boolean {
  return Math.abs(lengthOf(vector) - 1) <= UNIT_TOLERANCE;
}

/** NaN when a component is no finite number. */
function lengthOf(vector: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < vector.length; i++) sum += vector[i]! * vector[i]!;
  return Number.isFinite(sum) ? Math.sqrt(sum) : Number.NaN;
}

/** VAL-E001: a query's vector cannot be compared with those of a memory. */
export function wrongDimensions(given: number, dimensions: number): EngineError {
  return new EngineError('VAL-E001', `the query vector has ${given} dimensions, the memory's have ${dimensions}`);
}

function unitQuery(query: Float32Array, dimensions: number): Float32Array {
  if (query.length !== dimensions) throw wrongDimensions(query.length, dimensions);
  const length = lengthOf(query);
  if (!(length > 0))
    throw new EngineError('VAL-E001', 'the query vector has no direction, or components that are no numbers');
  return query.map((value) => value / length);
}
