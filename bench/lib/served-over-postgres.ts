// A whole server whose data lie in PostgreSQL, beside one whose data lie in its directory: batches, single adds and recalls.
// Beside the batches, the bare database takes as many rows of the same bytes in the same groups, through the same client.
import { join } from 'node:path';
import postgres from 'postgres';
import type { PostgresInstance } from '../../test/support/postgres.ts';
import { postgresCpuUs, storeEnvironment } from './cluster.ts';
import { LoadClient, type LoadJob, type ServedLoad } from './load.ts';
import type { Aim, Options, Size } from './scenario.ts';
import { serverSize, sized } from './scenario.ts';
import { createMemory, flushed, grainsHeld, settled, type Target } from './server.ts';
import { inTurns, median, medianRatio } from './statistics.ts';

const MEMORIES = Array.from({ length: 8 }, (_, i) => `store-${i}`);
const ASKED = ['store-asked'];
const ADDS_IN_FLIGHT = 256;
const BATCHES_IN_FLIGHT = 8;

export const SERVED_AIMS: readonly Aim[] = [
  { metric: 'batch_add_over_bare_ratio', atLeast: 0.7 },
  { metric: 'add_256_over_directory_ratio', atLeast: 0.6 },
  { metric: 'recall_p50_over_directory_ratio', atMost: 1.05 },
];

export interface ServedPlace {
  readonly folder: string;
  readonly instance: PostgresInstance;
  readonly size: Size;
  readonly profile: Options['profile'];
  readonly start: NonNullable<Options['start']>;
}

interface Parts {
  readonly size: Size;
  readonly client: LoadClient;
  readonly instance: PostgresInstance;
  /** Over PostgreSQL. */
  readonly stored: Target;
  /** Over its directory. */
  readonly directory: Target;
  /** Of the database of `stored`. */
  readonly sql: postgres.Sql;
}

type Figures = Record<string, number>;

export async function servedOverPostgres({ folder, instance, size, profile, start }: ServedPlace): Promise<Figures> {
  const { url } = await instance.database();
  const options = { ...serverSize(size), auth: 'api-key', profile } as const;
  const started: Target[] = [];
  const client = LoadClient.start();
  const sql = postgres(url, { max: MEMORIES.length });
  try {
    const directory = await start({ ...options, dataDirectory: join(folder, 'directory') });
    started.push(directory);
    const stored = await start({
      ...{ ...options, isOwn: true, dataDirectory: join(folder, 'cache') },
      env: storeEnvironment(url),
    });
    started.push(stored);
    const parts = { size, client, instance, stored, directory, sql };
    for (const server of started) for (const id of [...MEMORIES, ...ASKED]) await createMemory(server, id);
    return { ...(await batches(parts)), ...(await adds(parts)), ...(await recalls(parts)) };
  } finally {
    client.stop();
    await sql.end();
    await Promise.all(started.map((server) => server.stop()));
  }
}

async function batches({ size, client, stored, directory, sql }: Parts): Promise<Figures> {
  const rounds = sized(size, { full: 5, quick: 3, smoke: 1 });
  const calls = sized(size, { full: 48, quick: 16, smoke: 8 });
  const batchGrains = sized(size, { full: 1_000, quick: 1_000, smoke: 5 });
  const grains = calls * batchGrains;
  let seed = 1;
  const job = { protocol: 'grpc', connections: 2, inFlight: BATCHES_IN_FLIGHT, what: 'batchAdd' } as const;
  const served = (server: Target) => async (): Promise<number> => {
    const load = await client.run(server, { ...job, calls, batchGrains, memories: MEMORIES, seed: ++seed });
    return load.callsPerSecond * batchGrains;
  };
  // Its first answers give the size of a row.
  await served(stored)();
  const bare = await bareTable(sql);
  const turns = await inTurns<string, number>(rounds + 1, {
    stored: served(stored),
    directory: served(directory),
    bare: () => bare.takenPerSecond(calls, batchGrains),
  });
  const held = await Promise.all(MEMORIES.map((id) => grainsHeld(stored, id)));
  const sum = held.reduce((total, one) => total + one, 0);
  const added = (rounds + 2) * grains;
  if (sum !== added) throw new Error(`${added} grains were acknowledged, ${sum} are stored`);
  // The first round warms up.
  const of = (name: string): number[] => turns[name]!.slice(1);
  return {
    batch_add_grains_per_s: median(of('stored')),
    batch_add_bare_rows_per_s: median(of('bare')),
    batch_add_bare_row_bytes: bare.rowBytes,
    batch_add_over_bare_ratio: medianRatio(of('stored'), of('bare')),
    batch_add_over_directory_ratio: medianRatio(of('stored'), of('directory')),
  };
}

