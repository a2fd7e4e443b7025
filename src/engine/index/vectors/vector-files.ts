// The vector files of a shard, and which of their entries are in force.
//
// There is no separate list of files. Each file records which entries of older files it replaces, and it exists
// completely or not at all (written under a temporary name, synced, renamed). After a crash either the old entries or
// the new one are in force. A file is deleted when none of its entries is in force and its record of replaced entries
// is no longer needed. If a file is damaged, the older files that still exist count again, and entries that no file has
// become gaps in the coverage.
import { readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder, storageError, syncDirectory, TEMPORARY_SUFFIX } from '../../base/durable-file.ts';
import { INDEX_PROBLEMS_MAX, MERGE_FANOUT } from '../../base/limits.ts';
import { CorruptBlock } from '../files/section.ts';
import { tierOf } from '../parts/merge-plan.ts';
import { VectorFile } from './vector-file.ts';
import { VectorFileWriter } from './vector-file-writer.ts';
import { type EntryName, EVERY_ENTRY, type VectorEntry } from './vector-layout.ts';

const SUFFIX = '.vec';
const NAME = /^vectors-(\d{10})\.vec(\.bad)?$/;

/** An entry in force, and its file. */
export interface PlacedEntry {
  readonly file: VectorFile;
  readonly index: number;
  readonly entry: VectorEntry;
}

/** A file, with its entries that no longer count. */
class LiveFile {
  readonly file: VectorFile;
  readonly dead = new Set<number>();
  liveRows: number;

  constructor(file: VectorFile) {
    this.file = file;
    this.liveRows = file.entries.reduce((rows, entry) => rows + entry.rows, 0);
  }

  get isDead(): boolean {
    return this.dead.size === this.file.entries.length;
  }

  get isMostlyDead(): boolean {
    return this.liveRows < this.file.rows / 2;
  }

  kill(entry: number): void {
    const found = this.file.entries[entry];
    if (found === undefined || this.dead.has(entry)) return;
    this.dead.add(entry);
    this.liveRows -= found.rows;
  }

  live(): PlacedEntry[] {
    const { file, dead } = this;
    return file.entries.flatMap((entry, index) => (dead.has(index) ? [] : [{ file, index, entry }]));
  }
}

export class VectorFiles {
  readonly #directory: string;
  /** By number. */
  readonly #live = new Map<number, LiveFile>();
  /** Entries that no longer count although no file records it yet. */
  #unsaid: EntryName[] = [];
  readonly #byMemory = new Map<number, PlacedEntry[]>();
  #nextNumber = 1;
  /** Problems that were found, as text, up to INDEX_PROBLEMS_MAX. */
  readonly problems: string[] = [];

