// Fills the environment of a log from elsewhere, in transactions of which each may be the last: the log's counters move when
// `finish` is called, and not before. Until then the same can be filled in again.
import { makeFolder, storageError, syncDirectory } from '../../base/durable-file.ts';
import type { Sequence } from '../log.ts';
import {
  APPENDS_KEY,
  appendsOf,
  appendsValue,
  type Environment,
  NEXT_KEY,
  nextSequenceOf,
  openEnvironment,
  stampOrCheck,
} from './environment.ts';
import { checkBeforeOpen } from './preflight.ts';
import type { LogStamp } from './stamp.ts';

/** The key, in the stamp database, of a note that changes with the counters. */
const NOTE_KEY = 'filled';

export interface FillerOptions {
  /** The caller syncs the file after `close`. Default: each write is synced. */
  readonly isUnsynced?: boolean | undefined;
  /** This process has checked or written all pages just now. Default: they are checked. */
  readonly arePagesKnown?: boolean | undefined;
}

export class LogFiller {
  readonly #directory: string;
  readonly #environment: Environment;

  /**
   * No log is open in `directory`, which is created if it is missing. Throws STO-E001.
   */
  constructor(directory: string, stamp: LogStamp, { isUnsynced = false, arePagesKnown = false }: FillerOptions = {}) {
    this.#directory = directory;
    makeFolder(directory);
    const isFresh = checkBeforeOpen(directory, arePagesKnown);
    this.#environment = openEnvironment(directory, { noSync: isUnsynced });
    try {
      stampOrCheck(this.#environment.databases, stamp, directory);
      if (isFresh) syncDirectory(directory);
    } catch (error) {
      void this.#environment.root.close();
      throw error;
    }
  }

  /** The number of the newest append, and undefined before the first `finish` of a new log. Throws STO-E001. */
  get appends(): number | undefined {
    const { databases } = this.#environment;
    return databases.stamp.getBinary(APPENDS_KEY) === undefined ? undefined : appendsOf(databases, this.#directory);
  }

  /** The note of the last `finish`. */
  get note(): Buffer | undefined {
    const value = this.#environment.databases.stamp.getBinary(NOTE_KEY);
    return value === undefined ? undefined : Buffer.from(value);
  }

  /** The sequence number after the newest record that it has had. */
  get nextSequence(): Sequence {
    return nextSequenceOf(this.#environment.databases);
  }

  /** Writes frames of records, off this thread; null removes one. Rejects with STO-E001. */
  putRecords(records: Iterable<readonly [sequence: Sequence, frame: Buffer | null]>): Promise<void> {
    const { records: database } = this.#environment.databases;
    return this.#write(() => {
      for (const [sequence, frame] of records)
        void (frame === null ? database.remove(sequence) : database.put(sequence, frame));
    });
  }

  /** Writes frames of state values; null deletes one. Keys are bytes of ASCII. Rejects with STO-E001. */
  putState(entries: Iterable<readonly [key: Buffer, frame: Buffer | null]>): Promise<void> {
    const { state } = this.#environment.databases;
    return this.#write(() => {
      for (const [key, frame] of entries) void (frame === null ? state.remove(key) : state.put(key, frame));
    });
  }

  /** Everything up to the append of this number is filled in. The note changes with the counters. Rejects with STO-E001. */
  finish(appends: number, next: Sequence, note: Buffer): Promise<void> {
    const { stamp } = this.#environment.databases;
    const value = Buffer.alloc(4);
    value.writeUInt32LE(next);
    return this.#write(() => {
      void stamp.put(APPENDS_KEY, appendsValue(appends));
      void stamp.put(NEXT_KEY, value);
      void stamp.put(NOTE_KEY, note);
    });
  }

  async close(): Promise<void> {
    await this.#environment.root.close();
  }

  async #write(puts: () => void): Promise<void> {
    try {
      await this.#environment.root.batch(puts);
    } catch (error) {
      throw storageError(`the log in ${this.#directory} cannot be filled`, error);
    }
  }
}
