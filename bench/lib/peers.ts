// Other stores with word and vector search, in this process, from the folder in BENCH_PEERS:
//   npm install --prefix FOLDER @lancedb/lancedb sqlite-vec
// They are not dependencies: install them for comparisons.

import { createRequire } from 'node:module';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { defined } from '../../src/engine/base/defined.ts';

export interface PeerRow {
  readonly id: number;
  readonly text: string;
  readonly vector: Float32Array;
}

export interface Peer {
  /** Loads and indexes all rows, as the peer recommends. */
  load(rows: readonly PeerRow[]): Promise<void>;
  /** Ids of the best rows by words and vector together, with reciprocal rank fusion. */
  search(text: string, vector: Float32Array, limit: number): Promise<number[]> | number[];
  close(): void;
}

export type PeerName = 'lancedb' | 'sqlite';

/** Opens a peer over an empty folder; undefined when it is not installed. */
export type OpenPeer = (folder: string) => Promise<Peer>;

/** The peers that are installed. */
export function installedPeers(): Partial<Record<PeerName, OpenPeer>> {
  const lancedb = found<LanceModule>('@lancedb/lancedb');
  const sqliteVec = found<SqliteVecModule>('sqlite-vec');
  return defined({
    lancedb: lancedb === undefined ? undefined : (folder: string) => openLance(lancedb, folder),
    sqlite: sqliteVec === undefined ? undefined : (folder: string) => openSqliteVec(sqliteVec, folder),
  });
}

function found<T>(name: string): T | undefined {
  const folder = process.env['BENCH_PEERS'];
  if (folder === undefined) return undefined;
  try {
    return createRequire(join(folder, 'package.json'))(name) as T; // the parts in use are declared below
  } catch {
    return undefined;
  }
}

interface LanceModule {
  connect(folder: string): Promise<LanceConnection>;
  readonly Index: {
    fts(options: object): unknown;
    hnswSq(options: object): unknown;
  };
  readonly rerankers: { readonly RRFReranker: { create(k: number): Promise<unknown> } };
}

interface LanceConnection {
  createTable(name: string, rows: readonly object[]): Promise<LanceTable>;
  close(): void;
}

interface LanceTable {
  add(rows: readonly object[]): Promise<unknown>;
  createIndex(column: string, options: { readonly config: unknown }): Promise<void>;
  query(): LanceQuery;
  close(): void;
}

interface LanceQuery {
  fullTextSearch(text: string, options: object): LanceQuery;
  nearestTo(vector: Float32Array): LanceQuery;
  distanceType(type: 'cosine'): LanceQuery;
  rerank(reranker: unknown): LanceQuery;
  select(columns: readonly string[]): LanceQuery;
  limit(count: number): LanceQuery;
  toArray(): Promise<readonly { readonly id: number }[]>;
}

const LANCE_ROWS_A_CALL = 5_000;

/** Stemmed words without stop words; an HNSW with scalar quantisation, its fastest index; its own fusion. */
async function openLance(lancedb: LanceModule, folder: string): Promise<Peer> {
  const connection = await lancedb.connect(folder);
  const reranker = await lancedb.rerankers.RRFReranker.create(RRF_K);
  let table: LanceTable | undefined;
  return {
    async load(rows) {
      for (let at = 0; at < rows.length; at += LANCE_ROWS_A_CALL) {
        const some = rows.slice(at, at + LANCE_ROWS_A_CALL).map((row) => ({ ...row, vector: Array.from(row.vector) }));
        if (table === undefined) table = await connection.createTable('grains', some);
        else await table.add(some);
      }
      await table!.createIndex('text', { config: lancedb.Index.fts({ stem: true, removeStopWords: true }) });
      await table!.createIndex('vector', { config: lancedb.Index.hnswSq({ distanceType: 'cosine' }) });
    },
    async search(text, vector, limit) {
      const found = await table!
        .query()
        .fullTextSearch(text, { columns: ['text'] })
        .nearestTo(vector)
        .distanceType('cosine')
        .rerank(reranker)
        .select(['id'])
        .limit(limit)
        .toArray();
      return found.map(({ id }) => id);
    },
    close: () => {
      table?.close();
      connection.close();
    },
  };
}

interface SqliteVecModule {
  getLoadablePath(): string;
}

/** Rows of each leg before fusion. */
const LEG_ROWS = 100;
const RRF_K = 60;

/** FTS5 with its porter stemmer; exhaustive vector search, the only kind of sqlite-vec; fused here. */
async function openSqliteVec(sqliteVec: SqliteVecModule, folder: string): Promise<Peer> {
  const database = new DatabaseSync(join(folder, 'peer.sqlite'), { allowExtension: true });
  database.loadExtension(sqliteVec.getLoadablePath());
  database.exec('PRAGMA journal_mode = WAL');
  database.exec("CREATE VIRTUAL TABLE words USING fts5(text, content = '', tokenize = 'porter unicode61')");
  let vectors: ReturnType<DatabaseSync['prepare']> | undefined;
  const words = database.prepare('SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?');
  return {
    load: (rows) => {
      const dimensions = rows[0]?.vector.length ?? 0;
      database.exec(
        `CREATE VIRTUAL TABLE vectors USING vec0(id INTEGER PRIMARY KEY, vector FLOAT[${dimensions}] distance_metric=cosine)`,
      );
      const text = database.prepare('INSERT INTO words (rowid, text) VALUES (?, ?)');
      const vector = database.prepare('INSERT INTO vectors (id, vector) VALUES (?, ?)');
      database.exec('BEGIN');
      for (const row of rows) {
        text.run(BigInt(row.id), row.text);
        vector.run(BigInt(row.id), bytesOf(row.vector));
      }
      database.exec('COMMIT');
      vectors = database.prepare('SELECT id FROM vectors WHERE vector MATCH ? AND k = ?');
      return Promise.resolve();
    },
    search(text, vector, limit) {
      const asked = [...new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu))].map((word) => `"${word}"`).join(' OR ');
      const byWords = asked === '' ? [] : words.all(asked, LEG_ROWS).map((row) => Number(row['rowid']));
      const near = vectors!.all(bytesOf(vector), LEG_ROWS).map((row) => Number(row['id']));
      const sums = new Map<number, number>();
      for (const leg of [byWords, near])
        for (const [rank, id] of leg.entries()) sums.set(id, (sums.get(id) ?? 0) + 1 / (RRF_K + rank + 1));
      return [...sums]
        .sort((a, b) => b[1] - a[1])
        .slice(0, limit)
        .map(([id]) => id);
    },
    close: () => database.close(),
  };
}

function bytesOf(vector: Float32Array): Uint8Array {
  return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
}
