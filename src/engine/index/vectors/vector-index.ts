// The vectors of one shard: stores vectors of grains and finds the grains nearest to a query.
//
// Embedding follows the log at its own pace. `add` takes vectors from an embedder, `advance` states how far it has
// come, `seal` writes both to files. Vectors that are in no file when the process ends are made again. Nothing here
// waits: long work is a `Sliced` generator, of which one at a time runs to its end (or is closed with `return`). All
// other calls may come between its slices. A memory's rows are loaded on demand and unloaded when they are too many.
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
import { meanOfChunks } from './mean.ts';
import { isSameStamp } from './memory-vectors.ts';
import { OpenMemories } from './open-memories.ts';
import { cosinesOf, type SearchTuning, searchRows, type VectorFilter } from './search.ts';
import { VectorFiles } from './vector-files.ts';
import type { EmbedderStamp, VectorSet } from './vector-set.ts';
import { type VectorReport, VectorUpkeep } from './vector-upkeep.ts';

export interface VectorIndexOptions {
  /** The folder of the shard's vectors, created if missing. Nothing else writes there. */
  readonly directory: string;
  readonly keys: Pick<IndexKeys, 'indexKey' | 'indexKeyById'>;
  /** True for every removed or erased grain, from the call of `remove` on and after every reopen. */
  readonly isRemoved: (ordinal: number) => boolean;
  /** The embedder of memories without one of their own (`use`). */
  readonly embedder: EmbedderStamp;
  /** Called when vectors of the memory are lost and must be made again. */
  readonly onLost?: ((memory: number) => void) | undefined;
  /** The last ordinal that was given. Vectors of later ones belong to another log and are dropped. */
  readonly lastOrdinal?: number | undefined;
  /** Vectors of a memory up to which a search scans all vectors, and up to which it scans their sketches. */
  readonly scanMax?: number | undefined;
  readonly listMax?: number | undefined;
  readonly tuning?: SearchTuning | undefined;
  /** Vectors in no file at which `work` seals. */
  readonly sealAt?: number | undefined;
  /** Bytes of rows in heap above which the least recently used memories are unloaded. */
  readonly heapBytes?: number | undefined;
}

export interface VectorSearch extends VectorFilter {
  /** The embedder whose vectors are searched. Default: the one that `serving` returns. */
  readonly embedder?: string | undefined;
}

/** A vector whose norm differs from 1 by more is not a unit vector. */
const UNIT_TOLERANCE = 0.01;

export class VectorIndex {
  readonly #options: VectorIndexOptions;
  readonly #files: VectorFiles;
  readonly #memories: OpenMemories;
  readonly #upkeep: VectorUpkeep;
  readonly #embedder: EmbedderStamp;
  /** Embedders of memories with one of their own. */
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
   * Opens the files of a shard: reads their directories, not their vectors. Damaged files are renamed and listed in
   * `problems`; their ranges become gaps (`gaps`). Throws STO-E001 when the folder cannot be read.
   */
  static open(options: VectorIndexOptions): VectorIndex {
    return new VectorIndex(options, VectorFiles.open(options.directory, options.lastOrdinal));
  }

  /** Damage that was found, as text. */
  get problems(): readonly string[] {
    return this.#files.problems;
  }

  /** The embedder of the memory. */
  embedderOf(memory: number): EmbedderStamp {
    return this.#embedders.get(memory) ?? this.#embedder;
  }

  /**
   * Bytes in heap and outside it: rows, sketches, graphs (an estimate, since usearch does not report it), and look-up
   * tables.
   */
  get bytes(): number {
    return this.#memories.bytes;
  }

  /** Bytes of the files. */
  get diskBytes(): number {
    return this.#files.bytes;
  }

  /** Paths of the files, whose contents never change. Vectors added since the last `seal` are in none. */
  paths(): string[] {
    return this.#files.files.map(({ path }) => path);
  }

  /** Grains whose vectors are in no file yet. Adding asserts that no memory has more than VECTORS_UNSEALED_MAX. */
  get unsealed(): number {
    return this.#memories.unsealedCount;
  }

