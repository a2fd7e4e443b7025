// Recall by words over gRPC from one large memory, one question after another, alone and while grains are added at a
// steady rate by another process: to the memory that is asked and to others on all shards. Beside it the round trip of
// the barest echo: what no recall can be quicker than.
import { inFolder } from '../lib/folder.ts';
import { LoadClient, type ServedLoad } from '../lib/load.ts';
import type { Measured, Options, Scenario } from '../lib/scenario.ts';
import { sized } from '../lib/scenario.ts';
import { createMemory, grainsHeld, settled, startEcho, startServer } from '../lib/server.ts';
import { median, rounded } from '../lib/statistics.ts';
import { whileAdding } from '../lib/while-adding.ts';

const ASKED = ['asked'];
const MEMORIES = ['asked', ...Array.from({ length: 7 }, (_, i) => `beside-${i}`)];
const WORKERS = 2;
const SHARDS = 8;

export const scenario: Scenario = {
  name: 'serve',
  about: 'recall by words over gRPC, alone and while grains are added beside it',
  aims: [
    { metric: 'beside_adds_p50_ms', atMost: 0.8 },
    { metric: 'beside_adds_p99_ms', atMost: 3 },
  ],
  run,
};

async function run({ size, profile, start = startServer }: Options): Promise<Measured> {
  const grains = sized(size, { full: 100_000, quick: 30_000, smoke: 100 });
  const rounds = sized(size, { full: 3, quick: 2, smoke: 1 });
  const questions = sized(size, { full: 4_000, quick: 1_500, smoke: 10 });
  const addsPerSecond = sized(size, { full: 5_000, quick: 5_000, smoke: 50 });
  const looks = sized(size, { full: undefined, quick: undefined, smoke: 1 });
  const batchGrains = Math.min(grains, 1_000);
  return inFolder(async (folder) => {
    const options = { dataDirectory: folder, workers: WORKERS, shards: SHARDS, auth: 'api-key' as const, profile };
    const server = await start(options);
    const echo = await startEcho('grpc');
    const asker = LoadClient.start();
    const adder = LoadClient.start();
    try {
      for (const id of MEMORIES) await createMemory(server, id);
      const fill = { protocol: 'grpc', connections: 1, inFlight: 4, memories: ASKED, seed: 1 } as const;
      await asker.run(server, { ...fill, what: 'batchAdd', batchGrains, calls: grains / batchGrains });
      await settled(server, looks);
      const ask = { protocol: 'grpc', connections: 1, inFlight: 1, calls: questions, what: 'recall' } as const;
      const alone: ServedLoad[] = [];
      const beside: ServedLoad[] = [];
      const bare: ServedLoad[] = [];
      const adds: number[] = [];
      let seed = 1;
      for (let round = 0; round <= rounds; round++) {
        const asked = { ...ask, memories: ASKED, seed: ++seed };
        bare.push(await asker.run(echo, asked));
        alone.push(await asker.run(server, asked));
        adds.push(
          await whileAdding(
            { server, adder },
            { perSecond: addsPerSecond, seed: ++seed, memories: MEMORIES },
            async () => {
              beside.push(await asker.run(server, asked));
            },
          ),
        );
        await settled(server, looks);
      }
      // The first round warms up.
      const of = (loads: readonly ServedLoad[], key: keyof ServedLoad): number =>
        median(loads.slice(1).map((one) => one[key]));
      return {
        parameters: { grains, questions, rounds, adds_per_s: addsPerSecond, workers: WORKERS, shards: SHARDS },
        metrics: rounded({
          beside_adds_p50_ms: of(beside, 'p50Ms'),
          beside_adds_p99_ms: of(beside, 'p99Ms'),
          alone_p50_ms: of(alone, 'p50Ms'),
          alone_p99_ms: of(alone, 'p99Ms'),
          alone_calls_per_s: of(alone, 'callsPerSecond'),
          alone_server_cpu_us_per_call: of(alone, 'serverCpuUsPerCall'),
          echo_p50_ms: of(bare, 'p50Ms'),
          echo_p99_ms: of(bare, 'p99Ms'),
          reply_bytes_mean: of(alone, 'replyBytes') / questions,
          adds_per_s: median(adds.slice(1)),
          grains_of_asked: await grainsHeld(server, 'asked'),
        }),
      };
    } finally {
      asker.stop();
      adder.stop();
      await Promise.all([server.stop(), echo.stop()]);
    }
  });
}
