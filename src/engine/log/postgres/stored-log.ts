// The records and the state of a log in the database, read page by page.
import type { Sequence } from '../log.ts';
import type { Database, Sql } from './database.ts';
import { PageReader } from './pages.ts';

/**
 * Takes what is read of a log in the database, in order. A frame is null for what was removed. The next page is read while one is
 * written, and is written when that resolves.
 */
export interface LogTarget {
  putRecords(records: Iterable<readonly [sequence: Sequence, frame: Buffer | null]>): Promise<void> | void;
  putState(entries: Iterable<readonly [key: Buffer, frame: Buffer | null]>): Promise<void> | void;
}

/** Reads a log in the database, page by page. */
export class StoredLog {
  readonly #reader: PageReader;
  readonly #target: LogTarget;
  readonly #shard: number;
  /** Records that were read. */
  count = 0;

  constructor(database: Database, target: LogTarget, shard: number) {
    this.#reader = new PageReader(database);
    this.#target = target;
    this.#shard = shard;
  }

  /** Records before `from` that appends after `since` replaced or removed. */
  changes(since: number, from: Sequence): Promise<void> {
    const shard = this.#shard;
    return this.#records(0, (sql, after, limit) => {
      return sql`
        SELECT changed.sequence, frame FROM
          (SELECT DISTINCT sequence FROM granary_changes
            WHERE shard = ${shard} AND append > ${since} AND sequence > ${after} AND sequence < ${from}
            ORDER BY sequence LIMIT ${limit}) AS changed
          LEFT JOIN granary_records AS record ON record.shard = ${shard} AND record.sequence = changed.sequence
        ORDER BY changed.sequence`;
    });
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
      (sql, after, limit) => sql`
        SELECT sequence, frame FROM granary_records WHERE shard = ${this.#shard} AND sequence > ${after}
          AND sequence < ${next} AND (${withRemoved} OR frame IS NOT NULL)
        ORDER BY sequence LIMIT ${limit}`,
    );
  }

  async #records(
    first: Sequence,
    page: (sql: Sql, after: Sequence, limit: number) => Promise<readonly Row[]>,
  ): Promise<void> {
    await this.#pages<Sequence>(
      first,
      (sql, after, limit) => page(sql, after, limit),
      async (rows) => {
        await this.#target.putRecords(rows.map(({ sequence, frame }) => [Number(sequence), frame] as const));
        this.count += rows.length;
      },
      ({ sequence }) => Number(sequence),
    );
  }

  /** Entries that appends after `since` wrote or deleted; without it, all. */
  async state(since: number | undefined): Promise<void> {
    const newest = since ?? -1;
    await this.#pages<Buffer>(
      Buffer.alloc(0),
      (sql, after, limit) => sql`
          SELECT key, frame FROM granary_state WHERE shard = ${this.#shard} AND append > ${newest} AND key > ${after}
          ORDER BY key LIMIT ${limit}`,
      async (rows) => this.#target.putState(rows.map(({ key, frame }) => [key, frame] as const)),
      ({ key }) => key,
    );
  }

  /** Reads each page while the one before is written. */
  async #pages<P>(
    first: P,
    page: (sql: Sql, after: P, limit: number) => Promise<readonly Row[]>,
    write: (rows: readonly Row[]) => Promise<void>,
    placeOf: (row: Row) => P,
  ): Promise<void> {
    const read = (after: P): Promise<readonly Row[]> => {
      const reading = this.#reader.page(
        (sql, limit) => page(sql, after, limit),
        ({ frame }) => frame?.length ?? 0,
      );
      // It is awaited later, or never when a write fails.
      reading.catch(() => undefined);
      return reading;
    };
    for (let reading = read(first); ; ) {
      const rows = await reading;
      const last = rows.at(-1);
      if (last === undefined) return;
      reading = read(placeOf(last));
      await write(rows);
    }
  }
}

/** A row of the records or of the state. Numbers of 8 bytes come as text. */
interface Row {
  readonly sequence: string;
  readonly key: Buffer;
  readonly frame: Buffer | null;
}
