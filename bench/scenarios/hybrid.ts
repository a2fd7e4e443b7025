// Recall by words, vectors and context over gRPC from one large memory, every question another one: with the question
// embedded by the server on each runtime, and with a vector that the caller brings; alone, and while grains are added and
// embedded beside it. Grains have vectors drawn near real ones (`drawn-vectors.ts`); questions, and the grains that are added
// beside, go through the encoder. Beside it what no such recall can be quicker than: the encoder alone, and a bare echo.
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { openBuiltinEmbedder } from '../../src/embed/builtin/builtin.ts';
import { hasNativeRuntime, type RuntimeName } from '../../src/embed/builtin/runtime.ts';
import { cpuTable } from '../lib/cpu-table.ts';
import { englishSource } from '../lib/drawn-vectors.ts';
import { inFolder } from '../lib/folder.ts';
import { cacheFolder } from '../lib/kept-vectors.ts';
import { LoadClient, type LoadFigure, type LoadJob, type ServedLoad } from '../lib/load.ts';
import type { Aim, Measured, Options, Scenario } from '../lib/scenario.ts';
import { serverSize, sized } from '../lib/scenario.ts';
import {
  askJson,
  createMemory,
  embedded,
  type ServerOptions,
  settled,
  startEcho,
  startServer,
  type Target,
} from '../lib/server.ts';
import { median, percentile, rounded } from '../lib/statistics.ts';
import { whileAdding } from '../lib/while-adding.ts';

const ASKED = ['asked'];
/** Many, so that few added grains belong to the queried memory: its vectors must not fall behind. */
const MEMORIES = ['asked', ...Array.from({ length: 31 }, (_, i) => `beside-${i}`)];
const RUNTIMES: readonly RuntimeName[] = hasNativeRuntime() ? ['native', 'wasm'] : ['wasm'];
const P50_MS_MAX: Readonly<Record<RuntimeName, number>> = { native: 2.5, wasm: 5 };

export const scenario: Scenario = {
  name: 'hybrid',
  about: 'recall by words and vectors over gRPC from 100,000 grains, alone and while grains are added',
  aims: [
    ...RUNTIMES.flatMap((name): Aim[] => [
      { metric: `${name}_p50_ms`, atMost: P50_MS_MAX[name] },
      { metric: `${name}_p99_ms`, atMost: 10 },
      { metric: `${name}_beside_adds_p99_ms`, atMost: 25 },
      { metric: `${name}_embedded_in_the_end_ratio`, atLeast: 0.95 },
    ]),
    { metric: 'own_vector_p50_ms', atMost: 1.2 },
    { metric: 'own_vector_p99_ms', atMost: 10 },
    { metric: 'server_growth_bytes_per_vector', atMost: 1_229 },
  ],
  run,
};

