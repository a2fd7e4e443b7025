// Files of a shard that follow from its log, as the database has them: by name, with the SHA-256 of their bytes, in parts of
// bounded size. The owner of the shard writes them and removes those that it no longer has.
import { createHash } from 'node:crypto';
import { existsSync, renameSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeFolder, syncFile, TEMPORARY_SUFFIX } from '../../base/durable-file.ts';
import { EngineError } from '../../base/errors.ts';
import { STORED_PART_BYTES, STORED_PARTS_READ, STORED_PARTS_SWEPT } from '../../base/limits.ts';
import { given, type Owned } from './append-statement.ts';
import { bytesOf, literalOf, numberOf, readRows } from './binary-rows.ts';
import { type Database, databaseError, type Sql } from './database.ts';
import { takenAway } from './lease.ts';

export interface StoredFile {
  /** Path in the shard's folder, with `/` between its parts. */
  readonly name: string;
  readonly digest: Buffer;
  readonly bytes: number;
}

interface Part {
  readonly part: number;
  readonly content: Buffer;
}

interface FetchOptions {
  readonly isSynced: boolean;
}

/** The database has a file in part, or other bytes than its digest says. */
class DamagedFile extends Error {
  override name = 'DamagedFile';
}

export class StoredFiles {
  readonly #database: Database;
  readonly #owned: Owned;

  constructor(database: Database, owned: Owned) {
    this.#database = database;
    this.#owned = owned;
  }

  list(): Promise<readonly StoredFile[]> {
    return listFiles(this.#database, this.#owned.shard);
  }

  /**
   * Writes the file at `path` under `name`, in place of one of that name. It is there when all of its parts are. Goes on
   * while it `isWanted`. Rejects with STO-E002 when the shard has another owner or it is not wanted any more, with STO-E001, or
   * with an error of the file system. Parts that were written are left to a later `keep`.
   */
  async put(name: string, path: string, isWanted: () => boolean): Promise<StoredFile> {
    const file = await open(path, 'r');
    try {
      return await this.#putOpen(name, file, isWanted);
    } catch (error) {
      throw databaseError(`${name} cannot be uploaded`, error);
    } finally {
      await file.close();
    }
  }

  async #putOpen(name: string, file: OpenFile, isWanted: () => boolean): Promise<StoredFile> {
    const { shard, token } = this.#owned;
    const { digest, bytes } = await digestOf(file);
    for (let part = 0; part * STORED_PART_BYTES < bytes; part++) {
      const content = await readPart(file, part);
      if (!isWanted()) throw new EngineError('STO-E002', `the upload of ${name} was cancelled`, { retryable: true });
      // `keep` removes what comes after the shard went to another owner.
      await this.#database.ask(
        (sql) => sql`
            INSERT INTO granary_segment_parts (shard, digest, part, content)
            SELECT shard, ${digest}, ${part}, ${given(sql, content)} FROM granary_shards
            WHERE shard = ${shard} AND token = ${token}
            ON CONFLICT (shard, digest, part) DO NOTHING`,
      );
    }
    const rows = await this.#database.ask(
      (sql) => sql`
          WITH ${ownerOf(sql, this.#owned)}
          INSERT INTO granary_segments (shard, name, digest, bytes)
          SELECT owner.shard, ${name}, ${digest}, ${bytes} FROM owner
          ON CONFLICT (shard, name) DO UPDATE SET digest = excluded.digest, bytes = excluded.bytes
          RETURNING name`,
    );
    if (rows.length === 0) throw notOwner(shard);
    return { name, digest, bytes };
  }

  /**
   * Fetches all files that `folder`, the shard's own, lacks. Resolves to the paths of those that it wrote, which are whole and not yet
   * synced; a file that the database does not have whole stays absent. Rejects with STO-E001.
   */
  async fetchAbsent(folder: string): Promise<readonly string[]> {
    const paths: string[] = [];
    for (const file of await this.list()) {
      const path = join(folder, file.name);
      if (existsSync(path)) continue;
      makeFolder(dirname(path));
      if ((await this.#fetched(file, path, { isSynced: false })) === undefined) paths.push(path);
    }
    return paths;
  }

  /**
   * Writes the stored file to `path`, durably and whole, or not at all. Resolves with what is wrong with the stored file, or
   * undefined. Rejects with STO-E001.
   */
  async fetch(file: StoredFile, path: string): Promise<string | undefined> {
    const problem = await this.#fetched(file, path, { isSynced: true });
    if (problem === undefined) await syncFile(dirname(path));
    return problem;
  }

  async #fetched(file: StoredFile, path: string, options: FetchOptions): Promise<string | undefined> {
    try {
      await this.#fetch(file, path, options);
      return undefined;
    } catch (error) {
      if (error instanceof DamagedFile) return error.message;
      throw databaseError(`${file.name} cannot be fetched`, error);
    }
  }

  /** The next parts are read while some are written. */
  async #fetch({ name, digest, bytes }: StoredFile, path: string, { isSynced }: FetchOptions): Promise<void> {
    const temporary = `${path}${TEMPORARY_SUFFIX}`;
    const file = await open(temporary, 'w', 0o600);
    try {
      const hash = createHash('sha256');
      let at = 0;
      let reading = this.#partsLater(digest, 0);
      for (let from = 0; at < bytes; from += STORED_PARTS_READ) {
        const parts = await reading;
        const isLast = parts.length < STORED_PARTS_READ;
        if (!isLast) reading = this.#partsLater(digest, from + STORED_PARTS_READ);
        for (const [i, { part, content }] of parts.entries()) {
          if (part !== from + i) throw new DamagedFile(`part ${from + i} of ${name} is missing`);
          hash.update(content);
          await file.appendFile(content);
          at += content.length;
        }
        if (isLast && at < bytes) throw new DamagedFile(`${name} has ${at} bytes in the database, not ${bytes}`);
      }
      if (!hash.digest().equals(digest)) throw new DamagedFile(`the bytes of ${name} do not match its digest`);
      if (isSynced) await file.sync();
      renameSync(temporary, path);
    } finally {
      await file.close();
      rmSync(temporary, { force: true });
    }
  }

  #partsLater(digest: Buffer, from: number): Promise<readonly Part[]> {
    const reading = this.#parts(digest, from);
    // Nobody waits for it when a write fails.
    reading.catch(() => undefined);
    return reading;
  }

  async #parts(digest: Buffer, from: number): Promise<readonly Part[]> {
    const rows = await readRows(
      this.#database,
      `SELECT part, content FROM granary_segment_parts
        WHERE shard = ${this.#owned.shard} AND digest = ${literalOf(digest)} AND part >= ${from}
        ORDER BY part LIMIT ${STORED_PARTS_READ}`,
    );
    return rows.map(([part, content]) => ({ part: numberOf(part), content: bytesOf(content) }));
  }

  /**
   * Removes all files but those named, and parts of no file, a bounded number with each statement. Resolves when nothing else
   * is left. Rejects with STO-E002 when the shard has another owner, and with STO-E001.
   */
  async keep(names: ReadonlySet<string>): Promise<void> {
    try {
      await this.#keep(names);
    } catch (error) {
      throw databaseError('files that are no longer used cannot be removed', error);
    }
  }

  async #keep(names: ReadonlySet<string>): Promise<void> {
    const gone = (await this.list()).filter(({ name }) => !names.has(name));
    for (const { name } of gone) {
      const rows = await this.#database.ask(
        (sql) => sql`
          WITH ${ownerOf(sql, this.#owned)}
          DELETE FROM granary_segments WHERE name = ${name} AND shard IN (SELECT shard FROM owner) RETURNING name`,
      );
      if (rows.length === 0) throw notOwner(this.#owned.shard);
    }
    const { shard, token } = this.#owned;
    for (;;) {
      const swept = await this.#database.ask(
        (sql) => sql`
          DELETE FROM granary_segment_parts WHERE shard = ${shard} AND (digest, part) IN (
            SELECT digest, part FROM granary_segment_parts AS part
            WHERE shard = ${shard}
              AND EXISTS (SELECT 1 FROM granary_shards WHERE shard = ${shard} AND token = ${token})
              AND NOT EXISTS (SELECT 1 FROM granary_segments AS file
                WHERE file.shard = part.shard AND file.digest = part.digest)
            LIMIT ${STORED_PARTS_SWEPT})
          RETURNING part`,
      );
      if (swept.length === 0) return;
    }
  }
}

