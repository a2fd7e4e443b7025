// Where the servers of a run keep their data: in directories or, with TEST_STORE=postgres in the environment, in databases,
// one for each data directory. `npm run test:postgres` sets it.
import { Database } from '../../src/engine/log/postgres/database.ts';
import { migrate } from '../../src/engine/log/postgres/migrate.ts';
import { type PostgresInstance, sharedPostgres, type TestDatabase } from './postgres.ts';

/** A setting of the run, in place of directories. */
export const ON_POSTGRES = process.env['TEST_STORE'] === 'postgres';

/** Random bytes, which no warning takes for a pattern. */
export const MASTER = 'd1c7a54fbe0f6b7d6a1fbe0f5c0a3f1e9b8d7c6a5f4e3d2c1b0a99887766554f';

/** By data directory, for servers that are started again. */
const urls = new Map<string, Promise<string>>();

/** The variables of a server whose data lie in a database. Every call with a directory gives those of the same database. */
export async function storeVariables(dataDir: string): Promise<Readonly<Record<string, string>>> {
  const url = urls.get(dataDir) ?? sharedPostgres().then(async (postgres) => (await postgres.database()).url);
  urls.set(dataDir, url);
  return { GRANARY_STORE: await url, GRANARY_MASTER_KEY: MASTER };
}

/** A new database with the tables of a store, in `instance` or in that of the run. */
export async function migratedDatabase(shards: number, instance?: PostgresInstance): Promise<TestDatabase> {
  const made = await (instance ?? (await sharedPostgres())).database();
  const database = await Database.open(made.url);
  await migrate(database, shards);
  await database.close();
  return made;
}

/** Milliseconds until the lease of a shard ends, by the clock of its database; negative after its end. */
export async function restOfLeaseMs(database: Database, shard = 0): Promise<number> {
  const [row] = await database.ask(
    (sql) =>
      sql`SELECT extract(epoch FROM expires_at - now()) * 1000 AS rest FROM granary_shards WHERE shard = ${shard}`,
  );
  return Number(row?.['rest']);
}
