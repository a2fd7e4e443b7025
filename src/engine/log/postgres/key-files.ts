// The key files of a deployment in the database, among the rows of the control log's shard. Only the owner of that shard
// reads and writes them.
import type { Owned } from './append-statement.ts';
import type { Database } from './database.ts';

export type KeyFileRow = readonly [name: string, content: Uint8Array];

export async function readKeyFiles(database: Database, shard: number): Promise<readonly KeyFileRow[]> {
  const rows = await database.ask(
    (sql) => sql<{ name: string; content: Buffer }[]>`
      SELECT name, content FROM granary_key_files WHERE shard = ${shard} ORDER BY name`,
  );
  return rows.map(({ name, content }) => [name, content]);
}

/** Writes all of the files or none, in one transaction. Resolves false when the shard has another owner. */
export async function writeKeyFiles(
  database: Database,
  { shard, token }: Owned,
  files: readonly KeyFileRow[],
): Promise<boolean> {
  return database.ask((sql) =>
    sql.begin(async (transaction) => {
      // The lock of the row orders it with a change of owners.
      const owned = await transaction`
        UPDATE granary_shards SET token = token WHERE shard = ${shard} AND token = ${token} RETURNING shard`;
      if (owned.length === 0) return false;
      for (const [name, content] of files)
        await transaction`
          INSERT INTO granary_key_files (shard, name, content) VALUES (${shard}, ${name}, ${Buffer.from(content)})
          ON CONFLICT (shard, name) DO UPDATE SET content = excluded.content`;
      return true;
    }),
  );
}
