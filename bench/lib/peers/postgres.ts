// PostgreSQL with a generated tsvector and its GIN index, and pgvector's HNSW, built after the load as its manual says;
// fused in SQL. The server comes from the Python package `pgserver`.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Writable } from 'node:stream';
import { freePort, startChild } from './child-server.ts';
import { LEG_ROWS, type Peer, type PeerKind, type PeerServer, RRF_K, timed, wordsOf } from './peer.ts';

export type PostgresModule = (options: {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  readonly max: number;
  readonly onnotice: () => void;
}) => Sql;

interface Sql {
  (
    text: TemplateStringsArray,
    ...values: readonly unknown[]
  ): Promise<readonly { readonly id: number }[]> & {
    writable(): Promise<Writable>;
  };
  unsafe(text: string): Promise<unknown>;
  end(): Promise<void>;
}

/** It refuses to run as root. */
const UNPRIVILEGED = 65_534;

export function postgresKind(postgres: PostgresModule, binaries: string): PeerKind {
  return {
    start: (folder) => startPostgres(binaries, folder),
    open: (port) => openPostgres(postgres, Number(port)),
  };
}

async function startPostgres(binaries: string, folder: string): Promise<PeerServer> {
  const data = join(folder, 'postgres');
  mkdirSync(data);
  const asRoot = process.getuid?.() === 0;
  if (asRoot) {
    chownSync(data, UNPRIVILEGED, UNPRIVILEGED);
    // It has to get there.
    for (let above = dirname(data); above.includes('granary-bench-'); above = dirname(above)) chmodSync(above, 0o711);
  }
  const owner = asRoot ? { uid: UNPRIVILEGED, gid: UNPRIVILEGED } : {};
  const place = { ...owner, cwd: data };
  execFileSync(join(binaries, 'initdb'), ['-D', data, '-U', 'peer', '-A', 'trust', '-E', 'UTF8', '--locale=C'], {
    ...place,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const port = await freePort();
  const settings = {
    ...{ listen_addresses: '127.0.0.1', unix_socket_directories: '', port },
    // As its own tuning guides say for a machine of this size.
    ...{ shared_buffers: '2GB', maintenance_work_mem: '4GB', max_wal_size: '8GB', work_mem: '64MB' },
    max_parallel_maintenance_workers: 1,
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  return startChild(port, {
    command: join(binaries, 'postgres'),
    args: ['-D', data, ...flags],
    options: place,
    // Ends sessions, and writes a checkpoint.
    signal: 'SIGINT',
    isReady: () => isAccepting(join(binaries, 'pg_isready'), port),
  });
}

function isAccepting(command: string, port: number): boolean {
  try {
    execFileSync(command, ['-h', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

async function openPostgres(postgres: PostgresModule, port: number): Promise<Peer> {
  const sql = postgres({
    ...{ host: '127.0.0.1', port, user: 'peer', database: 'postgres' },
    max: 2,
    onnotice: () => undefined,
  });
  await sql.unsafe('CREATE EXTENSION IF NOT EXISTS vector');
  const make = async (dimensions: number): Promise<void> => {
    await sql.unsafe(
      `CREATE TABLE grains (id integer PRIMARY KEY, text text NOT NULL, vector vector(${dimensions}),
        words tsvector GENERATED ALWAYS AS (to_tsvector('english', text)) STORED)`,
    );
    // Vectors of noise-like digits do not compress; without this each is tried.
    await sql.unsafe('ALTER TABLE grains ALTER COLUMN vector SET STORAGE EXTERNAL');
    await sql.unsafe('CREATE INDEX ON grains USING gin (words)');
  };
  let made: Promise<void> | undefined;
  return {
    async add(rows) {
      // Several calls run at a time.
      made ??= make(rows[0]?.vector.length ?? 0);
      await made;
      const copy = await sql`COPY grains (id, text, vector) FROM STDIN`.writable();
      // Texts are words and spaces: nothing to escape.
      copy.end(rows.map(({ id, text, vector }) => `${id}\t${text}\t[${vector.join(',')}]\n`).join(''));
      await once(copy, 'finish');
    },
    index: () =>
      timed(async () => {
        await sql.unsafe('CREATE INDEX ON grains USING hnsw (vector vector_cosine_ops)');
        await sql.unsafe('VACUUM ANALYZE grains');
        await sql.unsafe('CHECKPOINT');
      }),
    async search(text, vector, limit) {
      const asked = wordsOf(text).join(' | ');
      const near = `[${vector.join(',')}]`;
      const found = await sql`
        WITH by_words AS (
          SELECT id, row_number() OVER (ORDER BY score DESC) AS place FROM (
            SELECT id, ts_rank_cd(words, question) AS score FROM grains, to_tsquery('english', ${asked}) AS question
            WHERE words @@ question ORDER BY score DESC LIMIT ${LEG_ROWS}) AS ranked),
        by_vector AS (
          SELECT id, row_number() OVER () AS place FROM (
            SELECT id FROM grains ORDER BY vector <=> ${near}::vector LIMIT ${LEG_ROWS}) AS nearest)
        SELECT id FROM (SELECT * FROM by_words UNION ALL SELECT * FROM by_vector) AS legs
        GROUP BY id ORDER BY sum(1.0 / (${RRF_K}::int + place)) DESC LIMIT ${limit}`;
      return found.map(({ id }) => id);
    },
    close: () => sql.end(),
  };
}