  private constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * Opens all files of a folder, which is created if missing. Unfinished files and those without entries in force are
   * deleted. A damaged file is renamed to `.bad` and listed in `problems`. An entry that reaches beyond `lastOrdinal`
   * is listed and dropped, because new grains will get those ordinals. Throws STO-E001 when the folder cannot be read.
   */
  static open(directory: string, lastOrdinal = Number.POSITIVE_INFINITY): VectorFiles {
    const files = new VectorFiles(directory);
    try {
      makeFolder(directory);
      for (const name of readdirSync(directory).sort()) files.#meet(name);
      for (const { file } of files.#live.values()) files.#believe(file);
      files.#cull();
    } catch (error) {
      files.close();
      throw storageError(`the vectors in ${directory} cannot be opened`, error);
    }
    for (const file of files.files) files.#index(file);
    files.#letGoAfter(lastOrdinal);
    return files;
  }

  /** Files, oldest content first. */
  get files(): VectorFile[] {
    return [...this.#live.values()].map(({ file }) => file).sort((a, b) => a.age - b.age || a.number - b.number);
  }

  get bytes(): number {
    return this.files.reduce((total, file) => total + file.bytes, 0);
  }

  /** The number of dropped entries that no file records yet. */
  get unsaid(): number {
    return this.#unsaid.length;
  }

  /** Memories with an entry in force. */
  memories(): number[] {
    return [...this.#byMemory.keys()];
  }

  /** Entries of a memory in force, oldest content first. */
  entriesOf(memory: number): readonly PlacedEntry[] {
    return this.#byMemory.get(memory) ?? [];
  }

  counts({ file, index }: Pick<PlacedEntry, 'file' | 'index'>): boolean {
    const live = this.#live.get(file.number);
    return live !== undefined && !live.dead.has(index);
  }

  /** Entries of a file in force. */
  entriesIn(file: VectorFile): PlacedEntry[] {
    return this.#live.get(file.number)?.live() ?? [];
  }

  /** A new file, with a number above all others. */
  create(): VectorFileWriter {
    const number = this.#nextNumber++;
    return new VectorFileWriter(join(this.#directory, nameOf(number)), number);
  }

  /**
   * Makes `writer` record the entries that no longer count: `replaced`, those dropped since the last file, and those
   * recorded by files that go with their last entry. Call `add` with the file before dropping anything else.
   */
  sayReplaced(writer: VectorFileWriter, replaced: readonly PlacedEntry[]): void {
    const dying = new Map<number, Set<number>>();
    const names = [...this.#unsaid, ...replaced.map(({ file, index }) => ({ file: file.number, entry: index }))];
    for (const { file, entry } of names) {
      const entries = dying.get(file) ?? new Set(this.#live.get(file)?.dead);
      dying.set(file, entries.add(entry));
    }
    const said = new Map<string, EntryName>();
    const say = (name: EntryName): void => {
      if (this.#live.has(name.file)) said.set(idOf(name), name);
    };
    for (const [number, entries] of dying) {
      const file = this.#live.get(number)?.file;
      if (file === undefined) continue;
      if (entries.size === file.entries.length) {
        say({ file: number, entry: EVERY_ENTRY });
        for (const name of file.replaced) say(name);
      } else for (const entry of entries) say({ file: number, entry });
    }
    for (const name of said.values()) writer.replace(name);
  }

  /** Adds a finished file. The entries that it replaces no longer count. */
  add(file: VectorFile): void {
    this.#live.set(file.number, new LiveFile(file));
    const touched = this.#believe(file);
    this.#index(file);
    this.#unsaid = this.#unsaid.filter(
      ({ file: of, entry }) =>
        !file.replaced.some((name) => name.file === of && (name.entry === entry || name.entry === EVERY_ENTRY)),
    );
    this.#cull();
    this.#unindex(touched);
  }

  /** Drops entries: at once in memory, on disk with the next file. */
  letGo(entries: readonly PlacedEntry[]): void {
    const counting = entries.filter((placed) => this.counts(placed));
    for (const { file, index } of counting) {
      this.#live.get(file.number)?.kill(index);
      this.#unsaid.push({ file: file.number, entry: index });
    }
    this.#cull();
    this.#unindex(new Set(counting.map(({ entry }) => entry.memory)));
  }

  /** Lists a problem, once. */
  problem(text: string): void {
    if (this.problems.length < INDEX_PROBLEMS_MAX && !this.problems.includes(text)) this.problems.push(text);
  }

  /** Files to merge: neighbours of similar size, or one that is mostly dead. Oldest content first. */
  mergeable(): readonly VectorFile[] | undefined {
    // A file that only records replaced entries is deleted together with their files.
    const files = this.files.filter((file) => !this.#live.get(file.number)!.isDead);
    const wasteful = files.find((file) => this.#live.get(file.number)!.isMostlyDead);
    if (wasteful !== undefined) return [wasteful];
    for (let start = 0; start + MERGE_FANOUT <= files.length; start++) {
      const run = files.slice(start, start + MERGE_FANOUT);
      const tier = Math.max(...run.map(tierOf));
      // A few smaller files may be among them, but most bytes are not rewritten because of a few.
      if (run.filter((file) => tierOf(file) === tier).length >= MERGE_FANOUT / 2) return run;
    }
    return undefined;
  }

  close(): void {
    for (const { file } of this.#live.values()) file.release();
    this.#live.clear();
    this.#byMemory.clear();
  }

  #meet(name: string): void {
    const path = join(this.#directory, name);
    if (name.endsWith(SUFFIX + TEMPORARY_SUFFIX)) rmSync(path, { force: true });
    const match = NAME.exec(name);
    if (match === null) return;
    const number = Number(match[1]);
    this.#nextNumber = Math.max(this.#nextNumber, number + 1);
    if (match[2] !== undefined) return;
    try {
      this.#live.set(number, new LiveFile(VectorFile.open(path, number)));
    } catch (error) {
      if (!(error instanceof CorruptBlock)) throw error;
      this.problem(`a file of vectors was quarantined, and its grains are embedded again: ${error.message}`);
      renameSync(path, `${path}.bad`);
      syncDirectory(this.#directory);
    }
  }

  /** Applies what `file` replaces. Returns the memories of those entries. */
  #believe(file: VectorFile): Set<number> {
    const memories = new Set<number>();
    for (const { file: number, entry } of file.replaced) {
      const live = this.#live.get(number);
      if (live === undefined) continue;
      const entries = entry === EVERY_ENTRY ? live.file.entries.keys() : [entry];
      for (const at of entries) {
        live.kill(at);
        memories.add(live.file.entries[at]?.memory ?? 0);
      }
    }
    return memories;
  }

  /** Deletes files without entries in force, newest first: an older file may be needed until a newer one is gone. */
  #cull(): void {
    let deleted = 0;
    for (let again = true; again; ) {
      again = false;
      for (const { file, isDead } of [...this.#live.values()].sort((a, b) => b.file.number - a.file.number)) {
        if (!isDead || this.#isNeeded(file)) continue;
        this.#live.delete(file.number);
        file.retire();
        deleted += 1;
        again = true;
      }
    }
    // If a crash brought a deleted file back, it would count again when no other file records that it does not.
    if (deleted > 0) syncDirectory(this.#directory);
    this.#unsaid = this.#unsaid.filter((name) => this.#live.has(name.file));
  }

  /** True while this file alone records that an entry of another does not count. */
  #isNeeded(file: VectorFile): boolean {
    const said = new Set<string>();
    for (const { file: other } of this.#live.values())
      if (other !== file) for (const name of other.replaced) said.add(idOf(name));
    return file.replaced.some(
      (name) =>
        this.#live.has(name.file) && !said.has(idOf(name)) && !said.has(idOf({ file: name.file, entry: EVERY_ENTRY })),
    );
  }

  #letGoAfter(lastOrdinal: number): void {
    const late = [...this.#byMemory.values()].flat().filter(({ entry }) => entry.upTo > lastOrdinal);
    for (const { file, entry } of late)
      this.problem(
        `${file.name} has vectors of memory ${entry.memory} that the log knows nothing of: they are made again`,
      );
    this.letGo(late);
  }

  #index(file: VectorFile): void {
    for (const placed of this.entriesIn(file)) {
      const known = this.#byMemory.get(placed.entry.memory);
      if (known === undefined) this.#byMemory.set(placed.entry.memory, [placed]);
      else {
        known.push(placed);
        known.sort((a, b) => a.file.age - b.file.age || a.file.number - b.file.number || a.index - b.index);
      }
    }
  }

  #unindex(memories: ReadonlySet<number>): void {
    for (const memory of memories) {
      const left = this.entriesOf(memory).filter((placed) => this.counts(placed));
      if (left.length === 0) this.#byMemory.delete(memory);
      else this.#byMemory.set(memory, left);
    }
  }
}

function idOf({ file, entry }: EntryName): string {
  return `${file}/${entry}`;
}

function nameOf(number: number): string {
  return `vectors-${String(number).padStart(10, '0')}${SUFFIX}`;
}