async function run({ size, profile, start = startServer }: Options): Promise<Measured> {
  const grains = sized(size, { full: 100_000, quick: 30_000, smoke: 100 });
  const rounds = sized(size, { full: 3, quick: 2, smoke: 1 });
  const questions = sized(size, { full: 1_000, quick: 500, smoke: 5 });
  const besideQuestions = sized(size, { full: 400, quick: 200, smoke: 5 });
  const perSecond = sized(size, { full: 2_000, quick: 2_000, smoke: 50 });
  const looks = sized(size, { full: undefined, quick: undefined, smoke: 1 });
  const drawnFrom = sized(size, { full: undefined, quick: undefined, smoke: 8 });
  const folder = cacheFolder();
  const metrics: Record<string, number> = {};
  const adds: number[] = [];
  await inFolder(async (data) => {
    const options = {
      dataDirectory: join(data, 'filled'),
      ...serverSize(size),
      auth: 'api-key',
      isOwn: true,
      profile,
    } as const;
    await fill(start, options, { grains, looks });
    const echo = await startEcho('grpc');
    const asker = LoadClient.start();
    const adder = LoadClient.start();
    const ask = {
      protocol: 'grpc',
      connections: 1,
      inFlight: 1,
      calls: questions,
      what: 'recall',
      english: true,
    } as const;
    let seed = 1;
    const asked = (): LoadJob => ({ ...ask, memories: ASKED, seed: ++seed });
    try {
      const first = await start({
        ...options,
        embedder: { runtime: RUNTIMES[0]!, folder, grains: 'drawn', drawnFrom },
      });
      try {
        const before = first.residentBytes();
        const from = performance.now();
        await embedded(first, ASKED);
        metrics['embedded_s'] = (performance.now() - from) / 1_000;
        await asker.run(first, asked());
        await settled(first, looks);
        const after = first.residentBytes();
        metrics['server_growth_bytes_per_vector'] = ((after ?? Number.NaN) - (before ?? Number.NaN)) / grains;
      } finally {
        await first.stop();
      }
      for (const runtime of RUNTIMES) {
        // Adds on one runtime must not wait for vectors on the next.
        const dataDirectory = join(data, runtime);
        cpSync(options.dataDirectory, dataDirectory, { recursive: true });
        metrics[`${runtime}_encoder_alone_p50_ms`] = await encoderAlone(runtime, folder, questions, ++seed);
        const server = await start({
          ...options,
          dataDirectory,
          embedder: { runtime, folder, grains: 'encoded' },
        });
        try {
          const { p50Ms: firstMs } = await asker.run(server, { ...asked(), calls: 1 });
          metrics[`${runtime}_first_ms`] = firstMs;
          const loads: Record<'alone' | 'beside' | 'own' | 'bare', ServedLoad[]> = {
            alone: [],
            beside: [],
            own: [],
            bare: [],
          };
          for (let round = 0; round <= rounds; round++) {
            loads.bare.push(await asker.run(echo, asked()));
            loads.alone.push(await asker.run(server, asked()));
            loads.own.push(await asker.run(server, { ...asked(), vectorsFrom: folder }));
            await settled(server, looks);
          }
          for (let round = 0; round <= rounds; round++)
            adds.push(
              await whileAdding(
                { server, adder },
                { perSecond, seed: ++seed, memories: MEMORIES, english: true },
                async () => {
                  loads.beside.push(await asker.run(server, { ...asked(), calls: besideQuestions }));
                },
              ),
            );
          metrics[`${runtime}_embedded_in_the_end_ratio`] = await embeddedShare(server);
          // The first round warms up.
          const of = (name: keyof typeof loads, key: LoadFigure): number =>
            median(loads[name].slice(1).map((one) => one[key]));
          metrics[`${runtime}_p50_ms`] = of('alone', 'p50Ms');
          metrics[`${runtime}_p99_ms`] = of('alone', 'p99Ms');
          metrics[`${runtime}_server_cpu_us_per_call`] = of('alone', 'serverCpuUsPerCall');
          metrics[`${runtime}_beside_adds_p50_ms`] = of('beside', 'p50Ms');
          metrics[`${runtime}_beside_adds_p99_ms`] = of('beside', 'p99Ms');
          metrics['own_vector_p50_ms'] = of('own', 'p50Ms');
          metrics['own_vector_p99_ms'] = of('own', 'p99Ms');
          metrics['own_vector_server_cpu_us_per_call'] = of('own', 'serverCpuUsPerCall');
          metrics['echo_p50_ms'] = of('bare', 'p50Ms');
          for (const { calls, serverCpu } of loads.alone.slice(1)) cpuTable.add(runtime, calls, serverCpu);
          for (const { calls, serverCpu } of loads.own.slice(1)) cpuTable.add('own_vector', calls, serverCpu);
        } finally {
          await server.stop();
        }
      }
    } finally {
      asker.stop();
      adder.stop();
      await echo.stop();
    }
  });
  metrics['adds_per_s'] = median(adds);
  return {
    parameters: { grains, questions, rounds, adds_per_s: perSecond, runtimes: RUNTIMES.join(' ') },
    metrics: rounded(metrics),
  };
}

/** Below 0.95 answers would warn that vectors are missing. */
async function embeddedShare(server: Target): Promise<number> {
  const { total_grains: grains, vectors } = await askJson(server, 'GET', `/memories/${ASKED[0]}/stats`);
  return Number(vectors) / Number(grains);
}

/** Grains without vectors: the growth of the process when they are embedded is the vectors' memory. */
async function fill(
  start: typeof startServer,
  options: ServerOptions,
  { grains, looks }: { readonly grains: number; readonly looks: number | undefined },
): Promise<void> {
  const server = await start(options);
  const filler = LoadClient.start();
  try {
    for (const id of MEMORIES) await createMemory(server, id);
    const batchGrains = Math.min(grains, 1_000);
    const job = { protocol: 'grpc', connections: 1, inFlight: 4, memories: ASKED, seed: 1, english: true } as const;
    await filler.run(server, { ...job, what: 'batchAdd', batchGrains, calls: grains / batchGrains });
    await settled(server, looks);
  } finally {
    filler.stop();
    await server.stop();
  }
}

/** Median milliseconds of such a question. */
async function encoderAlone(runtime: RuntimeName, folder: string, count: number, seed: number): Promise<number> {
  const encoder = openBuiltinEmbedder({ cacheFolder: join(folder, 'models'), runtime });
  const source = englishSource(seed);
  const times: number[] = [];
  try {
    await encoder.load();
    for (let i = 0; i < count; i++) {
      const start = performance.now();
      await encoder.embed([source.question()], { priority: 'query' });
      times.push(performance.now() - start);
    }
  } finally {
    await encoder.close();
  }
  return percentile(times, 0.5);
}
