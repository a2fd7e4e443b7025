// The vectors of one shard: give it vectors of grains, ask it which grains are near a query.
//
// Embedding follows the log at its own pace: `add` takes what an embedder made, `advance` says how far it has come, `seal` writes
// that to files. What is in no file when the process ends is embedded again. Nothing here waits: what takes long is
// a `Sliced` generator, of which one at a time is run to its end (or closed with `return`); all else may be called between its
// slices. A memory's rows are brought to heap when somebody asks, and let go when they are too many.
import { assert } from '../../assert.ts';
import { isFileError, storageError } from '../../durable-file.ts';
import { EngineError } from '../../errors.ts';
import {
  VECTOR_CHUNKS_MAX,
  VECTOR_DIMENSIONS_MAX,
  VECTOR_HEAP_BYTES,
  VECTOR_SCAN_MAX,
  VECTORS_SEAL,
} from '../../limits.ts';
import { type IndexKeys, newestKey } from '../index-keys.ts';
import type { Sliced } from '../section.ts';
import { Arena } from './arena.ts';
import type { VectorHit } from './best-grains.ts';
import type { Range } from './coverage.ts';
import type { EmbedderStamp, Generation } from './generation.ts';
import { isGone, isSameStamp, MemoryVectors, readEntry, type VectorShard } from './memory-vectors.ts';
import { DamagedEntry, rewriteEntries } from './rewrite.ts';
import { cosinesOf, type SearchTuning, searchRows, type VectorFilter } from './search.ts';
import type { VectorFileWriter } from './vector-file-writer.ts';
import { type PlacedEntry, VectorFiles } from './vector-files.ts';

export interface VectorIndexOptions {
  /** The folder of the shard's vectors, which is made if need be; nobody else writes there. */
  readonly directory: string;
  readonly keys: Pick<IndexKeys, 'indexKey' | 'indexKeyById'>;
  /** Says of every grain that was removed or erased, from the moment on that `remove` is called for it and in all later lives. */
  readonly isRemoved: (ordinal: number) => boolean;
  /** Who makes the vectors that are added. */
  readonly embedder: EmbedderStamp;
  /** Vectors of a memory up to which every search is a scan. */
  readonly scanMax?: number;
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

export interface VectorFinding {
  /** File and place. */
  readonly where: string;
  readonly problem: string;
}

export interface VectorReport {
  /** Stored blocks that were read. */
  readonly blocks: number;
  readonly findings: readonly VectorFinding[];
}

/** A vector whose length differs from 1 by more is no unit vector. */
const UNIT_TOLERANCE = 0.01;
const SEAL_STEP_GRAINS = 64;
/** Times that a merge begins again because it met a damaged entry. */
const REWRITE_TRIES_MAX = 64;
const FINDINGS_MAX = 1_000;

export class VectorIndex {
  readonly #options: VectorIndexOptions;
  readonly #files: VectorFiles;
  readonly #arena = new Arena();
  readonly #shard: VectorShard;
  /** Those that were asked for, longest ago first. */
  readonly #memories = new Map<number, MemoryVectors>();
  /** Memories in which something changed since `work` found nothing to do there. */
  readonly #changed = new Set<number>();
  /** Memories that may have something that is in no file. */
  readonly #unsealed = new Set<number>();
  #embedder: EmbedderStamp;
  #isBusy = false;
  /** Memories that were dropped while a work ran. */
  readonly #dropped = new Set<number>();

  private constructor(options: VectorIndexOptions, files: VectorFiles) {
    this.#options = options;
    this.#files = files;
    this.#embedder = checkedStamp(options.embedder);
    this.#shard = {
      arena: this.#arena,
      keys: options.keys,
      scanMax: options.scanMax ?? VECTOR_SCAN_MAX,
      entriesOf: (memory) => files.entriesOf(memory),
      isRemoved: options.isRemoved,
      lost: (placed, reason) => this.#lost(placed, reason),
    };
  }

  /**
   * Opens the files of a shard: their directories are read, not their vectors. Damaged files are moved aside and named in
   * `problems`; what they covered is a gap (`gaps`). Throws STO-E001 when the folder cannot be read.
   */
  static open(options: VectorIndexOptions): VectorIndex {
    return new VectorIndex(options, VectorFiles.open(options.directory));
  }

  /** What was found damaged, in words. */
  get problems(): readonly string[] {
    return this.#files.problems;
  }

  get embedder(): EmbedderStamp {
    return this.#embedder;
  }

