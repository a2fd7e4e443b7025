// A store with words and vectors, as a comparison uses it.

export interface PeerRow {
  readonly id: number;
  readonly text: string;
  readonly vector: Float32Array;
}

/** A connection to a peer. */
export interface Peer {
  /** Adds rows in one call or transaction. */
  add(rows: readonly PeerRow[]): Promise<void>;
  /** Brings the indexes up to date with all rows, as the peer recommends. Resolves to the seconds that it took. */
  index(): Promise<number>;
  /** Ids of the best rows, by words and vector together where the peer has both. */
  search(text: string, vector: Float32Array, limit: number): Promise<number[]>;
  close(): Promise<void>;
}

/** A peer's own processes. */
export interface PeerServer {
  /** The argument of `open`. */
  readonly address: string;
  readonly pids: readonly number[];
  stop(): Promise<void>;
}

export type PeerName = 'granary' | 'sqlite' | 'lancedb' | 'postgres' | 'chroma';

/** Traits of a peer that its figures depend on. */
export interface PeerTraits {
  readonly title: string;
  /** Whether rows are on disk when their call is answered: `synced`, or `written` and left to the system. */
  readonly durability: string;
  /** The legs of its search. */
  readonly finds: string;
  /** Adds that a loader keeps in flight. */
  readonly inFlight: number;
}

export const PEERS: Readonly<Record<PeerName, PeerTraits>> = {
  granary: {
    title: 'Granary',
    durability: 'synced',
    finds: 'words and vectors; a grain has its vector some time later',
    inFlight: 4,
  },
  sqlite: {
    title: 'SQLite: FTS5, sqlite-vec',
    durability: 'synced',
    finds: 'words and vectors, vectors by a scan',
    inFlight: 1,
  },
  lancedb: {
    title: 'LanceDB',
    durability: 'written',
    finds: 'words and vectors; vectors by a scan until the index is built at the end',
    inFlight: 1,
  },
  postgres: {
    title: 'PostgreSQL: tsvector, pgvector',
    durability: 'synced',
    finds: 'words and vectors; vectors by a scan until the index is built at the end',
    inFlight: 2,
  },
  chroma: {
    title: 'Chroma',
    durability: 'synced',
    finds: 'vectors alone',
    inFlight: 1,
  },
};

/** How a peer is reached. */
export interface PeerKind {
  /** Starts its server over an empty folder. Peers without one run in the process that uses them. */
  readonly start?: (folder: string) => Promise<PeerServer>;
  /** Opens it by its server's address, or by its folder. The first one that adds makes its tables. */
  open(place: string): Promise<Peer>;
}

/** Rows of each leg before fusion. */
export const LEG_ROWS = 100;
/** The constant of reciprocal rank fusion that every peer uses. */
export const RRF_K = 60;

/** Its words, for peers whose query languages need them one by one. */
export function wordsOf(text: string): string[] {
  return [...new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu))];
}

/** Seconds. */
export async function timed(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1_000;
}

const LOAD_ROWS = 5_000;

/** Adds all rows and indexes them. */
export async function loadAll(peer: Peer, rows: readonly PeerRow[]): Promise<void> {
  for (let at = 0; at < rows.length; at += LOAD_ROWS) await peer.add(rows.slice(at, at + LOAD_ROWS));
  await peer.index();
}
