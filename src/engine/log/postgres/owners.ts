// Who holds the shards of a store.
import { type Database, databaseError } from './database.ts';

export interface Owner {
  readonly shard: number;
  readonly owner: string;
  /** Until the lease ends, by the database's clock. */
  readonly seconds: number;
}

/** The shards whose lease has not ended, by number. Rejects with STO-E001. */
export async function owners(database: Database): Promise<readonly Owner[]> {
  try {
    const rows = await database.ask(
      (sql) => sql`
        SELECT shard, owner, extract(epoch FROM expires_at - now()) AS seconds FROM granary_shards
        WHERE owner IS NOT NULL AND expires_at > now() ORDER BY shard`,
    );
    return rows.map((row) => ({
      shard: Number(row['shard']),
      owner: String(row['owner']),
      seconds: Math.ceil(Number(row['seconds'])),
    }));
  } catch (error) {
    throw databaseError('the owners of the shards cannot be read', error);
  }
}

export async function otherOwners(database: Database, node: string): Promise<readonly Owner[]> {
  return (await owners(database)).filter(({ owner }) => owner !== node);
}