function notOwner(shard: number): EngineError {
  return new EngineError('STO-E002', takenAway(shard), { retryable: true });
}

export function listFiles(database: Database, shard: number): Promise<readonly StoredFile[]> {
  return database.ask(async (sql) => {
    const rows = await sql`
      SELECT name, digest, bytes FROM granary_segments WHERE shard = ${shard} ORDER BY name`;
    return rows.map((row) => ({ name: row['name'], digest: row['digest'], bytes: Number(row['bytes']) }));
  });
}

/** True when the file has that digest. Rejects with the file system's error. */
export async function hasDigest(path: string, digest: Buffer): Promise<boolean> {
  const file = await open(path, 'r');
  try {
    return (await digestOf(file)).digest.equals(digest);
  } finally {
    await file.close();
  }
}

/** The shard, if it is still the owner's. The lock of the row orders the statement with a change of owners. */
function ownerOf(sql: Sql, { shard, token }: Owned) {
  return sql`owner AS (UPDATE granary_shards SET token = token WHERE shard = ${shard} AND token = ${token} RETURNING shard)`;
}

type OpenFile = Awaited<ReturnType<typeof open>>;

async function digestOf(file: OpenFile): Promise<{ readonly digest: Buffer; readonly bytes: number }> {
  const hash = createHash('sha256');
  let bytes = 0;
  for (let part = 0; ; part++) {
    const content = await readPart(file, part);
    hash.update(content);
    bytes += content.length;
    if (content.length < STORED_PART_BYTES) return { digest: hash.digest(), bytes };
  }
}

/** Shorter than the others at the end of the file. */
async function readPart(file: OpenFile, part: number): Promise<Buffer> {
  const content = Buffer.allocUnsafe(STORED_PART_BYTES);
  let length = 0;
  while (length < STORED_PART_BYTES) {
    const { bytesRead } = await file.read(
      content,
      length,
      STORED_PART_BYTES - length,
      part * STORED_PART_BYTES + length,
    );
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return content.subarray(0, length);
}
