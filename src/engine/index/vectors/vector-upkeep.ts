// Maintenance of vectors and their files: sealing, merging, purging, rebuilding, verifying. One task at a time; each
// runs to its end or is closed with `return`, and then undoes its unfinished part.
import { assert } from '../../base/assert.ts';
import { isFileError, storageError } from '../../base/durable-file.ts';
import { EngineError } from '../../base/errors.ts';
import type { Sliced } from '../files/section.ts';
import { type IndexKeys, newestKey } from '../index-keys.ts';
import { isGone, type MemoryVectors, readEntry } from './memory-vectors.ts';
import type { OpenMemories } from './open-memories.ts';
import { DamagedEntry, rewriteEntries } from './rewrite.ts';
import type { VectorFileWriter } from './vector-file-writer.ts';
import type { PlacedEntry, VectorFiles } from './vector-files.ts';
import type { VectorSet } from './vector-set.ts';

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

export interface VectorUpkeepOptions {
  readonly files: VectorFiles;
  readonly memories: OpenMemories;
  readonly keys: Pick<IndexKeys, 'indexKey' | 'indexKeyById'>;
  readonly isRemoved: (ordinal: number) => boolean;
}

const SEAL_STEP_GRAINS = 64;
/** Restarts of a merge that meets damaged entries. */
const REWRITE_TRIES_MAX = 64;
const FINDINGS_MAX = 1_000;

export class VectorUpkeep {
  readonly #options: VectorUpkeepOptions;
  readonly #files: VectorFiles;
  readonly #memories: OpenMemories;
  #isBusy = false;
  /** Memories that were dropped during the running task. */
  readonly #dropped = new Set<number>();

  constructor(options: VectorUpkeepOptions) {
    this.#options = options;
    this.#files = options.files;
    this.#memories = options.memories;
  }

  get isBusy(): boolean {
    return this.#isBusy;
  }

