// Removes what only copies that have fallen far behind would need: the changes of old appends, and the rows of records and
// state that they removed.
import type { Owned } from './append-statement.ts';
import type { Database, Sql } from './database.ts';

/**
 * Removes what appends up to `upTo` removed. A copy with fewer appends is filled again. Does nothing when the shard has
 * another owner.
 */
export async function pruneChanges(database: Database, { shard, token }: Owned, upTo: number): Promise<void> {
  const ask = (statement: (sql: Sql) => Promise<readonly unknown[]>) => database.ask(statement);
  // Durable before anything is removed, since a copy is judged by it. A statement that comes late must not take it back.
  const owned = await ask(
    (sql) => sql`
      UPDATE granary_shards SET pruned = greatest(pruned, ${upTo}::int8) WHERE shard = ${shard} AND token = ${token} RETURNING shard`,
  );
  if (owned.length === 0) return;
  await ask(
    (sql) => sql`
      DELETE FROM granary_records WHERE shard = ${shard} AND frame IS NULL AND sequence IN
        (SELECT sequence FROM granary_changes WHERE shard = ${shard} AND append <= ${upTo})`,
  );
  await ask((sql) => sql`DELETE FROM granary_state WHERE shard = ${shard} AND frame IS NULL AND append <= ${upTo}`);
  await ask((sql) => sql`DELETE FROM granary_changes WHERE shard = ${shard} AND append <= ${upTo}`);
}
