// Adds a thousand grains per call, end to end: durable and searchable when answered. Each round goes on until its grains
// are sealed and merged. Eight memories on eight shards, and one memory of one partition. SQLite FTS5 alternates with
// them, in this process and with the same grains per transaction, up to its checkpoint: once with the duties of a grain
// store (parse, unique hash, keep the body), once with the full-text rows alone.
import { join } from 'node:path';
import { cpuTable } from '../lib/cpu-table.ts';
import { BATCH_GRAINS } from '../lib/engine.ts';
import { inFolder } from '../lib/folder.ts';
import { grainSource } from '../lib/grains.ts';
import { LoadClient, type LoadJob } from '../lib/load.ts';
import type { Measured, Options, Scenario } from '../lib/scenario.ts';
import { sized } from '../lib/scenario.ts';
import { createMemory, flushed, grainsHeld, settled, startServer, type Target } from '../lib/server.ts';
import { insertedPerSecond, openSqlite } from '../lib/sqlite.ts';
import { inTurns, rounded } from '../lib/statistics.ts';
import { type CpuSpent, spentBetween, totalOf } from '../lib/thread-cpu.ts';

const MANY = Array.from({ length: 8 }, (_, i) => `batch-${i}`);
const ONE = ['batch-one'];
const VARIANTS = {
  grpc_many: { protocol: 'grpc', memories: MANY },
  http_many: { protocol: 'http', memories: MANY },
  grpc_one: { protocol: 'grpc', memories: ONE },
  http_one: { protocol: 'http', memories: ONE },
} as const;
type Variant = keyof typeof VARIANTS;
const NAMES = Object.keys(VARIANTS) as Variant[]; // its own keys
const CONNECTIONS = 2;
const IN_FLIGHT = 8;
const WORKERS = 2;
const SHARDS = 8;

export const scenario: Scenario = {
  name: 'batch',
  about: 'a thousand grains a call over gRPC and HTTP, beside SQLite FTS5',
  aims: [
    { metric: 'grpc_many_over_sqlite_duties_ratio', atLeast: 2.2 },
    { metric: 'grpc_one_over_sqlite_duties_ratio', atLeast: 1.4 },
    { metric: 'http_many_over_sqlite_duties_ratio', atLeast: 2.2 },
    { metric: 'http_one_over_sqlite_duties_ratio', atLeast: 1.4 },
  ],
  run,
};

interface Turn {
  /** From the first call to the last answer. */
  readonly answeredPerSecond: number;
  /** With what follows the last answer: sealing and merging, or SQLite's checkpoint. */
  readonly perSecond: number;
  /** The server's, for all grains of the round, with sealing and merging. */
  readonly cpu?: CpuSpent | undefined;
}

async function run({ size, profile, start = startServer }: Options): Promise<Measured> {
  const rounds = sized(size, { full: 5, quick: 3, smoke: 1 });
  const calls = sized(size, { full: 64, quick: 16, smoke: 1 });
  const batchGrains = sized(size, { full: BATCH_GRAINS, quick: BATCH_GRAINS, smoke: 20 });
  const grains = calls * batchGrains;
  const looks = sized(size, { full: undefined, quick: undefined, smoke: 0 });
  return inFolder(async (folder) => {
    // One for each variant: merges come in one round of several, and in a shared server one variant would pay for all.
    const servers = new Map<Variant, Target>();
    const client = LoadClient.start();
    const duties = openSqlite(join(folder, 'duties.sqlite'), 'duties');
    const bare = openSqlite(join(folder, 'bare.sqlite'), 'bare');
    try {
      for (const name of NAMES) {
        const server = await start({
          ...{ dataDirectory: join(folder, name), workers: WORKERS, shards: SHARDS, auth: 'api-key', profile },
          isOwn: true,
        });
        servers.set(name, server);
        for (const id of VARIANTS[name].memories) await createMemory(server, id);
      }
      let seed = 1;
      const job = { connections: CONNECTIONS, inFlight: IN_FLIGHT, calls, batchGrains, what: 'batchAdd' } as const;
      const served = (name: Variant): Promise<Turn> =>
        take({ server: servers.get(name)!, client, looks }, { ...job, ...VARIANTS[name], seed: ++seed }, grains); // set above
      const turns = await inTurns<string, Turn>(
        rounds + 1,
        {
          grpc_many: () => served('grpc_many'),
          http_many: () => served('http_many'),
          grpc_one: () => served('grpc_one'),
          http_one: () => served('http_one'),
          sqlite_duties: () => insertedPerSecond(duties, grainSource(++seed).take(grains), batchGrains),
          sqlite_bare: () => insertedPerSecond(bare, grainSource(++seed).take(grains), batchGrains),
        },
        { sqlite_duties: grains, sqlite_bare: grains },
      );
      for (const [name, server] of servers) {
        const stored = await Promise.all(VARIANTS[name].memories.map((id) => grainsHeld(server, id)));
        const sum = stored.reduce((total, one) => total + one, 0);
        const added = (rounds + 1) * grains;
        if (sum !== added) throw new Error(`${name}: ${added} grains were acknowledged, ${sum} are stored`);
      }
      const metrics: Record<string, number> = {};
      // The first round warms up.
      const of = (variant: string, key: 'perSecond' | 'answeredPerSecond'): number[] =>
        turns[variant]!.slice(1).map((turn) => turn[key]);
      for (const variant of NAMES) {
        const cpu = turns[variant]!.slice(1).map((turn) => turn.cpu);
        for (const spent of cpu) cpuTable.add(variant, grains, spent);
        metrics[`${variant}_grains_per_s`] = overall(of(variant, 'perSecond'));
        metrics[`${variant}_answered_grains_per_s`] = overall(of(variant, 'answeredPerSecond'));
        metrics[`${variant}_server_cpu_us_per_grain`] = mean(
          cpu.map((spent) => (spent === undefined ? Number.NaN : totalOf(spent) / grains)),
        );
        for (const peer of ['sqlite_duties', 'sqlite_bare'])
          metrics[`${variant}_over_${peer}_ratio`] = overall(of(variant, 'perSecond')) / overall(of(peer, 'perSecond'));
      }
      for (const peer of ['sqlite_duties', 'sqlite_bare'])
        metrics[`${peer}_grains_per_s`] = overall(of(peer, 'perSecond'));
      const parameters = { batch_grains: batchGrains, grains_a_round: grains, rounds, in_flight: IN_FLIGHT };
      return {
        parameters: { ...parameters, memories: MANY.length, workers: WORKERS, shards: SHARDS, auth: 'api-key' },
        metrics: rounded(metrics),
      };
    } finally {
      client.stop();
      duties.close();
      bare.close();
      for (const server of servers.values()) await server.stop();
    }
  });
}

/**
 * The rate over all rounds, which have as many grains each. A median would leave out the merge that one round in four makes
 * for all of them.
 */
function overall(perSecond: readonly number[]): number {
  return 1 / mean(perSecond.map((rate) => 1 / rate));
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

async function take(
  {
    server,
    client,
    looks,
  }: { readonly server: Target; readonly client: LoadClient; readonly looks: number | undefined },
  job: LoadJob,
  grains: number,
): Promise<Turn> {
  const before = await server.cpu();
  const { seconds } = await client.run(server, job);
  const start = performance.now();
  await flushed(server, job.memories);
  const flushSeconds = (performance.now() - start) / 1_000;
  const settleSeconds = flushSeconds + (await settled(server, looks));
  const after = await server.cpu();
  return {
    answeredPerSecond: grains / seconds,
    perSecond: grains / (seconds + settleSeconds),
    cpu: before && after && spentBetween(before, after),
  };
}