interface BareTable {
  readonly rowBytes: number;
  /** As many callers as in the batches insert such groups, each with one statement. */
  takenPerSecond(groups: number, rows: number): Promise<number>;
}

/** Rows of the mean size that those of the store have. */
async function bareTable(sql: postgres.Sql): Promise<BareTable> {
  const [size] = await sql`SELECT avg(length(frame)) AS bytes FROM granary_records WHERE frame IS NOT NULL`;
  const rowBytes = Math.round(Number(size?.['bytes']));
  const frame = Buffer.alloc(rowBytes, 7);
  await sql`CREATE TABLE bare (sequence int8 PRIMARY KEY, bytes bytea)`;
  let next = 1;
  return {
    rowBytes,
    takenPerSecond: async (groups, rows) => {
      let left = groups;
      const caller = async (): Promise<void> => {
        while (left-- > 0) {
          const group = Array.from({ length: rows }, () => ({ sequence: next++, bytes: Buffer.from(frame) }));
          await sql`INSERT INTO bare ${sql(group)}`;
        }
      };
      const startMs = performance.now();
      await Promise.all(Array.from({ length: BATCHES_IN_FLIGHT }, caller));
      return ((groups * rows) / (performance.now() - startMs)) * 1_000;
    },
  };
}

async function adds({ size, client, stored, directory, instance }: Parts): Promise<Figures> {
  const rounds = sized(size, { full: 5, quick: 3, smoke: 1 });
  const calls = sized(size, { full: 20_000, quick: 4_000, smoke: ADDS_IN_FLIGHT });
  const job = { protocol: 'grpc', connections: 4, inFlight: ADDS_IN_FLIGHT, what: 'add', memories: MEMORIES } as const;
  let seed = 1_000;
  let databaseUs = 0;
  const served = (server: Target) => (): Promise<ServedLoad> => client.run(server, { ...job, calls, seed: ++seed });
  const turns = await inTurns<string, ServedLoad>(rounds + 1, {
    stored: async () => {
      const beforeUs = postgresCpuUs(instance);
      const load = await served(stored)();
      databaseUs += postgresCpuUs(instance) - beforeUs;
      return load;
    },
    directory: served(directory),
  });
  const of = (name: string, figure: 'callsPerSecond' | 'serverCpuUsPerCall'): number[] =>
    turns[name]!.slice(1).map((load) => load[figure]);
  return {
    add_256_grains_per_s: median(of('stored', 'callsPerSecond')),
    add_256_directory_grains_per_s: median(of('directory', 'callsPerSecond')),
    add_256_over_directory_ratio: medianRatio(of('stored', 'callsPerSecond'), of('directory', 'callsPerSecond')),
    add_256_server_cpu_us_per_call: median(of('stored', 'serverCpuUsPerCall')),
    add_256_directory_server_cpu_us_per_call: median(of('directory', 'serverCpuUsPerCall')),
    add_256_database_cpu_us: databaseUs / (calls * (rounds + 1)),
  };
}

/** From as many grains, sealed. */
async function recalls({ size, client, stored, directory }: Parts): Promise<Figures> {
  const rounds = sized(size, { full: 7, quick: 5, smoke: 1 });
  const calls = sized(size, { full: 1_000, quick: 300, smoke: 10 });
  const grains = sized(size, { full: 50_000, quick: 10_000, smoke: 100 });
  const batchGrains = Math.min(1_000, grains);
  const job = { protocol: 'grpc', connections: 1, memories: ASKED } as const;
  const filling: LoadJob = { ...job, what: 'batchAdd', inFlight: 4, batchGrains, calls: grains / batchGrains, seed: 1 };
  for (const server of [stored, directory]) {
    await client.run(server, filling);
    await flushed(server, ASKED);
    await settled(server, size === 'smoke' ? 1 : undefined);
  }
  const asked = (server: Target) => (round: number) =>
    client.run(server, { ...job, what: 'recall', inFlight: 1, calls, seed: 10 + round });
  const turns = await inTurns<string, ServedLoad>(rounds + 1, { stored: asked(stored), directory: asked(directory) });
  const p50s = (name: string): number[] => turns[name]!.slice(1).map(({ p50Ms }) => p50Ms);
  return {
    recall_p50_ms: median(p50s('stored')),
    recall_directory_p50_ms: median(p50s('directory')),
    recall_p50_over_directory_ratio: medianRatio(p50s('stored'), p50s('directory')),
  };
}
