// A second database that holds the wrapped keys of a store, so that the store's own write-ahead log and backups never have them.
//
//   granary_key_store    one row: the version of these tables, and the mark of the store whose keys they hold
//   granary_key_owners   shard → token of the owner that may write its keys
//   granary_keys         as in a store
//
// A new key is durable there before the append that needs it. A tombstone is in the store too, in the append that destroys the
// key, and is written to the key store before the append is acknowledged. After a crash in between, the next open writes it.

import type { PendingQuery, Row } from 'postgres';
import { EngineError } from '../../base/errors.ts';
import { isTombstone, SLOT_DESTROYED } from '../../base/key-slot.ts';
import { arrayText, type Owned, parts } from './append-statement.ts';
import { Database, databaseError, type Sql } from './database.ts';
import { readKeySlots } from './key-slots.ts';
import { shardName, takenAway } from './lease.ts';
import type { StoreRow } from './migrate.ts';

const VERSION = 1;

export type KeySlot = readonly [id: number, slot: Uint8Array];

const TABLES = [
  'CREATE TABLE granary_key_store (id int4 PRIMARY KEY, version int4 NOT NULL, store bytea NOT NULL)',
  'CREATE TABLE granary_key_owners (shard int4 PRIMARY KEY, token int8 NOT NULL)',
  'CREATE TABLE granary_keys (shard int4 NOT NULL, id int8 NOT NULL, slot bytea NOT NULL, PRIMARY KEY (shard, id))',
] as const;

/**
 * Checks that `keys`, or its absence, fits the store, and makes its tables for a store without keys. Rejects with STO-E001 when
 * the keys lie elsewhere.
 */
async function bindKeyStore(database: Database, store: StoreRow, keys: Database | undefined): Promise<void> {
  if (keys === undefined) {
    if (!store.hasKeyStore) return;
    throw new EngineError(
      'STO-E001',
      'the keys of this store are in a key store: set GRANARY_KEY_STORE, or give --key-store',
    );
  }
  try {
    const found = await keys.ask(markOf);
    if (found !== undefined && found !== store.mark) throw wrong('it holds the keys of another store');
    if (found === undefined && store.hasKeyStore)
      throw wrong('it is empty, but the store has keys: restore its backup');
    if (found === undefined) await begin(keys, store.mark);
    if (!store.hasKeyStore) await bind(database);
  } catch (error) {
    throw databaseError('the key store cannot be used', error);
  }
}

/** The same with the key store's address. */
export async function bindKeys(database: Database, store: StoreRow, url: string | undefined): Promise<void> {
  const keys = url === undefined ? undefined : await Database.shared(url);
  try {
    await bindKeyStore(database, store, keys);
  } finally {
    await keys?.close();
  }
}

/** Only for a store without keys. */
async function bind(database: Database): Promise<void> {
  const [key] = await database.ask((sql) => sql`SELECT 1 FROM granary_keys LIMIT 1`);
  if (key !== undefined)
    throw wrong(
      'this store keeps its keys in its own database: to move them, export the store and import it with --key-store',
    );
  await database.ask((sql) => sql`UPDATE granary_store SET has_key_store = true WHERE id = 1`);
}

async function begin(keys: Database, mark: string): Promise<void> {
  try {
    await keys.ask((sql) =>
      sql.begin(async (transaction) => {
        for (const statement of TABLES) await transaction.unsafe(statement);
        await transaction`INSERT INTO granary_key_store VALUES (1, ${VERSION}, ${Buffer.from(mark, 'hex')})`;
      }),
    );
  } catch (error) {
    // Another node may have made them meanwhile.
    if ((await keys.ask(markOf)) !== mark) throw error;
  }
}

/** The mark of the store whose keys the database holds; undefined for one without tables. */
async function markOf(sql: Sql): Promise<string | undefined> {
  const tables = await sql`
    SELECT table_name FROM information_schema.tables
    WHERE table_schema = current_schema() AND table_name IN ('granary_store', 'granary_key_store')`;
  if (tables.some((row) => row['table_name'] === 'granary_store')) throw wrong('it is the database of a store');
  if (tables.length === 0) return undefined;
  const [row] = await sql`SELECT version, store FROM granary_key_store WHERE id = 1`;
  if (row === undefined || Number(row['version']) !== VERSION)
    throw wrong(`its tables have version ${row?.['version']}, and this server needs ${VERSION}`);
  return row['store'].toString('hex');
}