  /**
   * Sets a memory's embedder. Vectors of the previous one serve until `advance` has covered as much with the new one.
   * Repeating the call costs nothing.
   */
  use(memory: number, embedder: EmbedderStamp): void {
    if (isSameStamp(this.embedderOf(memory), embedder)) return;
    this.#embedders.set(memory, checkedStamp(embedder));
    if (this.#memories.find(memory) !== undefined) this.#memories.changed.add(memory);
  }

  /**
   * Replaces the vectors of a grain by the unit vectors of its chunks, at least one, which are copied. They are found
   * at once, and are in a file after a `seal` that follows the `advance` past them.
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
    const vectorSet = opened.ready(opened.vectorSet(stamp));
    vectorSet.add(ordinal, vectors);
    this.#wasAdded(memory);
    this.#letGoOfOthers(memory);
  }

  /**
   * States that everything of the memory after `embeddedUpTo` up to `upTo` was embedded, or has nothing to embed. When
   * the embedder has covered as much as the previous one, its vectors serve; once they are sealed, the previous ones
   * are dropped.
   */
  advance(memory: number, upTo: number): void {
    const { coverage } = this.#memories.get(memory).vectorSet(this.embedderOf(memory));
    coverage.add({ after: coverage.cursor, upTo });
    this.#wasAdded(memory);
  }

  /** The same for a range that may lie ahead. The gap before it is still embedded in its turn. */
  cover(memory: number, range: Range): void {
    this.#memories.get(memory).vectorSet(this.embedderOf(memory)).coverage.add(range);
    this.#wasAdded(memory);
  }

  /** Ranges that the memory's embedder (or the given one) has covered, ascending. */
  covered(memory: number, embedder: EmbedderStamp = this.embedderOf(memory)): readonly Range[] {
    return this.#memories.coverageOf(memory, embedder).ranges;
  }

  /** The ordinal up to which the embedder (or the given one) has covered the memory without a gap; 0 for nothing. */
  embeddedUpTo(memory: number, embedder: EmbedderStamp = this.embedderOf(memory)): number {
    return this.#memories.coverageOf(memory, embedder).cursor;
  }

  /** True when there are also vectors of another embedder, which are dropped once the memory's own has caught up. */
  hasOthers(memory: number): boolean {
    const own = this.embedderOf(memory);
    return this.#memories.stampsOf(memory).some((stamp) => !isSameStamp(stamp, own));
  }

  /** Covered ranges whose vectors were lost; `embeddedUpTo` ends where the first begins. */
  gaps(memory: number): Range[] {
    return this.#memories.get(memory).find(this.embedderOf(memory))?.coverage.gaps ?? [];
  }

  /**
   * The embedder whose vectors a search of the memory compares, and which must embed its query; undefined when there
   * are none.
   */
  serving(memory: number): EmbedderStamp | undefined {
    return this.#memories.serving(memory)?.stamp;
  }

  /** Removes grains from all embedders' vectors and overwrites them in heap. In files they stay until `purge`. */
  remove(memory: number, ordinals: Iterable<number>): void {
    const opened = this.#memories.get(memory);
    for (const ordinal of ordinals) opened.remove(ordinal);
    this.#memories.changed.add(memory);
  }

  /** Drops a memory: its keys are gone, or it should have no vectors. */
  dropMemory(memory: number): void {
    this.#memories.drop(memory);
    this.#embedders.delete(memory);
    this.#upkeep.memoryDropped(memory);
  }

  /** True when the serving vectors include the grain. Loads the memory. */
  has(memory: number, ordinal: number): boolean {
    return this.#ready(memory)?.grains.has(ordinal) ?? false;
  }

  /**
   * True when the embedder's own vectors include the grain, whether they serve or not: such a grain in a gap need not
   * be embedded again. Loads the memory.
   */
  isEmbedded(memory: number, ordinal: number): boolean {
    return this.#ready(memory, this.embedderOf(memory).name)?.grains.has(ordinal) ?? false;
  }

  /**
   * The number of serving vectors. For a memory that is not loaded: those in its files, with removed grains that no
   * purge has dropped.
   */
  count(memory: number): number {
    const serving = this.#memories.serving(memory);
    if (serving === undefined) return 0;
    const rows = this.#memories.rowsToLoad(memory);
    return rows > 0 ? rows : serving.grains.live;
  }

  /**
   * The grains nearest to a query by the cosine of their best chunk, best first; for equal cosines, the higher ordinal
   * first. Returns `limit` grains whenever the filter allows that many with vectors. `query` has any norm except 0.
   * VAL-E001 for a query with other dimensions than the searched vectors, or with components that are not finite.
   */
  search(memory: number, query: Float32Array, options: VectorSearch): VectorHit[] {
    const searched = this.#ready(memory, options.embedder);
    const unit = unitQuery(query, searched?.stamp.dimensions ?? this.embedderOf(memory).dimensions);
    return searched === undefined ? [] : searchRows(searched, unit, options, this.#options.tuning);
  }

  /**
   * The cosines of some grains, in their order, each of its best chunk; NaN when there is no vector. Errors as
   * `search`.
   */
  cosineOf(memory: number, query: Float32Array, ordinals: ArrayLike<number>, embedder?: string): Float64Array {
    const searched = this.#ready(memory, embedder);
    const unit = unitQuery(query, searched?.stamp.dimensions ?? this.embedderOf(memory).dimensions);
    if (searched === undefined) return new Float64Array(ordinals.length).fill(Number.NaN);
    return cosinesOf(searched.grains, unit, ordinals);
  }

  /**
   * A unit vector for a grain: the mean of its chunks, by the serving embedder; undefined for a grain without vectors.
   */
  meanOf(memory: number, ordinal: number): Float32Array | undefined {
    const serving = this.#ready(memory);
    return serving === undefined ? undefined : meanOfChunks(serving.grains, ordinal);
  }

  /** Vectors that the next search of the memory must load first. */
  rowsToLoad(memory: number): number {
    return this.#memories.rowsToLoad(memory);
  }

  /** Vectors that the next `add` to the memory, or `isEmbedded`, must load first. */
  rowsToAdd(memory: number): number {
    return this.#memories.rowsToAdd(memory);
  }

  /** Loads the serving vectors: some microseconds a vector. Damaged ones count as lost from then on. */
  bring(memory: number): void {
    this.#ready(memory);
  }

  /** Makes `work` load the memory's vectors: those that serve, and those that its embedder adds to. */
  prepare(memory: number): void {
    this.#memories.await(memory);
  }

  /** Loads the memory in slices, before a search needs it. */
  *load(memory: number): Sliced<void> {
    yield* this.#memories.load(memory);
    this.#letGoOfOthers(memory);
  }

  /**
   * One piece of due work: sealing, loading, sketches, graphs, copying mostly dead rows, merging. Undefined when there
   * is none.
   */
  work(): Sliced<void> | undefined {
    if (this.#upkeep.isBusy) return undefined;
    const memories = this.#memories;
    if (memories.unsealedCount >= (this.#options.sealAt ?? VECTORS_SEAL) && memories.isSealable) return this.seal();
    const loading = memories.loading();
    if (loading !== undefined) return loading;
    for (const memory of memories.changed) {
      const opened = memories.find(memory);
      if (opened !== undefined) memories.dropOutdated(opened);
      for (const vectorSet of opened?.sets ?? []) {
        const work = opened?.isLoaded(vectorSet) === true ? vectorSet.work() : undefined;
        if (work !== undefined) return this.#upkeep.exclusive(work);
      }
      memories.changed.delete(memory);
    }
    const files = this.#files.mergeable();
    return files === undefined ? undefined : this.#upkeep.exclusive(this.#upkeep.merge(files));
  }

  /** Writes everything that is covered and in no file to a file. On the file system's error nothing has changed. */
  seal(): Sliced<void> {
    return this.#upkeep.exclusive(this.#upkeep.seal());
  }

  /**
   * Rewrites a memory's vectors under its newest key, without removed grains, and drops a graph that holds some of
   * them. Afterwards no file in force has a block under an older key. Seals first.
   */
  purge(memory: number): Sliced<void> {
    return this.#upkeep.exclusive(this.#upkeep.purge(memory));
  }

  /** Keys that seal a memory's blocks in files in force; after a purge, only the newest. */
  keysInUse(memory: number): Set<number> {
    return new Set(this.#files.entriesOf(memory).map(({ entry }) => entry.keyId));
  }

  /** Drops all vectors of a memory, or of all memories: `embeddedUpTo` is 0 again, even after a crash. */
  rebuild(memory?: number): Sliced<void> {
    const numbers = memory === undefined ? [...this.#files.memories(), ...this.#memories.numbers()] : [memory];
    return this.#upkeep.exclusive(this.#upkeep.rebuild(new Set(numbers), (number) => this.dropMemory(number)));
  }

  /**
   * Reads every block in force. Damaged ones are listed and count as not embedded. Vectors of ordinals that `isGrain`
   * does not know (it must know removed grains) are only listed.
   */
  verify(isGrain: (memory: number, ordinal: number) => boolean = () => true): Sliced<VectorReport> {
    return this.#upkeep.exclusive(this.#upkeep.verify(isGrain));
  }

  /** Closes the files. Vectors in no file are made again after the next open. */
  close(): void {
    this.#memories.close();
    this.#files.close();
  }

  #wasAdded(memory: number): void {
    this.#memories.changed.add(memory);
    this.#memories.unsealed.add(memory);
  }

  /** The vector set that serves, or that of the named embedder, loaded. */
  #ready(memory: number, embedder?: string): VectorSet | undefined {
    const found = this.#memories.ready(memory, embedder);
    this.#letGoOfOthers(memory);
    return found;
  }

  /** Not called while work runs, which may use any of them. */
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

/** True when `add` accepts it: finite, and of norm 1. */
export function isUnitVector(vector: Float32Array): boolean {
  return Math.abs(lengthOf(vector) - 1) <= UNIT_TOLERANCE;
}

/** NaN when a component is not finite. */
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
    throw new EngineError('VAL-E001', 'the query vector is zero, or has components that are not finite numbers');
  // Not by map(), which makes a heap number for each component.
  const unit = new Float32Array(query.length);
  for (let i = 0; i < unit.length; i++) unit[i] = query[i]! / length;
  return unit;
}
