// Adds over gRPC to three servers in turns: without traces, with an SDK that records one trace in a hundred, and with one
// that records all. Counters run in each of them.
import { join } from 'node:path';
import { cpuTable } from '../lib/cpu-table.ts';
import { inFolder } from '../lib/folder.ts';
import { LoadClient, type ServedLoad } from '../lib/load.ts';
import { type Measured, type Options, type Scenario, sized } from '../lib/scenario.ts';
import { createMemory, startServer, type Target } from '../lib/server.ts';
import { inTurns, median, medianRatio, rounded } from '../lib/statistics.ts';

const WORKERS = 2;
const SHARDS = 8;
const MEMORIES = 8;
const CONNECTIONS = 4;
const IN_FLIGHT = 64;
/** Shares of recorded traces; undefined: no SDK. */
const SHARES = { plain: undefined, some: 0.01, all: 1 } as const;

export const scenario: Scenario = {
  name: 'observed',
  about: 'adds over gRPC with traces beside without',
  aims: [{ metric: 'traced_1_pct_over_plain_ratio', atLeast: 0.98 }],
  run,
};

async function run({ size, profile, start: startOne = startServer }: Options): Promise<Measured> {
  const rounds = sized(size, { full: 9, quick: 5, smoke: 1 });
  const calls = sized(size, { full: 20_000, quick: 10_000, smoke: 64 });
  const warming = sized(size, { full: 80_000, quick: 20_000, smoke: 64 });
  return inFolder(async (folder) => {
    const client = LoadClient.start();
    const started: Target[] = [];
    let seed = 1;
    const opened = async (name: keyof typeof SHARES): Promise<(count: number) => Promise<ServedLoad>> => {
      const options = { workers: WORKERS, shards: SHARDS, profile, auth: 'none' as const, tracedShare: SHARES[name] };
      const target = await startOne({ ...options, dataDirectory: join(folder, name) });
      started.push(target);
      const memories = Array.from({ length: MEMORIES }, (_, i) => `observed-${name}-${i}`);
      for (const id of memories) await createMemory(target, id);
      const job = { protocol: 'grpc' as const, connections: CONNECTIONS, inFlight: IN_FLIGHT, what: 'add' as const };
      return (count) => client.run(target, { ...job, calls: count, memories, seed: ++seed });
    };
    try {
      const [plain, some, all] = [await opened('plain'), await opened('some'), await opened('all')];
      for (const add of [plain, some, all]) await add(warming);
      const turns = await inTurns(rounds, {
        plain: () => plain(calls),
        some: () => some(calls),
        all: () => all(calls),
      });
      for (const [name, loads] of Object.entries(turns))
        for (const { calls: made, serverCpu } of loads) cpuTable.add(name, made, serverCpu);
      const rates = (loads: readonly ServedLoad[]): number[] => loads.map(({ callsPerSecond }) => callsPerSecond);
      const cpu = (loads: readonly ServedLoad[]): number[] => loads.map(({ serverCpuUsPerCall }) => serverCpuUsPerCall);
      return {
        parameters: { calls_a_round: calls, warming_calls: warming, rounds, memories: MEMORIES, in_flight: IN_FLIGHT },
        metrics: rounded({
          plain_calls_per_s: median(rates(turns.plain)),
          traced_1_pct_over_plain_ratio: medianRatio(rates(turns.some), rates(turns.plain)),
          traced_all_over_plain_ratio: medianRatio(rates(turns.all), rates(turns.plain)),
          plain_server_cpu_us_per_call: median(cpu(turns.plain)),
          traced_1_pct_server_cpu_us_per_call: median(cpu(turns.some)),
          traced_all_server_cpu_us_per_call: median(cpu(turns.all)),
        }),
      };
    } finally {
      client.stop();
      await Promise.all(started.map((one) => one.stop()));
    }
  });
}
