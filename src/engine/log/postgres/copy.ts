// The local copy of a log whose truth is in the database: an LMDB that may be deleted at any time. A file beside it tells
// which owner wrote it. The database confirms that owner, or the copy is deleted and filled again.
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { basename, join, relative, sep } from 'node:path';
import { replaceFile, syncDirectory } from '../../base/durable-file.ts';
import { EngineError } from '../../base/errors.ts';
import { LogFiller } from '../lmdb/filler.ts';
import type { LogStamp } from '../lmdb/stamp.ts';
import type { Sequence } from '../log.ts';
import type { Database, Sql } from './database.ts';
import type { Taken } from './lease.ts';
import { PageReader } from './pages.ts';
import { hasDigest, listFiles } from './stored-files.ts';

/** In the folder of a copy. */
export const COPY_MARK_FILE = 'copy.json';

/** The owner whose appends the copy ends with. */
interface CopyMark {
  /** The mark of the deployment. */
  readonly store: string;
  readonly token: number;
  readonly mark: string;
  /** The node has not had the shard since: it only fetched what that owner had. */
  readonly isAhead?: boolean | undefined;
}

export interface CopyOptions {
  readonly directory: string;
  readonly stamp: LogStamp;
  readonly store: string;
  /** As the caller has taken the shard. */
  readonly taken: Taken;
  /**
   * A folder around the copy. All else in it follows from the log as the owner of the copy had it. When another one has had the
   * shard since, only the files that the database has too are kept.
   */
  readonly derived?: string | undefined;
}

/** How the copy was brought up to date. */
export interface Filled {
  /** False when what was there was deleted, or nothing was there. */
  readonly isKept: boolean;
  readonly records: number;
}

/**
 * Brings the copy to what the database has. The caller holds the shard's lease, so nobody appends meanwhile. Rejects with
 * STO-E001 or an error of the database's library; the copy can be filled again then.
 */
export async function fillCopy(database: Database, options: CopyOptions): Promise<Filled> {
  const { directory, store, taken } = options;
  const kept = await openTrusted(database, options);
  const before = readMark(directory);
  if (kept === undefined || before?.token !== taken.token - 1) await deleteDerived(database, options, 'bytes');
  // They were compared when they were fetched, and names are given once.
  else if (before.isAhead === true) await deleteDerived(database, options, 'names');
  const records = await fill(database, options, kept);
  writeMark(directory, { store, token: taken.token, mark: taken.mark });
  return { isKept: kept !== undefined, records };
}

/**
 * Brings the copy to what the database has, while another node owns the shard and goes on: `taken` is as that owner has it. The
 * changes that come meanwhile are read when this node takes the shard. Rejects as `fillCopy`.
 */
export async function fillCopyAhead(database: Database, options: CopyOptions): Promise<void> {
  const { directory, store, taken } = options;
  const kept = await openTrusted(database, options);
  // Until the end, the copy is that of the mark before, and some changes are in it already.
  await deleteDerived(database, options, 'bytes');
  await fill(database, options, kept);
  writeMark(directory, { store, token: taken.token, mark: taken.mark, isAhead: true });
}

/** Resolves to the number of records. */
async function fill(
  database: Database,
  { directory, stamp, taken }: CopyOptions,
  kept: LogFiller | undefined,
): Promise<number> {
  const filler = kept ?? openNew(directory, stamp);
  try {
    const filling = new StoredLog(database, filler, stamp.shard);
    const since = kept?.appends;
    const from = kept?.nextSequence ?? 1;
    if (since !== undefined) await filling.changes(since, from);
    // One that was filled in part before may have some that were removed since.
    await filling.records(from, { next: taken.next, withRemoved: kept !== undefined });
    await filling.state(since);
    filler.finish(taken.appends, taken.next);
    return filling.count;
  } finally {
    await filler.close();
  }
}

/** The copy, opened, if the database has everything that it holds; undefined when it must be filled from the start. */
async function openTrusted(
  database: Database,
  { directory, stamp, store, taken }: CopyOptions,
): Promise<LogFiller | undefined> {
  const mark = readMark(directory);
  if (mark === undefined || mark.store !== store) return undefined;
  let filler: LogFiller | undefined;
  try {
    filler = new LogFiller(directory, stamp);
    const { appends } = filler;
    if (appends !== undefined && appends >= taken.pruned && (await isOf(database, stamp.shard, mark, appends, taken)))
      return filler;
  } catch (error) {
    // A damaged copy is filled again. Without an answer of the database, nothing is known of it.
    if (!(error instanceof EngineError)) {
      await filler?.close();
      throw error;
    }
  }
  await filler?.close();
  return undefined;
}

