// Adds one grain per call, end to end: durable and searchable when answered, over gRPC and over HTTP, each compared
// with a bare echo of its transport. Eight memories on eight shards, each with a log to commit, then one memory, then
// eight on a server without worker threads. A separate process sends distinct grains made beforehand; server and echo take turns. One at a time is compared with a
// write to a plain file and its sync.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AddRequest } from '../../src/server/gen/memory/v1/memory.ts';
import { loadUws } from '../../src/server/http/uws-loader.ts';
import { cpuTable } from '../lib/cpu-table.ts';
import { inFolder } from '../lib/folder.ts';
import { grainSource } from '../lib/grains.ts';
import { framed } from '../lib/grpc-client.ts';
import { LoadClient, type LoadFigure, type LoadJob, type ServedLoad } from '../lib/load.ts';
import { syncTimes } from '../lib/plain-file.ts';
import type { Measured, Options, Scenario, Size } from '../lib/scenario.ts';
import { sized } from '../lib/scenario.ts';
import { createMemory, grainsHeld, startEcho, startServer, type Target } from '../lib/server.ts';
import { inTurns, median, medianRatio, percentile, rounded } from '../lib/statistics.ts';

const MEMORIES = Array.from({ length: 8 }, (_, i) => `add-${i}`);
const ONE = ['add-one'];
const CONNECTIONS = 4;
const WORKERS = 2;
const SHARDS = 8;
const WARMING_CALLS = 30_000;

export const scenario: Scenario = {
  name: 'add',
  about: 'one grain a call over gRPC and HTTP, beside bare echoes',
  aims: [
    { metric: 'grpc_1_over_sync_ms', atMost: 0.35 },
    { metric: 'grpc_64_over_echo_ratio', atLeast: 0.7 },
    { metric: 'grpc_256_over_echo_ratio', atLeast: 0.7 },
    { metric: 'grpc_64_one_memory_over_echo_ratio', atLeast: 0.7 },
    { metric: 'grpc_256_one_memory_over_echo_ratio', atLeast: 0.7 },
    { metric: 'grpc_64_no_auth_over_echo_ratio', atLeast: 0.7 },
    { metric: 'grpc_256_no_auth_over_echo_ratio', atLeast: 0.7 },
    { metric: 'grpc_64_server_cpu_us_per_call', atMost: 75 },
    { metric: 'grpc_256_server_cpu_us_per_call', atMost: 75 },
    { metric: 'http_64_over_echo_ratio', atLeast: 0.5 },
    { metric: 'http_256_over_echo_ratio', atLeast: 0.5 },
  ],
  run,
};

type Protocol = LoadJob['protocol'];

async function run({ size, profile, start: startOne = startServer }: Options): Promise<Measured> {
  const rounds = sized(size, { full: 5, quick: 3, smoke: 1 });
  const calls = sized(size, { full: 20_000, quick: 10_000, smoke: 64 });
  /** Of each protocol: V8 compiles the code of a server's three threads for seconds of calls. */
  const warming = sized(size, { full: WARMING_CALLS, quick: 10_000, smoke: 64 });
  if (size === 'quick') console.error(`add: only ${warming} calls of ${WARMING_CALLS} warm up`);
  const syncs = sized(size, { full: 500, quick: 200, smoke: 5 });
  const inFlights = sized(size, { full: [1, 64, 256], quick: [64, 256], smoke: [64, 256] });
  const protocols: readonly Protocol[] = 'reason' in loadUws() ? ['grpc'] : ['grpc', 'http'];
  const metrics: Record<string, number> = {};
  await inFolder(async (folder) => {
    const client = LoadClient.start();
    const started: Target[] = [];
    const start = async (target: Promise<Target>): Promise<Target> => {
      started.push(await target);
      return target;
    };
    try {
      const options = { workers: WORKERS, shards: SHARDS, profile };
      const own = await start(startOne({ ...options, dataDirectory: join(folder, 'keyed'), auth: 'api-key' }));
      const open = await start(startOne({ ...options, dataDirectory: join(folder, 'open'), auth: 'none' }));
      // Not shared with other scenarios, whose servers have workers.
      const local = await start(
        startOne({ ...options, workers: 0, isOwn: true, dataDirectory: join(folder, 'local'), auth: 'api-key' }),
      );
      for (const server of [own, open, local]) for (const id of [...MEMORIES, ...ONE]) await createMemory(server, id);
      let added = 0;
      let seed = 1;
      for (const protocol of protocols) {
        const bare = await start(startEcho(protocol));
        if (protocol === 'grpc') Object.assign(metrics, h2load(bare.grpc, folder, size));
        for (const server of [own, open, local, bare]) {
          const job = { protocol, connections: CONNECTIONS, inFlight: 64, calls: warming, memories: MEMORIES };
          await client.run(server, { ...job, what: 'add', seed: ++seed });
        }
        added += warming;
        for (const inFlight of inFlights) {
          // One at a time takes long.
          const count = inFlight === 1 ? Math.ceil(calls / 10) : calls;
          const call = (target: Target, memories: readonly string[]): Promise<ServedLoad> =>
            client.run(target, {
              ...{ protocol, connections: CONNECTIONS, inFlight, calls: count, what: 'add', memories },
              seed: ++seed,
            });
          const turns = await inTurns(rounds + 1, {
            own: () => call(own, MEMORIES),
            ownOne: () => call(own, ONE),
            ownOpen: () => call(open, MEMORIES),
            local: () => call(local, MEMORIES),
            bare: () => call(bare, MEMORIES),
          });
          added += 2 * count * (rounds + 1);
          // The first round warms up.
          const echo = turns.bare.slice(1);
          const name = `${protocol}_${inFlight}`;
          Object.assign(metrics, compared(name, turns.own.slice(1), echo));
          Object.assign(metrics, compared(`${name}_one_memory`, turns.ownOne.slice(1), echo));
          Object.assign(metrics, compared(`${name}_no_auth`, turns.ownOpen.slice(1), echo));
          Object.assign(metrics, compared(`${name}_no_workers`, turns.local.slice(1), echo));
          metrics[`${name}_no_workers_over_workers_ratio`] = medianRatio(
            figures(turns.local, 'callsPerSecond').slice(1),
            figures(turns.own, 'callsPerSecond').slice(1),
          );
          Object.assign(metrics, echoed(`${name}_echo`, echo));
        }
        if (protocol === 'grpc') {
          const count = Math.ceil(calls / 50);
          const job = { protocol, connections: 1, inFlight: 1, calls: count, what: 'add', memories: MEMORIES } as const;
          const { sync, alone, aloneLocal } = await inTurns<'sync' | 'alone' | 'aloneLocal', number>(rounds + 1, {
            sync: () => percentile(syncTimes(join(folder, 'plain'), syncs), 0.5),
            alone: async () => (await client.run(own, { ...job, seed: ++seed })).p50Ms,
            aloneLocal: async () => (await client.run(local, { ...job, seed: ++seed })).p50Ms,
          });
          added += count * (rounds + 1);
          const overSync = (times: readonly number[]): number =>
            median(times.map((ms, round) => ms - sync[round]!).slice(1));
          metrics['sync_p50_ms'] = median(sync.slice(1));
          metrics['grpc_1_over_sync_ms'] = overSync(alone);
          metrics['grpc_1_no_workers_over_sync_ms'] = overSync(aloneLocal);
        }
        await bare.stop();
      }
      const stored = await Promise.all([...MEMORIES, ...ONE].map((id) => grainsHeld(own, id)));
      const sum = stored.reduce((total, one) => total + one, 0);
      if (sum !== added) throw new Error(`${added} grains were acknowledged, ${sum} are stored`);
    } finally {
      client.stop();
      await Promise.all(started.map((one) => one.stop()));
    }
  });
  return {
    parameters: {
      calls_a_round: calls,
      warming_calls: warming,
      rounds,
      memories: MEMORIES.length,
      workers: WORKERS,
      shards: SHARDS,
    },
    metrics: rounded(metrics),
  };
}

