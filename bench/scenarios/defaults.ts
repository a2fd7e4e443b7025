// Batches of a thousand grains by HTTP into one memory of a server with every option at its default, so that the
// encoder embeds them meanwhile, and a loop of recalls beside them. SQLite FTS5 with the duties of a grain store
// alternates with it, in this process and alone.
import { join } from 'node:path';
import { cpuTable } from '../lib/cpu-table.ts';
import { englishSource } from '../lib/drawn-vectors.ts';
import { BATCH_GRAINS } from '../lib/engine.ts';
import { inFolder } from '../lib/folder.ts';
import { LoadClient, type LoadJob, type ServedLoad } from '../lib/load.ts';
import type { Measured, Options, Scenario } from '../lib/scenario.ts';
import { sized } from '../lib/scenario.ts';
import { createMemory, flushed, grainsHeld, startServer, type Target } from '../lib/server.ts';
import { insertedPerSecond, openSqlite } from '../lib/sqlite.ts';
import { inTurns, median, medianRatio, rounded } from '../lib/statistics.ts';

const MEMORIES = ['defaults'];
const CONNECTIONS = 2;
const IN_FLIGHT = 8;

export const scenario: Scenario = {
  name: 'defaults',
  about: 'batches by HTTP with every option at its default and recalls beside them, beside SQLite FTS5',
  aims: [
    { metric: 'over_sqlite_duties_ratio', atLeast: 1.2 },
    { metric: 'recall_p99_ms', atMost: 30 },
  ],
  run,
};

interface Turn {
  readonly grainsPerSecond: number;
  readonly added: ServedLoad;
  readonly asked: ServedLoad;
}

async function run({ size, profile, start = startServer }: Options): Promise<Measured> {
  const rounds = sized(size, { full: 5, quick: 3, smoke: 1 });
  const calls = sized(size, { full: 64, quick: 16, smoke: 2 });
  const batchGrains = sized(size, { full: BATCH_GRAINS, quick: BATCH_GRAINS, smoke: 20 });
  /** More than a round has time for. */
  const questions = sized(size, { full: 20_000, quick: 10_000, smoke: 500 });
  const grains = calls * batchGrains;
  return inFolder(async (folder) => {
    const server = await start({
      ...{ dataDirectory: join(folder, 'granary'), workers: 2, shards: 8, auth: 'api-key', allDefaults: true, profile },
    });
    const [adder, asker] = [LoadClient.start(), LoadClient.start()];
    const duties = openSqlite(join(folder, 'duties.sqlite'), 'duties');
    try {
      for (const id of MEMORIES) await createMemory(server, id);
      let seed = 1;
      const common = { english: true, memories: MEMORIES } as const;
      const turns = await inTurns<string, Turn | number>(
        rounds + 1,
        {
          granary: () => {
            const adds = { ...common, protocol: 'http', connections: CONNECTIONS, inFlight: IN_FLIGHT, calls } as const;
            const asks = { ...common, protocol: 'grpc', connections: 1, inFlight: 1, calls: questions } as const;
            return both(server, {
              ...{ adder, asker, grains },
              adds: { ...adds, what: 'batchAdd', batchGrains, seed: ++seed },
              asks: { ...asks, what: 'recall', seed: ++seed },
            });
          },
          duties: () => insertedPerSecond(duties, englishSource(++seed).take(grains), batchGrains).perSecond,
        },
        { duties: { operations: grains, row: 'sqlite_duties' } },
      );
      const held = await grainsHeld(server, MEMORIES[0]!);
      if (held !== grains * (rounds + 1))
        throw new Error(`${grains * (rounds + 1)} grains were sent, ${held} are held`);
      // The first round warms up.
      const own = turns['granary']!.slice(1) as Turn[];
      const sqlite = turns['duties']!.slice(1) as number[];
      const rates = own.map(({ grainsPerSecond }) => grainsPerSecond);
      for (const { added } of own) cpuTable.add('grain with its share of recalls', grains, added.serverCpu);
      return {
        parameters: { batch_grains: batchGrains, grains_a_round: grains, rounds, in_flight: IN_FLIGHT },
        metrics: rounded({
          grains_per_s: median(rates),
          sqlite_duties_grains_per_s: median(sqlite),
          over_sqlite_duties_ratio: medianRatio(rates, sqlite),
          recall_p50_ms: median(own.map(({ asked }) => asked.p50Ms)),
          recall_p99_ms: median(own.map(({ asked }) => asked.p99Ms)),
          recalls_a_round: median(own.map(({ asked }) => asked.calls)),
          server_cpu_us_per_grain: median(own.map(({ added }) => (added.serverCpuUsPerCall * added.calls) / grains)),
        }),
      };
    } finally {
      adder.stop();
      asker.stop();
      duties.close();
      await server.stop();
    }
  });
}

interface Work {
  readonly adder: LoadClient;
  readonly asker: LoadClient;
  readonly grains: number;
  readonly adds: LoadJob;
  readonly asks: LoadJob;
}

/** Until all grains are in sealed indexes; the encoder has more to do then. */
async function both(server: Target, { adder, asker, grains, adds, asks }: Work): Promise<Turn> {
  const started = Promise.withResolvers<void>();
  const asking = asker.run(server, asks, started.resolve);
  await Promise.race([started.promise, asking]);
  const added = await adder.run(server, adds);
  const start = performance.now();
  await flushed(server, MEMORIES);
  const seconds = added.seconds + (performance.now() - start) / 1_000;
  if (!asker.end()) throw new Error(`${asks.calls} recalls took less time than the batches beside them`);
  return { grainsPerSecond: grains / seconds, added, asked: await asking };
}
