// Makes and changes the tables of a store, and checks their version.
import { randomBytes } from 'node:crypto';
import { EngineError } from '../../base/errors.ts';
import { type Database, databaseError, type Sql } from './database.ts';
import { SCHEMA_STEPS, SCHEMA_VERSION } from './schema.ts';

export interface StoreRow {
  readonly version: number;
  /** Random, in hexadecimal form: tells this deployment's tables from others. */
  readonly mark: string;
  readonly shards: number;
}

/**
 * Brings the tables to this version, in one transaction; `shards` counts for new ones. Resolves with the version that was
 * found, 0 without tables. STO-E001 when the tables are newer, or when a node holds a shard.
 */
export async function migrate(database: Database, shards: number): Promise<number> {
  try {
    return await database.ask((sql) => sql.begin((transaction) => migrateIn(transaction, shards)));
  } catch (error) {
    throw databaseError('the tables cannot be changed', error);
  }
}

/**
 * The row of the store, whose tables are made in a database that has none. Rejects with STO-E001, as `openStore`.
 */
export async function openOrMakeStore(database: Database, shards: number): Promise<StoreRow> {
  if ((await foundStore(database)) === undefined) {
    try {
      await migrate(database, shards);
    } catch (error) {
      // Another node may have made them meanwhile.
      if ((await foundStore(database)) === undefined) throw error;
    }
  }
  return openStore(database);
}

export async function foundStore(database: Database): Promise<StoreRow | undefined> {
  try {
    return await database.ask(readStore);
  } catch (error) {
    throw databaseError('the database cannot be read', error);
  }
}

async function migrateIn(sql: Sql, shards: number): Promise<number> {
  const found = await readStore(sql);
  const version = found?.version ?? 0;
  if (version > SCHEMA_VERSION) throw newerTables(version);
  if (version === SCHEMA_VERSION) return version;
  if (found !== undefined) await refuseServed(sql);
  for (const statement of SCHEMA_STEPS.slice(version).flat()) await sql.unsafe(statement);
  if (found === undefined)
    await sql`INSERT INTO granary_store VALUES (1, ${SCHEMA_VERSION}, ${randomBytes(16)}, ${shards})`;
  else await sql`UPDATE granary_store SET version = ${SCHEMA_VERSION} WHERE id = 1`;
  return version;
}

async function refuseServed(sql: Sql): Promise<void> {
  const [held] = await sql`
    SELECT shard, owner FROM granary_shards WHERE owner IS NOT NULL AND expires_at > now() ORDER BY shard LIMIT 1`;
  if (held !== undefined)
    throw new EngineError(
      'STO-E001',
      `node ${held['owner']} serves shard ${held['shard']} from these tables: end all nodes before they are changed`,
    );
}

/** The row of the store. STO-E001 when its tables are missing, older or newer than this version. */
export async function openStore(database: Database): Promise<StoreRow> {
  const found = await foundStore(database);
  if (found === undefined) throw new EngineError('STO-E001', 'the database has no tables of a store');
  if (found.version > SCHEMA_VERSION) throw newerTables(found.version);
  if (found.version < SCHEMA_VERSION)
    throw new EngineError(
      'STO-E001',
      `the tables have version ${found.version}, and this server needs ${SCHEMA_VERSION}: they must be migrated first (granary store migrate)`,
    );
  return found;
}

async function readStore(sql: Sql): Promise<StoreRow | undefined> {
  const [table] = await sql`
    SELECT 1 FROM information_schema.tables WHERE table_schema = current_schema() AND table_name = 'granary_store'`;
  if (table === undefined) return undefined;
  const [row] = await sql`SELECT version, mark, shards FROM granary_store WHERE id = 1`;
  if (row === undefined) return undefined;
  return { version: Number(row['version']), mark: row['mark'].toString('hex'), shards: Number(row['shards']) };
}

function newerTables(version: number): EngineError {
  return new EngineError(
    'STO-E001',
    `the tables have version ${version}, which a newer version of this server made; this one knows ${SCHEMA_VERSION}: start that version`,
  );
}
