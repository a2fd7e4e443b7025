// Reads of a log over LMDB: records, state and the pages themselves.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { assert } from '../../base/assert.ts';
import { defined } from '../../base/defined.ts';
import { storageError } from '../../base/durable-file.ts';
import { EngineError } from '../../base/errors.ts';
import { SCAN_PAGE_BYTES, SCAN_PAGE_RECORDS, SEQUENCE_MAX } from '../../base/limits.ts';
import { unframe } from '../frame.ts';
import { CorruptRecord, type LogRecord, type Sequence } from '../log.ts';
import type { Databases, Environment } from './environment.ts';
import { checkPages } from './pages.ts';
import { DATA_FILE } from './preflight.ts';

export interface StatePage {
  readonly entries: readonly (readonly [key: string, value: Uint8Array])[];
  /** The last key of a page that others may follow; undefined when none does. */
  readonly last: string | undefined;
}

/** LMDB's codes for pages that are not those of its file: MDB_PAGE_NOTFOUND, MDB_CORRUPTED and MDB_INVALID. */
const DAMAGE_CODES: ReadonlySet<unknown> = new Set([-30_797, -30_796, -30_793]);

/** Every read fails while `unreadable` is set, and none comes after `closed` (asserted). */
export abstract class LmdbReads {
  readonly directory: string;
  /** The environment with its databases. Read-only after a fatal error. */
  protected root: Environment['root'];
  protected databases: Databases;
  /** The reason why reads fail at the moment. */
  protected unreadable: EngineError | undefined;
  protected closed = false;
  #damaged: string | undefined;

  constructor(directory: string, { root, databases }: Environment) {
    this.directory = directory;
    this.root = root;
    this.databases = databases;
  }

  get damaged(): string | undefined {
    return this.#damaged;
  }

  /** Runs a read and converts LMDB's own errors to STO-E001. */
  protected reading<T>(read: (databases: Databases) => T): T {
    assert(!this.closed, 'a closed log gives nothing');
    if (this.unreadable !== undefined) throw this.unreadable;
    try {
      return read(this.databases);
    } catch (error) {
      const failed = storageError(`${this.directory} cannot be read`, error);
      if (error instanceof Error && 'code' in error && DAMAGE_CODES.has(error.code)) this.#damaged ??= failed.message;
      throw failed;
    }
  }

  read(sequence: Sequence): Uint8Array | undefined {
    // The buffer is the library's, and its next read overwrites it. Copy it at once.
    const framed = this.reading(({ records }) => records.getBinaryFast(sequence));
    if (framed === undefined) return undefined;
    return unframe(framed, framed.length, sequence) ?? fail(this.#corrupt(sequence));
  }

  peek<T>(sequence: Sequence, look: (bytes: Buffer) => T): T | undefined {
    const framed = this.reading(({ records }) => records.getBinaryFast(sequence));
    return framed === undefined ? undefined : look(framed);
  }

  *scan(from: Sequence, to: Sequence = SEQUENCE_MAX + 1): IterableIterator<LogRecord | CorruptRecord> {
    for (let start = Math.max(from, 1); start < to; ) {
      const page = this.page(start, to);
      yield* page;
      if (page.length === 0) return;
      start = page[page.length - 1]!.sequence + 1;
    }
  }

  /** No cursor outlives this call, so a slow reader pins no old pages. */
  page(start: Sequence, to: Sequence): (LogRecord | CorruptRecord)[] {
    return this.reading(({ records }) => {
      const page: (LogRecord | CorruptRecord)[] = [];
      let bytesLeft = SCAN_PAGE_BYTES;
      for (const { key: sequence, value } of records.getRange({ start, end: to, limit: SCAN_PAGE_RECORDS })) {
        const bytes = unframe(value, value.length, sequence);
        page.push(bytes === undefined ? this.#corrupt(sequence) : { sequence, bytes });
        bytesLeft -= value.length;
        if (bytesLeft <= 0) break;
      }
      return page;
    });
  }

  getState(key: string): Uint8Array | undefined {
    const framed = this.reading(({ state }) => state.getBinaryFast(stateKey(key)));
    return framed === undefined ? undefined : this.#unframeState(key, framed, framed.length);
  }

  *scanState(prefix: string): IterableIterator<readonly [key: string, value: Uint8Array]> {
    for (let after: string | undefined; ; ) {
      const { entries, last } = this.statePage(prefix, after);
      yield* entries;
      if (last === undefined) return;
      after = last;
    }
  }

  statePage(prefix: string, after: string | undefined): StatePage {
    // The smallest key after `after`.
    const from = after === undefined ? prefix : `${after}\0`;
    const start = from === '' ? undefined : Buffer.from(from, 'latin1');
    const range = defined({ limit: SCAN_PAGE_RECORDS, start, end: endOfPrefix(prefix) });
    return this.reading(({ state }) => {
      const entries: (readonly [string, Uint8Array])[] = [];
      let bytesLeft = SCAN_PAGE_BYTES;
      for (const { key, value } of state.getRange(range)) {
        const name = key.toString('latin1');
        entries.push([name, this.#unframeState(name, value, value.length)]);
        bytesLeft -= value.length;
        if (bytesLeft <= 0) break;
      }
      // Most prefixes have few entries: a second look would cost as much as the first, only to find nothing.
      const isFull = bytesLeft <= 0 || entries.length === SCAN_PAGE_RECORDS;
      return { entries, last: isFull ? entries.at(-1)?.[0] : undefined };
    });
  }

  #corrupt(sequence: Sequence): CorruptRecord {
    const corrupt = new CorruptRecord(sequence, 'its checksum is wrong');
    this.#damaged ??= corrupt.message;
    return corrupt;
  }

  #unframeState(key: string, framed: Buffer, length: number): Buffer {
    const bytes = unframe(framed, length, 0);
    if (bytes !== undefined) return bytes;
    const damaged = `state "${key}" in ${this.directory}: its checksum is wrong`;
    this.#damaged ??= damaged;
    throw new EngineError('STO-E001', damaged);
  }

  /** Runs in a read transaction, so that no page of the tree is overwritten during the walk. */
  *checkFiles(): Generator<void, string | undefined, void> {
    assert(!this.closed, 'a closed log gives nothing');
    if (this.unreadable !== undefined) return this.unreadable.message;
    const reading = this.root.useReadTransaction();
    try {
      for (const _ of checkPages(join(this.directory, DATA_FILE), { whole: true })) yield;
      return undefined;
    } catch (error) {
      const { message } = storageError(`${this.directory} cannot be read`, error);
      if (isOfPages(error)) this.#damaged ??= message;
      return message;
    } finally {
      reading.done();
    }
  }

  bytesOnDisk(): number {
    return statSync(join(this.directory, DATA_FILE)).size;
  }
}

/** The walk over the pages throws the first. It may end for want of a descriptor, too, which says nothing of them. */
function isOfPages(error: unknown): boolean {
  return error instanceof EngineError || (error instanceof Error && 'code' in error && error.code === 'EIO');
}

export function stateKey(key: string): Buffer {
  return Buffer.from(key, 'latin1');
}

/** The smallest key after all keys with this prefix. Keys are ASCII, so the last byte can be raised. */
function endOfPrefix(prefix: string): Buffer | undefined {
  if (prefix === '') return undefined;
  const end = Buffer.from(prefix, 'latin1');
  end[end.length - 1]! += 1;
  return end;
}

function fail(error: Error): never {
  throw error;
}
