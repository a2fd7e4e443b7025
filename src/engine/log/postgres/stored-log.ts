// The records and the state of a log in the database, read page by page.
import { unlessAborted } from '../../base/settled-within.ts';
import { isWhole } from '../frame.ts';
import type { Sequence } from '../log.ts';
import { bytesOf, type Cell, literalOf, numberOf, readRows } from './binary-rows.ts';
import type { Database } from './database.ts';
import { PageReader } from './pages.ts';

/**
 * Takes what is read of a log in the database, in order. A frame is null for what was removed. The next page is read while one is
 * written, and is written when that resolves.
 */
export interface LogTarget {
  putRecords(records: Iterable<readonly [sequence: Sequence, frame: Buffer | null]>): Promise<void> | void;
  putState(entries: Iterable<readonly [key: Buffer, frame: Buffer | null]>): Promise<void> | void;
  /** Ends the reading, which then rejects with its reason, and waits for no answer of the database. */
  readonly signal?: AbortSignal | undefined;
}

/** Reads a log in the database, page by page. */
export class StoredLog {
  readonly #reader: PageReader;
  readonly #target: LogTarget;
  readonly #shard: number;
  /** Records that were read. */
  count = 0;
  /** Records and values of the state whose checksum was wrong. They are given to the target as they are. */
  damaged = 0;

  constructor(database: Database, target: LogTarget, shard: number) {
    this.#reader = new PageReader(database);
    this.#target = target;
    this.#shard = shard;
  }

  /** Records before `from` that appends after `since` replaced or removed. */
  changes(since: number, from: Sequence): Promise<void> {
    const shard = this.#shard;
    return this.#records(
      0,
      (after, limit) => `
        SELECT changed.sequence, frame FROM
          (SELECT DISTINCT sequence FROM granary_changes
            WHERE shard = ${shard} AND append > ${since} AND sequence > ${after} AND sequence < ${from}
            ORDER BY sequence LIMIT ${limit}) AS changed
          LEFT JOIN granary_records AS record ON record.shard = ${shard} AND record.sequence = changed.sequence
        ORDER BY changed.sequence`,
    );
  }

  /** Records from `from` to before `next`. */
  records(
    from: Sequence,
    {
      next = Number.MAX_SAFE_INTEGER,
      withRemoved = false,
    }: { readonly next?: Sequence; readonly withRemoved?: boolean } = {},
  ): Promise<void> {
    return this.#records(
      from - 1,
      (after, limit) => `
        SELECT sequence, frame FROM granary_records WHERE shard = ${this.#shard} AND sequence > ${after}
          AND sequence < ${next} ${withRemoved ? '' : 'AND frame IS NOT NULL'}
        ORDER BY sequence LIMIT ${limit}`,
    );
  }

  #records(first: Sequence, select: (after: Sequence, limit: number) => string): Promise<void> {
    return this.#pages<Sequence>(first, {
      select,
      write: async (rows) => {
        const records = rows.map(([sequence, frame]) => [numberOf(sequence), frameOf(frame)] as const);
        for (const [sequence, frame] of records) this.#check(frame, sequence);
        await this.#target.putRecords(records);
        this.count += rows.length;
      },
      placeOf: numberOf,
    });
  }

  /** Entries that appends after `since` wrote or deleted; without it, all. */
  state(since: number | undefined): Promise<void> {
    const newest = since ?? -1;
    return this.#pages<Buffer>(Buffer.alloc(0), {
      select: (after, limit) => `
        SELECT key, frame FROM granary_state
        WHERE shard = ${this.#shard} AND append > ${newest} AND key > ${literalOf(after)}
        ORDER BY key LIMIT ${limit}`,
      write: async (rows) => {
        const entries = rows.map(([key, frame]) => [bytesOf(key), frameOf(frame)] as const);
        for (const [, frame] of entries) this.#check(frame, 0);
        await this.#target.putState(entries);
      },
      placeOf: bytesOf,
    });
  }

  #check(frame: Buffer | null, seed: number): void {
    if (frame !== null && !isWhole(frame, seed)) this.damaged += 1;
  }

  /** Reads each page while the one before is written. */
  async #pages<P>(first: P, { select, write, placeOf }: Pages<P>): Promise<void> {
    const { signal } = this.#target;
    const read = (after: P): Promise<readonly Row[]> => {
      const reading = this.#reader.page(
        (database, limit) => readRows(database, select(after, limit)),
        ([, frame]) => frameOf(frame)?.length ?? 0,
      );
      // It is awaited later, or never when a write fails.
      reading.catch(() => undefined);
      return reading;
    };
    for (let reading = read(first); ; ) {
      const rows = await (signal === undefined ? reading : unlessAborted(reading, signal));
      const last = rows.at(-1);
      if (last === undefined) return;
      reading = read(placeOf(last[0]));
      await write(rows);
    }
  }
}

/** A place, and a frame, or null where it was removed. */
type Row = readonly Cell[];

interface Pages<P> {
  readonly select: (after: P, limit: number) => string;
  readonly write: (rows: readonly Row[]) => Promise<void>;
  /** By the first column. */
  readonly placeOf: (cell: Cell | undefined) => P;
}

function frameOf(cell: Cell | undefined): Buffer | null {
  return cell === null ? null : bytesOf(cell);
}