  /** Bytes in heap and outside it: rows, graphs (an estimate, since usearch does not tell), and what finds them. */
  get bytes(): number {
    let bytes = this.#arena.bytes;
    for (const memory of this.#memories.values()) bytes += memory.bytes;
    return bytes;
  }

  /** Bytes of the files. */
  get diskBytes(): number {
    return this.#files.bytes;
  }

  /** Grains whose vectors are in no file yet. Adding asserts that no memory has more than VECTORS_UNSEALED_MAX. */
  get unsealed(): number {
    let count = 0;
    for (const memory of this.#unsealed)
      for (const generation of this.#memories.get(memory)?.generations ?? []) count += generation.unsealedCount;
    return count;
  }

  /** Changes the embedder: a memory's vectors of the one before answer until `advance` has covered as much with the new one. */
  use(embedder: EmbedderStamp): void {
    this.#embedder = checkedStamp(embedder);
    for (const memory of this.#memories.keys()) this.#changed.add(memory);
  }

  /**
   * Puts the unit vectors of a grain's chunks, at least one, in the place of what it had; they are copied. They are found at once,
   * and are in a file after a `seal` that follows the `advance` past them.
   */
  add(memory: number, ordinal: number, vectors: readonly Float32Array[]): void {
    const stamp = this.#embedder;
    assert(vectors.length > 0 && vectors.length <= VECTOR_CHUNKS_MAX, 'a grain has some chunks, and not too many');
    assert(Number.isInteger(ordinal) && ordinal > 0 && ordinal <= 0xffff_fffe, 'an ordinal is a sequence of the log');
    for (const vector of vectors) {
      assert(vector.length === stamp.dimensions, 'a vector has the dimensions of its embedder');
      assert(Math.abs(lengthOf(vector) - 1) <= UNIT_TOLERANCE, 'a vector is finite and of length 1');
    }
    const opened = this.#memory(memory);
    const generation = opened.ready(opened.generation(stamp));
    generation.add(ordinal, vectors);
    this.#changed.add(memory);
    this.#unsealed.add(memory);
    this.#letGoOfOthers(memory);
  }

  /**
   * Everything of the memory after `embeddedUpTo` and up to `upTo` was embedded, or has nothing to embed. When the embedder has
   * come as far as the one before, its vectors serve; once they are sealed, those of the one before go.
   */
  advance(memory: number, upTo: number): void {
    const opened = this.#memory(memory);
    const { coverage } = opened.generation(this.#embedder);
    coverage.add({ after: coverage.cursor, upTo });
    this.#changed.add(memory);
    this.#unsealed.add(memory);
  }

  /** Up to which ordinal the memory is embedded by the embedder (or the one that is named), without a gap; 0 for nothing. */
  embeddedUpTo(memory: number, embedder: EmbedderStamp = this.#embedder): number {
    return this.#memory(memory).find(embedder)?.coverage.cursor ?? 0;
  }

  /** Ranges before others that the embedder covered and whose vectors were lost: `embeddedUpTo` ends where the first begins. */
  gaps(memory: number): Range[] {
    return this.#memory(memory).find(this.#embedder)?.coverage.gaps ?? [];
  }

  /** Whose vectors a search of the memory compares, so who must embed its query; undefined when there are none. */
  serving(memory: number): EmbedderStamp | undefined {
    return this.#memory(memory).serving(this.#embedder)?.stamp;
  }

  /** Takes grains out, of all embedders' vectors, and overwrites them in heap. In files they stay until `purge`. */
  remove(memory: number, ordinals: Iterable<number>): void {
    const opened = this.#memory(memory);
    for (const ordinal of ordinals) opened.remove(ordinal);
    this.#changed.add(memory);
  }

  /** Forgets a memory whose keys are gone. */
  dropMemory(memory: number): void {
    this.#memories.get(memory)?.dropAll();
    this.#memories.delete(memory);
    this.#changed.delete(memory);
    this.#unsealed.delete(memory);
    if (this.#isBusy) this.#dropped.add(memory);
    this.#files.letGo(this.#files.entriesOf(memory));
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
    return this.#ready(memory, this.#embedder.name)?.grains.has(ordinal) ?? false;
  }

  /** Vectors that serve. Of a memory that is not in heap, those in its files, with removed grains that no purge has met. */
  count(memory: number): number {
    const opened = this.#memory(memory);
    const serving = opened.serving(this.#embedder);
    if (serving === undefined) return 0;
    if (opened.isLoaded(serving)) return serving.grains.live;
    return this.#entries(memory, serving.stamp).reduce((rows, { entry }) => rows + entry.rows, 0);
  }

  /**
   * The grains nearest to a query by the cosine of their best chunk, best first, of equal ones the higher ordinal first. As many as
   * `limit` whenever the filter allows that many that have vectors. `query` is of any length but 0. VAL-E001 for a query of
   * other dimensions than the vectors that are searched, or with components that are no finite numbers.
   */
  search(memory: number, query: Float32Array, options: VectorSearch): VectorHit[] {
    const searched = this.#ready(memory, options.embedder);
    const unit = unitQuery(query, searched?.stamp.dimensions ?? this.#embedder.dimensions);
    return searched === undefined ? [] : searchRows(searched, unit, options, this.#options.tuning);
  }

  /** The cosines of some grains, in their order, each of its best chunk; NaN where there is no vector. Errors as `search`. */
  cosineOf(memory: number, query: Float32Array, ordinals: ArrayLike<number>, embedder?: string): Float64Array {
    const searched = this.#ready(memory, embedder);
    const unit = unitQuery(query, searched?.stamp.dimensions ?? this.#embedder.dimensions);
    if (searched === undefined) return new Float64Array(ordinals.length).fill(Number.NaN);
    return cosinesOf(searched.grains, unit, ordinals);
  }

  /** Brings the vectors that serve to heap in slices, before somebody asks. */
  *load(memory: number): Sliced<void> {
    const opened = this.#memory(memory);
    const serving = opened.serving(this.#embedder);
    if (serving !== undefined) yield* opened.load(serving);
    this.#changed.add(memory);
    this.#letGoOfOthers(memory);
  }

  /** What is due: sealing, adding to graphs, copying what is mostly dead, merging files. Undefined when nothing is. */
  work(): Sliced<void> | undefined {
    if (this.#isBusy) return undefined;
    if (this.unsealed >= (this.#options.sealAt ?? VECTORS_SEAL) && this.#isSealable()) return this.seal();
    for (const memory of this.#changed) {
      const opened = this.#memories.get(memory);
      if (opened !== undefined) this.#dropOutdated(opened);
      for (const generation of opened?.generations ?? []) {
        const work = opened?.isLoaded(generation) === true ? generation.work() : undefined;
        if (work !== undefined) return this.#exclusive(work);
      }
      this.#changed.delete(memory);
    }
    const files = this.#files.mergeable();
    return files === undefined ? undefined : this.#exclusive(this.#merge(files));
  }

  /** Writes to a file what was covered and is in none. Throws what the file system throws; then nothing is changed. */
  seal(): Sliced<void> {
    return this.#exclusive(this.#seal());
  }

  /**
   * Writes a memory's vectors anew under its newest key, without those of removed grains, and makes new rows and a new graph, in which
   * nothing of them is left. Then no file that counts holds a block under an older key. Seals what is covered first.
   */
  purge(memory: number): Sliced<void> {
    return this.#exclusive(this.#purge(memory));
  }

  /** Keys under which a memory's blocks are sealed in files that count: after a purge, the newest alone. */
  keysInUse(memory: number): Set<number> {
    return new Set(this.#files.entriesOf(memory).map(({ entry }) => entry.keyId));
  }

  /** Forgets all vectors of a memory, or of all: `embeddedUpTo` is 0 again, also after a crash. */
  rebuild(memory?: number): Sliced<void> {
    return this.#exclusive(this.#rebuild(memory));
  }

  /** Reads every block that counts. What is damaged is named, and from then on not embedded. */
  verify(): Sliced<VectorReport> {
    return this.#exclusive(this.#verify());
  }

  /** Closes the files. What is in none of them is embedded again by the next life. */
  close(): void {
    for (const memory of this.#memories.values()) memory.dropAll();
    this.#memories.clear();
    this.#files.close();
  }

  #memory(memory: number): MemoryVectors {
    const known = this.#memories.get(memory);
    const opened = known ?? new MemoryVectors(memory, this.#shard);
    if (known === undefined && opened.generations.length > 1) this.#changed.add(memory);
    this.#memories.delete(memory);
    this.#memories.set(memory, opened);
    return opened;
  }

  /** Lets go of the vectors with which the embedder has caught up. */
  #dropOutdated(opened: MemoryVectors): void {
    for (const generation of opened.outdated(this.#embedder)) {
      opened.drop(generation);
      this.#files.letGo(this.#entries(opened.memory, generation.stamp));
    }
  }

  /** The generation that serves, or that of the named embedder, in heap. */
  #ready(memory: number, embedder?: string): Generation | undefined {
    const opened = this.#memory(memory);
    const find = (): Generation | undefined =>
      embedder === undefined
        ? opened.serving(this.#embedder)
        : (opened.generations.find(({ stamp }) => isSameStamp(stamp, this.#embedder) && stamp.name === embedder) ??
          opened.generations.find(({ stamp }) => stamp.name === embedder));
    let found = find();
    // Loading may meet damage, after which another serves.
    while (found !== undefined && !opened.isLoaded(found)) {
      opened.ready(found);
      this.#changed.add(memory);
      found = find();
    }
    this.#letGoOfOthers(memory);
    return found;
  }

  #entries(memory: number, stamp: EmbedderStamp): PlacedEntry[] {
    return this.#files.entriesOf(memory).filter(({ entry }) => isSameStamp(entry.stamp, stamp));
  }

  /** Past the heap's bound: those asked for longest ago go, unless something of theirs is in no file. */
  #letGoOfOthers(memory: number): void {
    const max = this.#options.heapBytes ?? VECTOR_HEAP_BYTES;
    if (this.#arena.bytes <= max || this.#isBusy) return;
    for (const [other, opened] of this.#memories) {
      if (this.#arena.bytes <= max) return;
      if (other === memory || !opened.isSealed) continue;
      opened.dropAll();
      this.#memories.delete(other);
    }
  }

  #lost(placed: PlacedEntry, reason: string | undefined): void {
    const { file, entry } = placed;
    if (reason !== undefined)
      this.#files.problem(
        `vectors of memory ${entry.memory} from ${entry.after + 1} to ${entry.upTo} in ${file.name} are embedded again: ${reason}`,
      );
    this.#memories.get(entry.memory)?.find(entry.stamp)?.forget(entry);
    this.#files.letGo([placed]);
  }

  /** One such work at a time; what it leaves half done, it takes back. */
  *#exclusive<T>(work: Sliced<T>): Sliced<T> {
    assert(!this.#isBusy, 'one work on the vectors runs at a time');
    this.#isBusy = true;
    this.#dropped.clear();
    try {
      return yield* work;
    } catch (error) {
      throw isFileError(error) ? storageError('vectors', error) : error;
    } finally {
      this.#isBusy = false;
    }
  }

  #isSealable(): boolean {
    for (const memory of this.#unsealed)
      for (const generation of this.#memories.get(memory)?.generations ?? [])
        if (generation.unsealedRanges().length > 0) return true;
    return false;
  }

  *#seal(): Sliced<void> {
    if (!this.#isSealable() && this.#files.unsaid === 0) return;
    const writer = this.#files.create();
    const done: (() => void)[] = [];
    try {
      for (const memory of [...this.#unsealed].sort((a, b) => a - b)) {
        const opened = this.#memories.get(memory);
        const key = opened === undefined ? undefined : newestKey(this.#options.keys, memory);
        if (opened === undefined) continue;
        if (key === undefined) {
          // Gone, or its key is lost: what cannot be sealed is embedded again once there is a key.
          for (const generation of opened.generations)
            for (const range of generation.unsealedRanges()) generation.forget(range);
          continue;
        }
        for (const generation of [...opened.generations])
          yield* this.#sealGeneration({ opened, generation, key, writer, done });
      }
      yield* this.#take(writer, [], writer.number);
      for (const act of done) act();
      for (const memory of this.#unsealed) {
        const opened = this.#memories.get(memory);
        if (opened !== undefined) this.#dropOutdated(opened);
      }
      for (const memory of this.#unsealed)
        if (this.#memories.get(memory)?.isSealed !== false) this.#unsealed.delete(memory);
    } finally {
      writer.abandon();
    }
  }

  /** Finishes a file and lets it count in the place of `replaced`; not what it has of memories that were dropped meanwhile. */
  *#take(writer: VectorFileWriter, replaced: readonly PlacedEntry[], age: number): Sliced<void> {
    this.#files.sayReplaced(writer, replaced);
    const file = yield* writer.finish(age);
    this.#files.add(file);
    this.#files.letGo(this.#files.entriesIn(file).filter(({ entry }) => this.#dropped.has(entry.memory)));
  }

  *#sealGeneration(options: {
    readonly opened: MemoryVectors;
    readonly generation: Generation;
    readonly key: { readonly id: number; readonly key: Uint8Array };
    readonly writer: VectorFileWriter;
    readonly done: (() => void)[];
  }): Sliced<void> {
    const { opened, generation, key, writer, done } = options;
    for (const range of generation.unsealedRanges()) {
      const grains = generation.unsealedIn(range);
      writer.begin(opened.memory, generation.stamp, key);
      for (let i = 0; i < grains.length; i++) {
        writeGrain(generation, grains[i]![0], writer);
        if (i % SEAL_STEP_GRAINS === SEAL_STEP_GRAINS - 1) yield;
      }
      writer.end(range);
      done.push(() => {
        generation.sealed.add(range);
        for (const [ordinal, change] of grains) generation.wasSealed(ordinal, change);
      });
    }
  }

  *#merge(files: readonly { readonly number: number }[]): Sliced<void> {
    const numbers = new Set(files.map(({ number }) => number));
    const inputs = this.#files.files.filter(({ number }) => numbers.has(number));
    const age = Math.max(...inputs.map((file) => file.age));
    yield* this.#rewrite(() => inputs.flatMap((file) => this.#files.entriesIn(file)), age);
  }

  /** Writes entries as one file. Begins again when one of them is damaged, which then counts no more. */
  *#rewrite(entriesOf: () => PlacedEntry[], age: number): Sliced<void> {
    for (let tries = 0; tries < REWRITE_TRIES_MAX; tries++) {
      const entries = entriesOf();
      if (entries.length === 0) return;
      const files = new Set(entries.map(({ file }) => file));
      for (const file of files) file.hold();
      const writer = this.#files.create();
      try {
        const { keys, isRemoved } = this.#options;
        const lost = this.#shard.lost;
        yield* rewriteEntries(entries, { writer, keys, isRemoved, lost });
        yield* this.#take(writer, entries, age);
        return;
      } catch (error) {
        if (!(error instanceof DamagedEntry)) throw error;
      } finally {
        writer.abandon();
        for (const file of files) file.release();
      }
    }
  }

  *#purge(memory: number): Sliced<void> {
    yield* this.#seal();
    for (const { stamp } of [...(this.#memories.get(memory)?.generations ?? [])]) {
      const opened = this.#memories.get(memory);
      const generation = opened?.find(stamp);
      // What is not in heap yet comes there without what was removed.
      if (generation === undefined || opened?.isLoaded(generation) !== true) continue;
      yield* generation.purge();
    }
    const entries = this.#files.entriesOf(memory);
    const age = Math.max(0, ...entries.map(({ file }) => file.age));
    yield* this.#rewrite(() => [...this.#files.entriesOf(memory)], age);
  }

  *#rebuild(memory: number | undefined): Sliced<void> {
    const memories = memory === undefined ? [...this.#files.memories(), ...this.#memories.keys()] : [memory];
    for (const number of new Set(memories)) {
      this.dropMemory(number);
      yield;
    }
    if (this.#files.unsaid > 0) yield* this.#seal();
  }

  *#verify(): Sliced<VectorReport> {
    const findings: VectorFinding[] = this.problems.map((problem) => ({ where: 'vectors', problem }));
    let blocks = 0;
    for (const file of this.#files.files) {
      const entries = this.#files.entriesIn(file);
      // One that went since this began has none left.
      if (entries.length === 0) continue;
      file.hold();
      try {
        for (const placed of entries) {
          const problem = yield* this.#verifyEntry(placed, () => {
            blocks += 1;
          });
          const where = `${file.name} memory ${placed.entry.memory}`;
          if (problem !== undefined && findings.length < FINDINGS_MAX) findings.push({ where, problem });
        }
      } finally {
        file.release();
      }
    }
    return { blocks, findings };
  }

  *#verifyEntry(placed: PlacedEntry, read: () => void): Sliced<string | undefined> {
    try {
      const key = this.#options.keys.indexKeyById(placed.entry.keyId, placed.entry.memory);
      for (const _ of readEntry(placed, key)) {
        read();
        yield;
      }
      return undefined;
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      const problem = isGone(error) ? undefined : error.message;
      this.#lost(placed, problem);
      return problem;
    }
  }
}

function writeGrain(generation: Generation, ordinal: number, writer: VectorFileWriter): void {
  const { grains } = generation;
  const first = grains.firstRow(ordinal);
  // Taken out since the seal began.
  if (first < 0) return;
  const end = grains.endOf(first);
  for (let row = first; row < end; row++) {
    const { halves, at } = grains.rows.halvesAt(row);
    writer.row(ordinal, row - first, halves, at);
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

/** NaN when a component is no finite number. */
function lengthOf(vector: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < vector.length; i++) sum += vector[i]! * vector[i]!;
  return Number.isFinite(sum) ? Math.sqrt(sum) : Number.NaN;
}

function unitQuery(query: Float32Array, dimensions: number): Float32Array {
  if (query.length !== dimensions)
    throw new EngineError(
      'VAL-E001',
      `the query vector has ${query.length} dimensions, the memory's have ${dimensions}`,
    );
  const length = lengthOf(query);
  if (!(length > 0))
    throw new EngineError('VAL-E001', 'the query vector has no direction, or components that are no numbers');
  return query.map((value) => value / length);
}
