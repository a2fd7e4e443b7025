// Recall by words over gRPC from one large memory, one question after another, alone and while another process adds
// grains at steady rates, to the queried memory and to others on all shards. Compared with the round trip of a bare
// echo, the lower bound of any recall.
import { cpuTable } from '../lib/cpu-table.ts';
import { inFolder } from '../lib/folder.ts';
import { LoadClient, type LoadFigure, type LoadJob, type ServedLoad } from '../lib/load.ts';
import type { Measured, Options, Scenario } from '../lib/scenario.ts';
import { sized } from '../lib/scenario.ts';
import { createMemory, grainsHeld, settled, startEcho, startServer } from '../lib/server.ts';
import { median, rounded } from '../lib/statistics.ts';
import { whileAdding } from '../lib/while-adding.ts';

const ASKED = ['asked'];
const MEMORIES = ['asked', ...Array.from({ length: 7 }, (_, i) => `beside-${i}`)];
const WORKERS = 2;
const SHARDS = 8;
/** Adds per second during the questions; the aims are for the last. */
const RATES = [1_000, 2_000, 5_000];
/** Questions during adds stop after this time: a machine near its limit answers late. */
const ASKING_S = 15;

export const scenario: Scenario = {
  name: 'serve',
  about: 'recall by words over gRPC, alone and while grains are added beside it',
  aims: [
    { metric: 'alone_p50_ms', atMost: 0.9 },
    { metric: 'beside_adds_p99_ms', atMost: 6 },
  ],
  run,
};

async function run({ size, profile, start = startServer }: Options): Promise<Measured> {
  const grains = sized(size, { full: 100_000, quick: 30_000, smoke: 100 });
  const rounds = sized(size, { full: 3, quick: 2, smoke: 1 });
  const questions = sized(size, { full: 4_000, quick: 1_500, smoke: 10 });
  const rates = sized(size, { full: RATES, quick: RATES, smoke: [50] });
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
      const bare: ServedLoad[] = [];
      const duringAdds = rates.map((): ServedLoad[] => []);
      const added = rates.map((): number[] => []);
      let seed = 1;
      /** Questions that were not asked before. */
      const asked = (): LoadJob => ({ ...ask, memories: ASKED, seed: ++seed });
      for (let round = 0; round <= rounds; round++) {
        bare.push(await asker.run(echo, asked()));
        alone.push(await asker.run(server, asked()));
        for (const [at, perSecond] of rates.entries()) {
          const adds = { perSecond, seed: ++seed, memories: MEMORIES };
          const perRound = await whileAdding({ server, adder }, adds, async () => {
            duringAdds[at]!.push(await asker.run(server, { ...asked(), seconds: ASKING_S }));
          });
          added[at]!.push(perRound);
          await settled(server, looks);
        }
      }
      // The first round warms up.
      for (const { calls, serverCpu } of alone.slice(1)) cpuTable.add('recall alone', calls, serverCpu);
      for (const { calls, serverCpu } of bare.slice(1)) cpuTable.add('echo', calls, serverCpu);
      for (const [at, loads] of duringAdds.entries())
        for (const { calls, serverCpu } of loads.slice(1))
          cpuTable.add(`recall with its share of ${rates[at]} adds/s`, calls, serverCpu);
      const of = (loads: readonly ServedLoad[], key: LoadFigure): number =>
        median(loads.slice(1).map((one) => one[key]));
      const besideRates = rates.flatMap((rate, at) => {
        const name = rate === rates.at(-1) ? 'beside_adds' : `beside_${rate}_adds`;
        return [
          [`${name}_p50_ms`, of(duringAdds[at]!, 'p50Ms')],
          [`${name}_p99_ms`, of(duringAdds[at]!, 'p99Ms')],
          [`${name}_per_s`, median(added[at]!.slice(1))],
          [`${name}_questions`, of(duringAdds[at]!, 'calls')],
        ] as const;
      });
      return {
        parameters: { grains, questions, rounds, adds_per_s: rates.at(-1)!, workers: WORKERS, shards: SHARDS },
        metrics: rounded({
          ...Object.fromEntries(besideRates),
          alone_p50_ms: of(alone, 'p50Ms'),
          alone_p99_ms: of(alone, 'p99Ms'),
          alone_calls_per_s: of(alone, 'callsPerSecond'),
          alone_server_cpu_us_per_call: of(alone, 'serverCpuUsPerCall'),
          echo_p50_ms: of(bare, 'p50Ms'),
          echo_p99_ms: of(bare, 'p99Ms'),
          reply_bytes_mean: of(alone, 'replyBytes') / questions,
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