  /** Excludes the memory from the result of the running task. */
  memoryDropped(memory: number): void {
    if (this.#isBusy) this.#dropped.add(memory);
  }

  /** Runs one such task at a time, which undoes its unfinished part. */
  *exclusive<T>(work: Sliced<T>): Sliced<T> {
    assert(!this.#isBusy, 'one work on the vectors runs at a time');
    this.#isBusy = true;
    this.#dropped.clear();
    try {
      return yield* work;
    } catch (error) {
      throw isFileError(error) ? storageError('the upkeep of vectors failed', error) : error;
    } finally {
      this.#isBusy = false;
    }
  }

  *seal(): Sliced<void> {
    const memories = this.#memories;
    if (!memories.isSealable && this.#files.unsaid === 0) return;
    const writer = this.#files.create();
    const done: (() => void)[] = [];
    try {
      for (const memory of [...memories.unsealed].sort((a, b) => a - b)) {
        const opened = memories.find(memory);
        const key = opened === undefined ? undefined : newestKey(this.#options.keys, memory);
        if (opened === undefined) continue;
        if (key === undefined) {
          // Gone, or its key is lost: vectors that cannot be sealed are made again once there is a key.
          for (const vectorSet of opened.sets) for (const range of vectorSet.unsealedRanges()) vectorSet.forget(range);
          continue;
        }
        for (const vectorSet of [...opened.sets])
          yield* sealVectorSet({ opened, vectorSet: vectorSet, key, writer, done });
      }
      yield* this.#take(writer, [], writer.number);
      for (const act of done) act();
      for (const memory of memories.unsealed) {
        const opened = memories.find(memory);
        if (opened !== undefined) memories.dropOutdated(opened);
      }
      for (const memory of memories.unsealed)
        if (memories.find(memory)?.isSealed !== false) memories.unsealed.delete(memory);
    } finally {
      writer.abandon();
    }
  }

  *merge(files: readonly { readonly number: number }[]): Sliced<void> {
    const numbers = new Set(files.map(({ number }) => number));
    const inputs = this.#files.files.filter(({ number }) => numbers.has(number));
    const age = Math.max(...inputs.map((file) => file.age));
    yield* this.#rewrite(() => inputs.flatMap((file) => this.#files.entriesIn(file)), age);
  }

  *purge(memory: number): Sliced<void> {
    yield* this.seal();
    for (const vectorSet of this.#memories.find(memory)?.sets ?? []) vectorSet.purge();
    this.#memories.changed.add(memory);
    const entries = this.#files.entriesOf(memory);
    const age = Math.max(0, ...entries.map(({ file }) => file.age));
    yield* this.#rewrite(() => [...this.#files.entriesOf(memory)], age);
  }

  *rebuild(numbers: Iterable<number>, drop: (memory: number) => void): Sliced<void> {
    for (const number of numbers) {
      drop(number);
      yield;
    }
    if (this.#files.unsaid > 0) yield* this.seal();
  }

  /** `isGrain` says whether a memory has, or had before a removal, a grain with that ordinal. */
  *verify(isGrain: (memory: number, ordinal: number) => boolean): Sliced<VectorReport> {
    const findings: VectorFinding[] = this.#files.problems.map((problem) => ({ where: 'vectors', problem }));
    let blocks = 0;
    for (const file of this.#files.files) {
      const entries = this.#files.entriesIn(file);
      // An entry that was dropped meanwhile has no successor.
      if (entries.length === 0) continue;
      file.hold();
      try {
        for (const placed of entries) {
          const { memory } = placed.entry;
          const look = (ordinals: Uint32Array): string | undefined => {
            blocks += 1;
            const stray = ordinals.find((ordinal) => !isGrain(memory, ordinal));
            return stray === undefined ? undefined : `a vector of ${stray}, which is not a grain of the memory`;
          };
          const problem = yield* this.#verifyEntry(placed, look);
          const where = `${file.name} memory ${memory}`;
          if (problem !== undefined && findings.length < FINDINGS_MAX) findings.push({ where, problem });
        }
      } finally {
        file.release();
      }
    }
    return { blocks, findings };
  }

  *#verifyEntry(placed: PlacedEntry, look: (ordinals: Uint32Array) => string | undefined): Sliced<string | undefined> {
    let problem: string | undefined;
    try {
      const key = this.#options.keys.indexKeyById(placed.entry.keyId, placed.entry.memory);
      for (const { ordinals } of readEntry(placed, key)) {
        problem = look(ordinals) ?? problem;
        yield;
      }
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      problem = isGone(error) ? undefined : error.message;
      this.#memories.lost(placed, problem);
    }
    return problem;
  }

  /**
   * Finishes a file and puts it in force in place of `replaced`, without entries of memories that were dropped
   * meanwhile.
   */
  *#take(writer: VectorFileWriter, replaced: readonly PlacedEntry[], age: number): Sliced<void> {
    this.#files.sayReplaced(writer, replaced);
    const file = yield* writer.finish(age);
    this.#files.add(file);
    this.#files.letGo(this.#files.entriesIn(file).filter(({ entry }) => this.#dropped.has(entry.memory)));
  }

  /** Writes entries as one file. Starts again when one of them is damaged, which then no longer counts. */
  *#rewrite(entriesOf: () => PlacedEntry[], age: number): Sliced<void> {
    for (let tries = 0; tries < REWRITE_TRIES_MAX; tries++) {
      const entries = entriesOf();
      if (entries.length === 0) return;
      const files = new Set(entries.map(({ file }) => file));
      for (const file of files) file.hold();
      const writer = this.#files.create();
      try {
        const { keys, isRemoved } = this.#options;
        const lost: OpenMemories['lost'] = (placed, reason) => this.#memories.lost(placed, reason);
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
}

function* sealVectorSet(options: {
  readonly opened: MemoryVectors;
  readonly vectorSet: VectorSet;
  readonly key: { readonly id: number; readonly key: Uint8Array };
  readonly writer: VectorFileWriter;
  readonly done: (() => void)[];
}): Sliced<void> {
  const { opened, vectorSet, key, writer, done } = options;
  for (const range of vectorSet.unsealedRanges()) {
    const grains = vectorSet.unsealedIn(range);
    writer.begin(opened.memory, vectorSet.stamp, key);
    for (let i = 0; i < grains.length; i++) {
      writeGrain(vectorSet, grains[i]![0], writer);
      if (i % SEAL_STEP_GRAINS === SEAL_STEP_GRAINS - 1) yield;
    }
    writer.end(range);
    done.push(() => {
      vectorSet.sealed.add(range);
      for (const [ordinal, change] of grains) vectorSet.wasSealed(ordinal, change);
    });
  }
}

function writeGrain(vectorSet: VectorSet, ordinal: number, writer: VectorFileWriter): void {
  const { grains } = vectorSet;
  const first = grains.firstRow(ordinal);
  // Removed since the seal began.
  if (first < 0) return;
  const end = grains.endOf(first);
  for (let row = first; row < end; row++) {
    const { halves, at } = grains.rows.halvesAt(row);
    writer.row(ordinal, row - first, halves, at);
  }
}