/** True when that owner made the append of this number. */
async function isOf(
  database: Database,
  shard: number,
  { token, mark }: CopyMark,
  appends: number,
  taken: Taken,
): Promise<boolean> {
  const rows = await database.ask(
    (sql) => sql`
      SELECT token, mark, appends FROM granary_owners WHERE shard = ${shard} AND token >= ${token}
      ORDER BY token LIMIT 2`,
  );
  const [own, next] = rows;
  if (own === undefined) return false;
  const isOwner = Number(own['token']) === token && own['mark'].toString('hex') === mark;
  // The newest owner has the shard still.
  const last = next === undefined ? taken.appends : Number(next['appends']);
  return isOwner && Number(own['appends']) <= appends && appends <= last;
}

/** Keeps files that the database has too: of the same name and size, and of the same `bytes`. */
async function deleteDerived(
  database: Database,
  { directory, derived, stamp }: CopyOptions,
  compared: 'bytes' | 'names',
): Promise<void> {
  if (derived === undefined || !existsSync(derived)) return;
  const stored = new Map((await listFiles(database, stamp.shard)).map((file) => [file.name, file]));
  const entries = readdirSync(derived, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    const name = relative(derived, path).replaceAll(sep, '/');
    if (entry.isDirectory() || name.startsWith(`${basename(directory)}/`)) continue;
    const file = stored.get(name);
    const isSame = file !== undefined && statSync(path).size === file.bytes;
    const isStored = isSame && (compared === 'names' || (await hasDigest(path, file.digest)));
    if (!isStored) rmSync(path, { force: true });
  }
  for (const entry of entries) if (entry.isDirectory()) syncDirectory(join(entry.parentPath, entry.name));
  syncDirectory(derived);
}

function openNew(directory: string, stamp: LogStamp): LogFiller {
  if (existsSync(directory)) {
    // First what makes it trusted.
    rmSync(join(directory, COPY_MARK_FILE), { force: true });
    syncDirectory(directory);
    rmSync(directory, { recursive: true, force: true });
  }
  return new LogFiller(directory, stamp);
}

function readMark(directory: string): CopyMark | undefined {
  try {
    const parsed: unknown = JSON.parse(readFileSync(join(directory, COPY_MARK_FILE), 'utf8'));
    const { store, token, mark } = parsed as Partial<CopyMark>; // Each member is checked on the next line.
    if (typeof store === 'string' && typeof token === 'number' && typeof mark === 'string')
      return { store, token, mark };
  } catch {
    // Absent or not readable: the copy is not trusted.
  }
  return undefined;
}

function writeMark(directory: string, mark: CopyMark): void {
  replaceFile(join(directory, COPY_MARK_FILE), Buffer.from(JSON.stringify(mark)));
}

/** Takes what is read of a log in the database, in order. A frame is null for what was removed. */
export interface LogTarget {
  putRecords(records: Iterable<readonly [sequence: Sequence, frame: Buffer | null]>): void;
  putState(entries: Iterable<readonly [key: Buffer, frame: Buffer | null]>): void;
}

/** Reads a log in the database, page by page. */
export class StoredLog {
  readonly #reader: PageReader;
  readonly #filler: LogTarget;
  readonly #shard: number;
  /** Records that were read. */
  count = 0;

  constructor(database: Database, filler: LogTarget, shard: number) {
    this.#reader = new PageReader(database);
    this.#filler = filler;
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
    for (let after = first; ; ) {
      const rows = await this.#page((sql, limit) => page(sql, after, limit));
      const last = rows.at(-1);
      if (last === undefined) return;
      this.#filler.putRecords(rows.map(({ sequence, frame }) => [Number(sequence), frame] as const));
      this.count += rows.length;
      after = Number(last.sequence);
    }
  }

  /** Entries that appends after `since` wrote or deleted; without it, all. */
  async state(since: number | undefined): Promise<void> {
    const newest = since ?? -1;
    for (let after: Buffer = Buffer.alloc(0); ; ) {
      const from = after;
      const rows = await this.#page(
        (sql, limit) => sql`
          SELECT key, frame FROM granary_state WHERE shard = ${this.#shard} AND append > ${newest} AND key > ${from}
          ORDER BY key LIMIT ${limit}`,
      );
      const last = rows.at(-1);
      if (last === undefined) return;
      this.#filler.putState(rows.map(({ key, frame }) => [key, frame] as const));
      after = last.key;
    }
  }

  #page(ask: (sql: Sql, limit: number) => Promise<readonly Row[]>): Promise<readonly Row[]> {
    return this.#reader.page(ask, ({ frame }) => frame?.length ?? 0);
  }
}

/** A row of the records or of the state. Numbers of 8 bytes come as text. */
interface Row {
  readonly sequence: string;
  readonly key: Buffer;
  readonly frame: Buffer | null;
}
