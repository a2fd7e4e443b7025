// The live segment files of a shard: opened through the manifest, changed by edits that a transaction puts in force.
import { existsSync, readdirSync, renameSync, rmSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { isFileError, makeFolder, storageError, syncDirectory } from '../../base/durable-file.ts';
import { EngineError } from '../../base/errors.ts';
import type { Log, Sequence } from '../../log/log.ts';
import {
  decodeManifest,
  EMPTY_MANIFEST,
  encodeManifest,
  fileId,
  fileName,
  MANIFEST_KEY,
  type Manifest,
} from './manifest.ts';
import { CorruptBlock } from './section.ts';
import { OutdatedSegment, SegmentFile } from './segment-file.ts';

export interface SegmentEdit {
  readonly added?: SegmentFile | undefined;
  readonly removed?: readonly SegmentFile[] | undefined;
  /** Chunks that no longer count: file and memory. */
  readonly dead?: readonly (readonly [file: SegmentFile, memory: number])[] | undefined;
  readonly sealedSequence?: Sequence | undefined;
}

interface Contents {
  readonly files: readonly SegmentFile[];
  readonly dead: ReadonlyMap<number, ReadonlySet<number>>;
  readonly sealedSequence: Sequence;
}

const NO_MEMORIES: ReadonlySet<number> = new Set();

export class SegmentSet {
  readonly #directory: string;
  readonly #isCache: boolean;
  #contents: Contents = { files: [], dead: new Map(), sealedSequence: 0 };
  #nextFileId = 1;
  /**
   * Intact files that were dropped together with a damaged one. The next manifest does not name them, and they are
   * deleted with it.
   */
  #retired: SegmentFile[] = [];
  /** Paths of files of an older build, which are deleted with the next manifest too. */
  #outdated: string[] = [];
  /** For each read in slices, the replaced files that it may still read. */
  #reads = new Set<Set<SegmentFile>>();
  /** Problems that were found at open, as text. */
  readonly problems: string[] = [];

  private constructor(directory: string, isCache: boolean) {
    this.#isCache = isCache;
    this.#directory = directory;
  }

  /**
   * Opens the files in the manifest and deletes segment files that it does not name. A named file that is missing or
   * fails its checks is renamed (`.bad`). The set then reverts to the state before that file, and the log after
   * `sealedSequence` must be replayed, which builds the segments again. A file of an older format is treated the same,
   * but is not a problem. Neither is a missing one where `isCache` says that the folder may be emptied.
   */
  static open(directory: string, log: Pick<Log, 'getState'>, isCache: boolean): SegmentSet {
    makeFolder(directory);
    const set = new SegmentSet(directory, isCache);
    const manifest = set.#readManifest(log);
    set.#nextFileId = manifest.nextFileId;
    set.#deleteUnnamed(new Set(manifest.files.map((file) => file.id)));
    const files: SegmentFile[] = [];
    let sealedSequence = manifest.sealedSequence;
    for (const named of manifest.files) {
      const file = set.#openNamed(named);
      if (file === undefined) sealedSequence = Math.min(sealedSequence, named.first - 1);
      else files.push(file);
    }
    set.#contents = { files: sorted(files), dead: manifest.dead, sealedSequence };
    set.#goBackTo(sealedSequence);
    return set;
  }

  /** Other stored data of the segments is damaged: everything in the log must be published again. */
  distrust(problem: string): void {
    this.problems.push(`the index is damaged, and everything is indexed again: ${problem}`);
    this.#goBackTo(0);
  }

  /** A damaged manifest counts as none: the log has everything that the files contain. */
  #readManifest(log: Pick<Log, 'getState'>): Manifest {
    try {
      const value = log.getState(MANIFEST_KEY);
      return value === undefined ? EMPTY_MANIFEST : decodeManifest(value);
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      this.problems.push(`the index is damaged, and everything is indexed again: ${error.message}`);
      const ids = readdirSync(this.#directory).map((name) => fileId(name) ?? 0);
      return { ...EMPTY_MANIFEST, nextFileId: Math.max(0, ...ids) + 1 };
    }
  }

  /** In the order of their ranges. */
  get files(): readonly SegmentFile[] {
    return this.#contents.files;
  }

  get sealedSequence(): Sequence {
    return this.#contents.sealedSequence;
  }

  isDead(file: SegmentFile, memory: number): boolean {
    return this.#contents.dead.get(file.id)?.has(memory) ?? false;
  }

  deadIn(file: SegmentFile): ReadonlySet<number> {
    return this.#contents.dead.get(file.id) ?? NO_MEMORIES;
  }

  get bytes(): number {
    return this.files.reduce((total, file) => total + file.bytes, 0);
  }

  /** A name for a new file that was never used before. */
  allocate(): { id: number; path: string } {
    const id = this.#nextFileId++;
    return { id, path: join(this.#directory, fileName(id)) };
  }

  /** The state entry that puts `edit` in force. */
  manifestAfter(edit: SegmentEdit): readonly [key: string, value: Uint8Array] {
    const { files, dead, sealedSequence } = this.#after(edit);
    const manifest: Manifest = { sealedSequence, nextFileId: this.#nextFileId, files, dead };
    return [MANIFEST_KEY, encodeManifest(manifest)];
  }

  /** Called after the edit's transaction. Files that are no longer live are deleted with their last release. */
  apply(edit: SegmentEdit): void {
    this.#keepForReads();
    const before = this.#contents;
    this.#contents = this.#after(edit);
    const live = new Set(this.#contents.files);
    for (const file of before.files) if (!live.has(file)) file.replace();
    if (edit.added !== undefined && !live.has(edit.added)) edit.added.replace();
    for (const file of this.#retired.splice(0)) file.replace();
    for (const path of this.#outdated.splice(0)) rmSync(path, { force: true });
  }

  /**
   * Begins a read in several slices. Files that are live during it stay readable until the returned function is called,
   * whatever merges replace meanwhile.
   */
  beginRead(): () => void {
    const reads = this.#reads;
    const kept = new Set<SegmentFile>();
    reads.add(kept);
    return () => {
      reads.delete(kept);
      for (const file of kept) file.release();
      kept.clear();
    };
  }

  /** Takes over the reads of the set that this one replaces. */
  takeReads(from: SegmentSet): void {
    for (const kept of this.#reads) from.#reads.add(kept);
    this.#reads = from.#reads;
  }

  close(): void {
    this.#keepForReads();
    for (const file of [...this.files, ...this.#retired]) file.release();
    this.#contents = { ...this.#contents, files: [] };
    this.#retired = [];
  }

  #keepForReads(): void {
    for (const kept of this.#reads)
      for (const file of this.files)
        if (!kept.has(file)) {
          file.hold();
          kept.add(file);
        }
  }

  #after(edit: SegmentEdit): Contents {
    const removed = new Set(edit.removed);
    const dead = new Map<number, Set<number>>();
    for (const [id, memories] of this.#contents.dead) dead.set(id, new Set(memories));
    for (const [file, memory] of edit.dead ?? []) {
      const memories = dead.get(file.id) ?? new Set();
      dead.set(file.id, memories.add(memory));
    }
    const added = edit.added === undefined ? [] : [edit.added];
    // A file without a live chunk is useless.
    const files = [...this.#contents.files, ...added].filter(
      (file) => !removed.has(file) && (dead.get(file.id)?.size ?? 0) < file.count,
    );
    const live = new Set(files.map((file) => file.id));
    for (const id of dead.keys()) if (!live.has(id)) dead.delete(id);
    return { files: sorted(files), dead, sealedSequence: edit.sealedSequence ?? this.#contents.sealedSequence };
  }

  #deleteUnnamed(named: ReadonlySet<number>): void {
    for (const name of readdirSync(this.#directory)) {
      const id = fileId(name);
      if (id !== undefined && !named.has(id)) unlinkSync(join(this.#directory, name));
    }
  }

  #openNamed({ id, first, last }: Manifest['files'][number]): SegmentFile | undefined {
    const path = join(this.#directory, fileName(id));
    let problem: string;
    try {
      const file = SegmentFile.open(path, id);
      if (file.first === first && file.last === last) return file;
      file.release();
      problem = `${fileName(id)} holds another range of records than the manifest says`;
    } catch (error) {
      if (error instanceof OutdatedSegment) {
        this.#outdated.push(path);
        return undefined;
      }
      if (this.#isCache && isNoFile(error) && !existsSync(path)) return undefined;
      if (!(error instanceof CorruptBlock) && !isNoFile(error))
        throw storageError(`segment ${fileName(id)} cannot be opened`, error);
      problem = error instanceof CorruptBlock ? error.message : `${fileName(id)} is missing, or is not a file`;
    }
    if (existsSync(path)) {
      renameSync(path, `${path}.bad`);
      syncDirectory(this.#directory);
    }
    this.problems.push(
      `a segment was quarantined, and records from sequence ${first} on are indexed again: ${problem}`,
    );
    return undefined;
  }

  /** Drops every file that reaches beyond `sealedSequence`: the replay will publish those records again. */
  #goBackTo(sealedSequence: Sequence): void {
    let back = sealedSequence;
    for (let settled = false; !settled; ) {
      settled = true;
      for (const file of this.#contents.files) {
        if (file.last <= back || file.first > back) continue;
        back = file.first - 1;
        settled = false;
      }
    }
    const files = this.#contents.files.filter((file) => file.last <= back);
    this.#retired = this.#contents.files.filter((file) => file.last > back);
    const live = new Set(files.map((file) => file.id));
    const dead = new Map([...this.#contents.dead].filter(([id]) => live.has(id)));
    this.#contents = { files, dead, sealedSequence: back };
  }
}

function sorted(files: readonly SegmentFile[]): SegmentFile[] {
  return [...files].sort((a, b) => a.first - b.first || a.last - b.last);
}

function isNoFile(error: unknown): boolean {
  return isFileError(error) && (error.code === 'ENOENT' || error.code === 'EISDIR');
}