function figures(loads: readonly ServedLoad[], key: LoadFigure): number[] {
  return loads.map((one) => one[key]);
}

function compared(name: string, own: readonly ServedLoad[], bare: readonly ServedLoad[]): Record<string, number> {
  for (const { calls, serverCpu } of own) cpuTable.add(name, calls, serverCpu);
  return {
    [`${name}_calls_per_s`]: median(figures(own, 'callsPerSecond')),
    [`${name}_over_echo_ratio`]: medianRatio(figures(own, 'callsPerSecond'), figures(bare, 'callsPerSecond')),
    [`${name}_p50_ms`]: median(figures(own, 'p50Ms')),
    [`${name}_p99_ms`]: median(figures(own, 'p99Ms')),
    [`${name}_server_cpu_us_per_call`]: median(figures(own, 'serverCpuUsPerCall')),
  };
}

function echoed(name: string, bare: readonly ServedLoad[]): Record<string, number> {
  for (const { calls, serverCpu } of bare) cpuTable.add(name, calls, serverCpu);
  return {
    [`${name}_calls_per_s`]: median(figures(bare, 'callsPerSecond')),
    [`${name}_p50_ms`]: median(figures(bare, 'p50Ms')),
    [`${name}_server_cpu_us_per_call`]: median(figures(bare, 'serverCpuUsPerCall')),
    [`${name}_client_cpu_us_per_call`]: median(figures(bare, 'cpuUsPerCall')),
  };
}

/** The echo under h2load with one body. If it is faster than under our client, our client is the bottleneck. */
function h2load(port: number, folder: string, size: Size): Record<string, number> {
  if (spawnSync('h2load', ['--version']).status !== 0) {
    console.error('add: h2load (Debian: nghttp2-client) is not installed: the client is not checked against it');
    return {};
  }
  const [item] = grainSource(0).take(1);
  const message = AddRequest.fromPartial({ grainType: 'belief', fieldsJson: JSON.stringify(item?.fields) });
  const body = join(folder, 'h2load-body');
  writeFileSync(body, framed(AddRequest.encode(message).finish()));
  const calls = sized(size, { full: 60_000, quick: 20_000, smoke: 200 });
  const headers = ['-H', 'content-type: application/grpc', '-H', 'te: trailers'];
  const shape = ['-n', String(calls), '-c', String(CONNECTIONS), '-m', '16', '-t', '1'];
  const url = `http://127.0.0.1:${port}/memory.v1.MemoryService/Add`;
  const { stdout } = spawnSync('h2load', [...shape, ...headers, '-d', body, url], { encoding: 'utf8' });
  const perSecond = /, ([\d.]+) req\/s/.exec(stdout)?.[1];
  if (perSecond === undefined) throw new Error(`h2load said:\n${stdout}`);
  return { h2load_grpc_64_echo_calls_per_s: Number(perSecond) };
}
