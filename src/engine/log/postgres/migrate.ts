// Makes and changes the tables of a store, and checks their version.
import { randomBytes } from 'node:crypto';
import { assert } from '../../base/assert.ts';
import { EngineError } from '../../base/errors.ts';
import { type Database, databaseError, type Sql } from './database.ts';
import { shardName } from './lease.ts';
import { SCHEMA_SERVES_FROM, SCHEMA_STEPS, SCHEMA_VERSION } from './schema.ts';

export interface StoreRow {
  /** Negative while an import fills the tables. */
  readonly version: number;
  /** The oldest version of the tables whose programs may serve with these. */
  readonly servesFrom: number;
  /** Random, in hexadecimal form: tells this deployment's tables from others. */
  readonly mark: string;
  readonly shards: number;
  /** The keys are in a key store (key-store.ts). */
  readonly hasKeyStore: boolean;
}

/**
 * Brings the tables to this version, in one transaction; `shards` counts for new ones. Resolves with the version that was
 * found, 0 without tables. STO-E001 when the tables are newer, or when a node holds a shard whose program could not go on.
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
  if (version < 0) throw importing();
  if (version === SCHEMA_VERSION) return version;
  if (found !== undefined && version < SCHEMA_SERVES_FROM) await refuseServed(sql);
  for (const statement of SCHEMA_STEPS.slice(version).flat()) await sql.unsafe(statement);
  if (found === undefined)
    await sql`INSERT INTO granary_store (id, version, mark, shards) VALUES (1, ${SCHEMA_VERSION}, ${randomBytes(16)}, ${shards})`;
  else await sql`UPDATE granary_store SET version = ${SCHEMA_VERSION} WHERE id = 1`;
  await sql`UPDATE granary_store SET serves_from = ${SCHEMA_SERVES_FROM} WHERE id = 1`;
  return version;
}

async function refuseServed(sql: Sql): Promise<void> {
  const [held] = await sql`
    SELECT shard, owner FROM granary_shards WHERE owner IS NOT NULL AND expires_at > now() ORDER BY shard LIMIT 1`;
  if (held !== undefined)
    throw new EngineError(
      'STO-E001',
      `node ${held['owner']} serves ${shardName(held['shard'])} from these tables: stop all nodes before the tables are changed`,
    );
}

/** The row of the store. STO-E001 when its tables are missing or older, or newer and not for programs of this version. */
export async function openStore(database: Database): Promise<StoreRow> {
  const found = await foundStore(database);
  if (found === undefined)
    throw new EngineError(
      'STO-E001',
      'the database holds no store: check its address, or create the store with a first granary serve',
    );
  if (found.version > SCHEMA_VERSION && found.servesFrom > SCHEMA_VERSION) throw newerTables(found.version);
  if (found.version < 0) throw importing();
  if (found.version < SCHEMA_VERSION)
    throw new EngineError(
      'STO-E001',
      `the tables have version ${found.version}, and this server needs ${SCHEMA_VERSION}: run granary store migrate first`,
    );
  return found;
}

/**
 * Makes tables for an import, which no server takes before `endImport`; those of an import that did not end are taken again. Resolves
 * with the row of the store. STO-E001 when the database holds a deployment.
 */
export async function beginImport(database: Database, shards: number): Promise<StoreRow> {
  const found = await foundStore(database);
  if (found !== undefined && found.version >= 0)
    throw new EngineError('STO-E001', 'the database holds a deployment already: name an empty database');
  try {
    if (found === undefined)
      await database.ask((sql) =>
        sql.begin(async (transaction) => {
          await migrateIn(transaction, shards);
          await transaction`UPDATE granary_store SET version = ${-SCHEMA_VERSION} WHERE id = 1`;
        }),
      );
    else await database.ask((sql) => sql.begin((transaction) => restartImport(transaction, shards)));
  } catch (error) {
    throw databaseError('the tables cannot be created', error);
  }
  const made = await foundStore(database);
  assert(made !== undefined, 'an import makes the tables');
  return made;
}

/** Makes the tables anew, with the mark that a key store knows. Statements of the import before, if it still runs, find other tokens. */
async function restartImport(sql: Sql, shards: number): Promise<void> {
  await refuseServed(sql);
  const [store] = await sql`SELECT mark FROM granary_store WHERE id = 1`;
  const before = await sql`SELECT shard, format, token FROM granary_shards`;
  const tables = SCHEMA_STEPS.flat().flatMap((statement) => /CREATE TABLE (\w+)/.exec(statement)?.[1] ?? []);
  for (const table of tables) await sql.unsafe(`DROP TABLE IF EXISTS ${table}`);
  await migrateIn(sql, shards);
  for (const row of before)
    await sql`
      INSERT INTO granary_shards (shard, format, token, appends, next, pruned)
      VALUES (${row['shard']}, ${row['format']}, ${row['token']}, 0, 1, 0)`;
  await sql`UPDATE granary_store SET version = ${-SCHEMA_VERSION}, mark = ${store?.['mark']} WHERE id = 1`;
}

/** Servers may use the tables from now on. */
export async function endImport(database: Database): Promise<void> {
  try {
    await database.ask((sql) => sql`UPDATE granary_store SET version = ${SCHEMA_VERSION} WHERE id = 1`);
  } catch (error) {
    throw databaseError('the import cannot be completed', error);
  }
}

function importing(): EngineError {
  return new EngineError(
    'STO-E001',
    'an import into this database was not completed: run granary store import again, or drop the database',
  );
}

async function readStore(sql: Sql): Promise<StoreRow | undefined> {
  const [table] = await sql`
    SELECT 1 FROM information_schema.tables WHERE table_schema = current_schema() AND table_name = 'granary_store'`;
  if (table === undefined) return undefined;
  // Not prepared: the columns differ between versions, and PostgreSQL refuses a prepared statement after they have changed.
  const [row] = await sql.unsafe('SELECT * FROM granary_store WHERE id = 1');
  if (row === undefined) return undefined;
  return {
    version: Number(row['version']),
    // Tables before version 5 are for programs of their own version.
    servesFrom: Number(row['serves_from'] ?? row['version']),
    mark: row['mark'].toString('hex'),
    shards: Number(row['shards']),
    hasKeyStore: row['has_key_store'] === true,
  };
}

function newerTables(version: number): EngineError {
  return new EngineError(
    'STO-E001',
    `the tables have version ${version}, made by a newer version of this server; this one knows ${SCHEMA_VERSION}: start the newer one`,
  );
}
