// SQLite: FTS5 with its porter stemmer, and sqlite-vec, whose search is exhaustive; fused here. Every commit is on disk.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { LEG_ROWS, type Peer, type PeerKind, RRF_K, timed, wordsOf } from './peer.ts';

export interface SqliteVecModule {
  getLoadablePath(): string;
}

export function sqliteKind(sqliteVec: SqliteVecModule): PeerKind {
  return {
    open: async (folder) => openSqliteVec(sqliteVec, folder),
  };
}

function openSqliteVec(sqliteVec: SqliteVecModule, folder: string): Peer {
  const database = new DatabaseSync(join(folder, 'peer.sqlite'), { allowExtension: true });
  database.loadExtension(sqliteVec.getLoadablePath());
  database.exec('PRAGMA busy_timeout = 60000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  database.exec('CREATE TABLE IF NOT EXISTS grains (id INTEGER PRIMARY KEY, text TEXT)');
  database.exec(
    "CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(text, content = '', tokenize = 'porter unicode61')",
  );
  const statement = (sql: string): (() => ReturnType<DatabaseSync['prepare']>) => {
    let prepared: ReturnType<DatabaseSync['prepare']> | undefined;
    return () => (prepared ??= database.prepare(sql));
  };
  const grain = statement('INSERT INTO grains (id, text) VALUES (?, ?)');
  const word = statement('INSERT INTO words (rowid, text) VALUES (?, ?)');
  const vector = statement('INSERT INTO vectors (id, vector) VALUES (?, ?)');
  const byWords = statement('SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?');
  const byVector = statement('SELECT id FROM vectors WHERE vector MATCH ? AND k = ?');
  let hasVectors = false;
  return {
    async add(rows) {
      if (!hasVectors) {
        const dimensions = rows[0]?.vector.length ?? 0;
        database.exec(
          `CREATE VIRTUAL TABLE IF NOT EXISTS vectors USING vec0(id INTEGER PRIMARY KEY, vector FLOAT[${dimensions}] distance_metric=cosine)`,
        );
        hasVectors = true;
      }
      database.exec('BEGIN IMMEDIATE');
      for (const row of rows) {
        grain().run(row.id, row.text);
        word().run(row.id, row.text);
        vector().run(BigInt(row.id), bytesOf(row.vector));
      }
      database.exec('COMMIT');
    },
    index: () => timed(() => database.exec('PRAGMA wal_checkpoint(TRUNCATE)')),
    async search(text, near, limit) {
      const asked = wordsOf(text).map((one) => `"${one}"`);
      const found = asked.length === 0 ? [] : byWords().all(asked.join(' OR '), LEG_ROWS);
      const legs = [
        found.map((row) => Number(row['rowid'])),
        byVector()
          .all(bytesOf(near), LEG_ROWS)
          .map((row) => Number(row['id'])),
      ];
      const sums = new Map<number, number>();
      for (const leg of legs)
        for (const [rank, id] of leg.entries()) sums.set(id, (sums.get(id) ?? 0) + 1 / (RRF_K + rank + 1));
      return [...sums]
        .sort((a, b) => b[1] - a[1])
        .slice(0, limit)
        .map(([id]) => id);
    },
    close: async () => database.close(),
  };
}

function bytesOf(vector: Float32Array): Uint8Array {
  return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
}
