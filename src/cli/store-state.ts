// The state of a store's database, for commands that look at it without a server.
import { EngineError } from '../engine/base/errors.ts';
import { SHARDS_MAX } from '../engine/base/limits.ts';
import { Database } from '../engine/log/postgres/database.ts';
import { drainNode, type Fleet, readFleet } from '../engine/log/postgres/fleet.ts';
import { bindKeys } from '../engine/log/postgres/key-store.ts';
import { foundStore, migrate, openStore } from '../engine/log/postgres/migrate.ts';
import { owners } from '../engine/log/postgres/owners.ts';
import { uploadsBehind } from '../engine/maintain/reports/uploads-behind.ts';

export interface StoreState {
  /** Of the tables; 0 without tables. */
  readonly version: number;
  readonly shards: number;
  /** The keys are in a key store, which was found to fit. */
  readonly hasKeyStore: boolean;
  /** Nodes with shards whose lease has not ended. */
  readonly nodes: readonly StoreNode[];
}

export interface StoreNode {
  readonly node: string;
  /** Without the control log. */
  readonly shards: number;
  readonly hasControlLog: boolean;
  readonly leaseSeconds: number;
}

/**
 * Rejects with STO-E001 when the database or the key store is not reached or does not fit, or when the tables are of another
 * version.
 */
export function storeState(url: string, keyUrl: string | undefined): Promise<StoreState> {
  return withDatabase(url, async (database) => {
    if ((await foundStore(database)) === undefined) return { version: 0, shards: 0, hasKeyStore: false, nodes: [] };
    const row = await openStore(database);
    const { version, shards, hasKeyStore } = row;
    if (hasKeyStore) await bindKeys(database, row, keyUrl);
    const byNode = Map.groupBy(await owners(database), ({ owner }) => owner);
    const nodes = [...byNode].map(([node, held]) => ({
      node,
      shards: held.filter(({ shard }) => shard < shards).length,
      hasControlLog: held.some(({ shard }) => shard === SHARDS_MAX),
      leaseSeconds: Math.min(...held.map(({ seconds }) => seconds)),
    }));
    return { version, shards, hasKeyStore, nodes };
  });
}

/** Resolves with the version that was found. Rejects with STO-E001 also when there are no tables, or when a node serves them. */
export function migrateStore(url: string): Promise<number> {
  return withDatabase(url, async (database) => {
    const found = await foundStore(database);
    if (found === undefined)
      throw new EngineError(
        'STO-E001',
        'the database holds no store: check its address, or create the store with a first granary serve',
      );
    return migrate(database, found.shards);
  });
}

/** The nodes and shards. */
export interface StoreFleet extends Fleet {
  /** The number of shards. */
  readonly count: number;
  /** Segments that the database does not have yet, by shard; shards that lack none are absent. */
  readonly behind: ReadonlyMap<number, number>;
}

/** Rejects as `storeState`. */
export function fleetOf(url: string): Promise<StoreFleet> {
  return withDatabase(url, async (database) => {
    const { shards } = await openStore(database);
    return { ...(await readFleet(database)), count: shards, behind: await uploadsBehind(database) };
  });
}

/** Resolves false when the store has no such node. Rejects as `storeState`. */
export function drainNodeOf(url: string, id: string, isDraining: boolean): Promise<boolean> {
  return withDatabase(url, async (database) => {
    await openStore(database);
    return drainNode(database, id, isDraining);
  });
}

async function withDatabase<T>(url: string, work: (database: Database) => Promise<T>): Promise<T> {
  const database = await Database.open(url);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}
