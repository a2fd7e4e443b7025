// The log over LMDB: one environment a shard, three databases in it.
//
//   records   sequence (u32) → frame (frame.ts)
//   state     key (ASCII) → frame, seed 0
//   stamp     'stamp' → LogStamp
//             'next' → u32, past every sequence number given by the last commit with a removal
//             'appends' → f64, raised by every append, so that an owner notices another writer
//
// Durability, as read in lmdb 3.5.6 and checked with strace: `batch` queues its puts for a writer thread, which runs
// them in one mdb_txn, all or none. With `overlappingSync: false`, mdb_txn_commit does
//   pwritev(pages) … fdatasync … pwrite(meta page, descriptor opened O_DSYNC)
// and the promise resolves when that job completes. So a resolved append is on disk. The library's default overlaps
// the steps: it writes the meta page first and syncs later, does not report a failed write of the *synced* meta page,
// and lets readers see a commit before it is durable. That gains nothing here, because one append is in flight at a
// time (measured: equal). Environments of one thread do overlap: each has its own writer job in libuv's pool, which has
// UV_THREADPOOL_SIZE threads for the whole process.
import { readdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { assert } from '../../base/assert.ts';
import { makeFolder, storageError, syncDirectory } from '../../base/durable-file.ts';
import { EngineError } from '../../base/errors.ts';
import { LOG_REFUSING_MS, SEQUENCE_MAX } from '../../base/limits.ts';
import { checkAppend, isNothing } from '../append-check.ts';
import type { Append, CorruptRecord, Log, LogRecord, Sequence } from '../log.ts';
import { endOf, frameAt, type NumberedAppend, numberAppend, recordCount } from '../numbered-append.ts';
import { copyEnvironment } from './copy.ts';
import {
  APPENDS_KEY,
  appendsOf,
  appendsValue,
  beginAppends,
  type Environment,
  NEXT_KEY,
  nextSequenceOf,
  openEnvironment,
  STAMP_KEY,
  stampOrCheck,
} from './environment.ts';
import { judgeFailure } from './failure.ts';
import { LmdbReads, type StatePage, stateKey } from './lmdb-reads.ts';
import { checkBeforeOpen, DATA_FILE } from './preflight.ts';
import { Room } from './room.ts';
import type { LogStamp } from './stamp.ts';

export type { LogStamp } from './stamp.ts';

export interface LmdbLogOptions {
  readonly stamp: LogStamp;
  /**
   * True when data that belongs to the log exists. A missing log is then an error, and no new one is created in its
   * place.
   */
  readonly exists?: boolean | undefined;
  /** Address space that is reserved at first. Default 16 GiB. */
  readonly mapSizeBytes?: number | undefined;
  /** As of `checkBeforeOpen`. */
  readonly arePagesKnown?: boolean | undefined;
}

export interface LmdbLog extends Log {
  readonly directory: string;
  readonly stamp: LogStamp;
  /** The number of the newest append. It begins at a random number, so that no two logs count alike. */
  readonly appends: number;
  /**
   * Writes appends that follow the newest one, in one transaction with fsync. Rejects as `append` does. One call of
   * either may be in flight at a time (asserted).
   */
  apply(appends: readonly NumberedAppend[]): Promise<void>;
  /** Throws STO-E001 when the disk has no room for an append of this size. */
  checkRoom(bytes: number): void;
  /** A page of the records with start <= sequence < end, in order; empty when there are none. */
  page(start: Sequence, end: Sequence): readonly (LogRecord | CorruptRecord)[];
  /** A page of the state entries with this prefix, after the key `after`, in key order. */
  statePage(prefix: string, after: string | undefined): StatePage;
}

/** Folders that are open in this thread. A second handle would keep its own, wrong next sequence number. */
const openDirectories = new Set<string>();

/**
 * Opens the log in `directory`, or creates it. The caller holds the lock of the data directory
 * (server/directory-lock.ts). STO-E001 when the folder holds a log of another format, shard or number of shards, or a
 * file that is not a readable log.
 */
export function openLmdbLog(directory: string, options: LmdbLogOptions): LmdbLog {
  makeFolder(directory);
  const path = realpathSync(directory);
  assert(!openDirectories.has(path), 'a log is opened once');
  const fresh = checkBeforeOpen(path, options.arePagesKnown);
  if (fresh && options.exists === true)
    throw new EngineError(
      'STO-E001',
      `${join(directory, DATA_FILE)} is missing or empty, but other files of its shard exist: put it back, or restore a backup`,
    );
  const environment = openEnvironment(path, { mapSizeBytes: options.mapSizeBytes });
  try {
    stampOrCheck(environment.databases, options.stamp, directory);
    beginAppends(environment.databases);
    if (fresh) syncDirectory(path);
    const log = new LmdbEnvironmentLog(path, environment, options.stamp);
    openDirectories.add(path);
    return log;
  } catch (error) {
    // No write is under way, so closing need not be awaited.
    void environment.root.close();
    throw storageError(`the log in ${directory} cannot be opened`, error);
  }
}

/** The newest append that was refused for lack of room. */
interface Refused {
  readonly reason: string;
  readonly atMs: number;
  readonly bytes: number;
  /**
   * True when the file system reported too little room: it can be asked again. A quota shows only in a failed write.
   */
  readonly isCounted: boolean;
}

class LmdbEnvironmentLog extends LmdbReads implements LmdbLog {
  readonly stamp: LogStamp;
  readonly #room: Room;
  #next: Sequence;
  /** The append counter as this owner left it. */
  #appends: number;
  #inFlight: { readonly done: Promise<void>; readonly appends: number } | undefined;
  #backups = new Set<Promise<void>>();
  #poisoned: string | undefined;
  #refused: Refused | undefined;

  constructor(directory: string, environment: Environment, stamp: LogStamp) {
    super(directory, environment);
    this.stamp = stamp;
    this.#room = new Room(directory);
    // Read first: if another process appends in between, the next append notices it.
    this.#appends = appendsOf(environment.databases, directory);
    this.#next = nextSequenceOf(environment.databases);
  }

  get nextSequence(): Sequence {
    return this.#next;
  }

  get appends(): number {
    return this.#appends;
  }

  get poisoned(): string | undefined {
    return this.#poisoned;
  }

  get refusing(): string | undefined {
    const refused = this.#refused;
    if (refused === undefined || performance.now() - refused.atMs > LOG_REFUSING_MS) return undefined;
    return refused.isCounted && this.#room.wouldHold(refused.bytes) ? undefined : refused.reason;
  }

  async append(append: Append): Promise<Sequence> {
    assert(append.keySlots === undefined, 'keys have files of their own beside LMDB');
    checkAppend(append, this.#next);
    this.#checkRoomForNumbers(append.records.length);
    if (isNothing(append)) return this.#next;
    const numbered = numberAppend(append, this.#appends + 1, this.#next);
    await this.apply([numbered]);
    return numbered.first;
  }

  async apply(appends: readonly NumberedAppend[]): Promise<void> {
    assert(!this.closed, 'a closed log takes nothing');
    assert(this.#inFlight === undefined, 'one append is in flight at a time');
    if (this.#poisoned !== undefined) throw new EngineError('STO-E001', this.#poisoned);
    checkNumbers(appends, this.#appends, this.#next);
    const last = appends.at(-1);
    if (last === undefined) return;
    const bytes = appends.reduce((sum, append) => sum + append.bytes, 0);
    const { promise, resolve: settle } = Promise.withResolvers<void>();
    this.#inFlight = { done: promise, appends: last.number };
    try {
      this.checkRoom(bytes);
      const isOurs = await this.#commit(appends, last);
      if (!isOurs) throw this.#moved();
      this.#next = endOf(last);
      this.#appends = last.number;
      if (this.#refused !== undefined && bytes >= this.#refused.bytes) this.#refused = undefined;
    } catch (caught) {
      throw await this.#refusal(caught, bytes);
    } finally {
      this.#inFlight = undefined;
      settle();
    }
  }

  checkRoom(bytes: number): void {
    if (this.#isRoomFor(bytes)) return;
    throw this.#noRoom('the disk is full', bytes, true);
  }

  /** A disk that does not say it takes nothing now, and nothing was written. */
  #isRoomFor(bytes: number): boolean {
    try {
      return this.#room.holds(bytes);
    } catch (error) {
      throw storageError(`the free space for ${this.directory} cannot be read`, error);
    }
  }

  #noRoom(reason: string, bytes: number, isCounted: boolean): EngineError {
    const error = new EngineError('STO-E001', `no room in ${this.directory}: ${reason}`, { retryable: true });
    this.#refused = { reason: error.message.replace(/^STO-E001: /, ''), atMs: performance.now(), bytes, isCounted };
    return error;
  }

  #checkRoomForNumbers(records: number): void {
    if (this.#poisoned !== undefined) throw new EngineError('STO-E001', this.#poisoned);
    if (this.#next + records - 1 > SEQUENCE_MAX)
      throw new EngineError('STO-E001', `the log in ${this.directory} has used all its sequence numbers`);
  }

  /**
   * False when another owner has appended since; nothing was written then. The condition is checked in the transaction
   * of the writes. Nothing here may throw between the first put and the last: puts queued by then would be committed.
   */
  #commit(appends: readonly NumberedAppend[], last: NumberedAppend): Promise<boolean> {
    const databases = this.databases;
    const states = appends.flatMap(({ state }) => state.map(([key, framed]) => [stateKey(key), framed] as const));
    const removes = appends.some(({ removals }) => removals.length > 0);
    const next = Buffer.alloc(4);
    next.writeUInt32LE(endOf(last));
    const counter = appendsValue(last.number);
    return databases.stamp.ifVersion(APPENDS_KEY, this.#appends, () => {
      void databases.stamp.put(APPENDS_KEY, counter);
      for (const append of appends) {
        for (let i = 0; i < recordCount(append); i++) void databases.records.put(append.first + i, frameAt(append, i));
        for (const [sequence, framed] of append.replacements) void databases.records.put(sequence, framed);
        for (const sequence of append.removals) void databases.records.remove(sequence);
      }
      for (const [key, framed] of states)
        void (framed === null ? databases.state.remove(key) : databases.state.put(key, framed));
      // Once the newest records are removed, the remaining keys no longer show which sequence numbers were given.
      if (removes) void databases.stamp.put(NEXT_KEY, next);
    });
  }

  checkOwner(): void {
    if (this.#poisoned !== undefined) throw new EngineError('STO-E001', this.#poisoned);
    const appends = this.reading((databases) => {
      this.root.resetReadTxn();
      return appendsOf(databases, this.directory);
    });
    // An append of this owner may be on disk before its promise resolves. It makes the same check itself.
    const isOwnInFlight = appends === this.#inFlight?.appends;
    if (appends !== this.#appends && !isOwnInFlight) throw this.#moved();
  }

  #moved(): EngineError {
    this.#poisoned =
      `the log in ${this.directory} was written by another process, which the lock of the data directory should keep out: ` +
      'this process cannot write to it until it is opened again';
    return new EngineError('STO-E001', this.#poisoned);
  }

  async #refusal(error: unknown, bytes: number): Promise<EngineError> {
    if (error instanceof EngineError) return error;
    const probe = (): void => {
      this.root.resetReadTxn();
      this.databases.stamp.getBinary(STAMP_KEY);
    };
    const { reason, kind } = await judgeFailure(error, probe, this.directory, bytes);
    if (kind === 'no room') return this.#noRoom(reason, bytes, false);
    this.#poisoned = `a write to ${this.directory} failed, and the log refuses writes until it is opened again: ${reason}`;
    if (kind === 'fatal') await this.#reopenForReading();
    return new EngineError('STO-E001', this.#poisoned);
  }

  /** After a fatal error LMDB refuses readers too. A read-only environment shows the last commit again. */
  async #reopenForReading(): Promise<void> {
    this.unreadable = new EngineError('STO-E002', `${this.directory} is being reopened: try again later`);
    try {
      await this.root.close();
      const { root, databases } = openEnvironment(this.directory, { readOnly: true });
      this.databases = databases;
      this.root = root;
      this.unreadable = undefined;
    } catch (error) {
      this.unreadable = storageError(`${this.directory} cannot be read`, error);
    }
  }

  /**
   * LMDB copies in one read transaction, in libuv's pool, without its free pages. STO-E001 when the copy cannot be
   * written; nothing is left behind. Pages in use may still hold bytes of removed records in their slack: removal frees
   * room, and only the destruction of a key makes data unreadable.
   */
  async backup(directory: string): Promise<void> {
    assert(!this.closed, 'a closed log gives nothing');
    if (this.unreadable !== undefined) throw this.unreadable;
    assert(readdirSync(directory).length === 0, 'a backup goes into an empty folder');
    const copying = copyEnvironment(this.root, this.directory, directory);
    this.#backups.add(copying);
    try {
      await copying;
    } finally {
      this.#backups.delete(copying);
    }
  }

  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    await this.#inFlight?.done;
    await Promise.allSettled(this.#backups);
    // When reads fail, the environment is closed already and its read-only successor could not be opened.
    if (this.unreadable === undefined) await this.root.close();
    openDirectories.delete(this.directory);
  }
}

/** Appends follow each other without a gap. */
function checkNumbers(appends: readonly NumberedAppend[], newest: number, next: Sequence): void {
  let number = newest;
  let first = next;
  for (const append of appends) {
    assert(append.number === number + 1 && append.first === first, 'an append follows the one before');
    number = append.number;
    first = endOf(append);
  }
}