function wrong(reason: string): EngineError {
  return new EngineError('STO-E001', `the key store cannot be used: ${reason}`);
}

/** The keys of one shard in the key store. */
export class StoredKeys {
  readonly #keys: Database;
  readonly #owned: Owned;

  private constructor(keys: Database, owned: Owned) {
    this.#keys = keys;
    this.#owned = owned;
  }

  /**
   * Takes the shard there. The caller holds its lease in `database`. Rejects with STO-E002 when an owner with a higher token has
   * had it, as after a store was restored: the token of the store is raised, and the next attempt succeeds.
   */
  static async take(url: string, database: Database, owned: Owned): Promise<StoredKeys> {
    const keys = await Database.shared(url);
    try {
      const { shard, token } = owned;
      const [taken] = await keys.ask(
        (sql) => sql`
          INSERT INTO granary_key_owners AS owner VALUES (${shard}, ${token})
          ON CONFLICT (shard) DO UPDATE SET token = excluded.token WHERE owner.token < excluded.token RETURNING token`,
      );
      if (taken !== undefined) return new StoredKeys(keys, owned);
      const [newer] = await keys.ask((sql) => sql`SELECT token FROM granary_key_owners WHERE shard = ${shard}`);
      const raised = String(newer?.['token']);
      await database.ask(
        (sql) => sql`UPDATE granary_shards SET token = ${raised} WHERE shard = ${shard} AND token = ${token}`,
      );
      throw new EngineError('STO-E002', `${shardName(shard)} is older than its keys in the key store: try again`, {
        retryable: true,
      });
    } catch (error) {
      await keys.close();
      throw databaseError(`the keys of ${shardName(owned.shard)} cannot be taken over`, error);
    }
  }

  /**
   * All slots of the shard. Tombstones of the store that the key store lacks are written there first: their keys were to be
   * destroyed when a node ended.
   */
  async read(database: Database): Promise<readonly (readonly [id: number, slot: Buffer])[]> {
    const { shard } = this.#owned;
    const slots = new Map(await readKeySlots(this.#keys, shard));
    const left = (await readKeySlots(database, shard)).filter(([id, slot]) => {
      const known = slots.get(id);
      return isTombstone(slot) && (known === undefined || !isTombstone(known));
    });
    await this.put(left);
    for (const [id, slot] of left) slots.set(id, slot);
    return [...slots];
  }

  /**
   * A tombstone stays: the network may bring a statement whose answer was given up after later ones, and a key must not come back by
   * it. Rejects with STO-E002 when the shard has another owner, or with the library's error.
   */
  async put(slots: readonly KeySlot[]): Promise<void> {
    if (slots.length === 0) return;
    const bytes = parts(slots.map(([, slot]) => Buffer.from(slot)));
    const ids = arrayText(slots.map(([id]) => id));
    await this.#change(
      (sql) => sql`
          INSERT INTO granary_keys AS known (shard, id, slot)
          SELECT owner.shard, part.id, substring(${bytes.bytes}::bytea FROM part.start FOR part.bytes)
          FROM owner, unnest(${ids}::int8[], ${bytes.starts}::int4[], ${bytes.lengths}::int4[]) AS part (id, start, bytes)
          ON CONFLICT (shard, id) DO UPDATE SET slot = excluded.slot WHERE get_byte(known.slot, 0) <> ${SLOT_DESTROYED}`,
    );
  }

  /** Removes the slots that an interrupted import left. Rejects as `put`. */
  async clear(): Promise<void> {
    await this.#change((sql) => sql`DELETE FROM granary_keys WHERE shard IN (SELECT shard FROM owner)`);
  }

  async #change(change: (sql: Sql) => PendingQuery<Row[]>): Promise<void> {
    const { shard, token } = this.#owned;
    const rows = await this.#keys.ask(
      (sql) => sql`
        WITH owner AS (
          UPDATE granary_key_owners SET token = token WHERE shard = ${shard} AND token = ${token} RETURNING shard
        ), changed AS (${change(sql)}) SELECT shard FROM owner`,
    );
    if (rows.length === 0) throw new EngineError('STO-E002', takenAway(shard));
  }

  async close(): Promise<void> {
    await this.#keys.close();
  }
}
