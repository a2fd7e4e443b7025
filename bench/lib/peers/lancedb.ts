// LanceDB: stemmed words without stop words; an HNSW with scalar quantisation, its fastest index; its own fusion.
import { type Peer, type PeerKind, RRF_K, timed } from './peer.ts';

export interface LanceModule {
  connect(folder: string, options?: { readonly readConsistencyInterval: number }): Promise<LanceConnection>;
  readonly Index: {
    fts(options: object): unknown;
    hnswSq(options: object): unknown;
  };
  readonly rerankers: { readonly RRFReranker: { create(k: number): Promise<unknown> } };
}

interface LanceConnection {
  createTable(name: string, rows: readonly object[]): Promise<LanceTable>;
  openTable(name: string): Promise<LanceTable>;
  tableNames(): Promise<string[]>;
  close(): void;
}

interface LanceTable {
  add(rows: readonly object[]): Promise<unknown>;
  createIndex(column: string, options: { readonly config: unknown }): Promise<void>;
  listIndices(): Promise<readonly { readonly columns: readonly string[] }[]>;
  optimize(options?: { readonly cleanupOlderThan: Date }): Promise<unknown>;
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

/** Its manual: optimise after this many changes. */
const OPTIMIZE_ADDS = 20;

export function lanceKind(lancedb: LanceModule): PeerKind {
  return {
    open: (folder) => openLance(lancedb, folder),
  };
}

async function openLance(lancedb: LanceModule, folder: string): Promise<Peer> {
  // Each search looks for what another process has added.
  const connection = await lancedb.connect(folder, { readConsistencyInterval: 0 });
  const reranker = await lancedb.rerankers.RRFReranker.create(RRF_K);
  let table = (await connection.tableNames()).includes('grains') ? await connection.openTable('grains') : undefined;
  let adds = 0;
  return {
    async add(rows) {
      const plain = rows.map((row) => ({ ...row, vector: Array.from(row.vector) }));
      if (table === undefined) {
        table = await connection.createTable('grains', plain);
        await table.createIndex('text', { config: lancedb.Index.fts({ stem: true, removeStopWords: true }) });
      } else await table.add(plain);
      adds += 1;
      if (adds % OPTIMIZE_ADDS === 0) await table.optimize();
    },
    index: () =>
      timed(async () => {
        await table!.createIndex('vector', { config: lancedb.Index.hnswSq({ distanceType: 'cosine' }) });
        // Its versions before this one take as much space again.
        await table!.optimize({ cleanupOlderThan: new Date() });
      }),
    async search(text, vector, limit) {
      table ??= await connection.openTable('grains');
      const found = await table
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
    async close() {
      table?.close();
      connection.close();
    },
  };
}
