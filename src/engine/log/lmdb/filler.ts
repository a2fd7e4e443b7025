// Fills the environment of a log from elsewhere, in transactions of which each may be the last: the log's counters move when
// `finish` is called, and not before. Until then the same can be filled in again.
import { makeFolder, storageError, syncDirectory } from '../../base/durable-file.ts';
import { EngineError } from '../../base/errors.ts';
import type { Sequence } from '../log.ts';
import {
  APPENDS_KEY,
  appendsOf,
  appendsValue,
  type Environment,
  NEXT_KEY,
  nextSequenceOf,
  openEnvironment,
  PAGE_BYTES,
  stampOrCheck,
} from './environment.ts';
import { checkBeforeOpen } from './preflight.ts';
import { Room } from './room.ts';
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
  readonly #room: Room;
  /** After the newest record that it had at first. Records before it change pages that are there. */
  readonly #firstNew: Sequence;

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
      this.#room = new Room(directory);
      this.#firstNew = this.nextSequence;
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

  /** Writes frames of records, off this thread; null removes one. Rejects with STO-E001, also before the disk would be full. */
  putRecords(records: Iterable<readonly [sequence: Sequence, frame: Buffer | null]>): Promise<void> {
    const { records: database } = this.#environment.databases;
    const all = [...records];
    const bytes = all.reduce(
      (sum, [sequence, frame]) => sum + bytesOf(frame) + (sequence < this.#firstNew ? PAGE_BYTES : 0),
      0,
    );
    return this.#write(bytes, () => {
      for (const [sequence, frame] of all)
        void (frame === null ? database.remove(sequence) : database.put(sequence, frame));
    });
  }

  /** Writes frames of state values; null deletes one. Keys are bytes of ASCII. Rejects as `putRecords`. */
  putState(entries: Iterable<readonly [key: Buffer, frame: Buffer | null]>): Promise<void> {
    const { state } = this.#environment.databases;
    const all = [...entries];
    const pageBytes = this.#firstNew > 1 ? PAGE_BYTES : 0;
    const bytes = all.reduce((sum, [key, frame]) => sum + key.length + bytesOf(frame) + pageBytes, 0);
    return this.#write(bytes, () => {
      for (const [key, frame] of all) void (frame === null ? state.remove(key) : state.put(key, frame));
    });
  }

  /** Everything up to the append of this number is filled in. The note changes with the counters. Rejects with STO-E001. */
  finish(appends: number, next: Sequence, note: Buffer): Promise<void> {
    const { stamp } = this.#environment.databases;
    const value = Buffer.alloc(4);
    value.writeUInt32LE(next);
    return this.#write(value.length + note.length, () => {
      void stamp.put(APPENDS_KEY, appendsValue(appends));
      void stamp.put(NEXT_KEY, value);
      void stamp.put(NOTE_KEY, note);
    });
  }

  async close(): Promise<void> {
    await this.#environment.root.close();
  }

  async #write(bytes: number, puts: () => void): Promise<void> {
    try {
      if (!this.#room.holds(bytes))
        throw new EngineError('STO-E001', `no room in ${this.#directory}: the disk is full`, { retryable: true });
      await this.#environment.root.batch(puts);
    } catch (error) {
      throw storageError(`the log in ${this.#directory} cannot be filled`, error);
    }
  }
}

function bytesOf(frame: Buffer | null): number {
  return frame?.length ?? 0;
}
