// Cost and rate of embedding in the background: texts per second of a server's backlog compared with the encoder alone
// on the same texts, and adds and recalls per second while the encoder works compared with a server without one. The
// recalls ask a memory without vectors, so that the encoder reads no question.
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { openBuiltinEmbedder } from '../../src/embed/builtin/builtin.ts';
import { hasNativeRuntime, type RuntimeName } from '../../src/embed/builtin/runtime.ts';
import { windowsOf } from '../../src/embed/windows.ts';
import { FOLLOW_PAGE_GRAINS } from '../../src/engine/base/limits.ts';
import { cpuTable } from '../lib/cpu-table.ts';
import { englishSource, textOf } from '../lib/drawn-vectors.ts';
import { inFolder } from '../lib/folder.ts';
import { cacheFolder } from '../lib/kept-vectors.ts';
import { LoadClient, type LoadJob } from '../lib/load.ts';
import type { Measured, Options, Scenario } from '../lib/scenario.ts';
import { serverSize, sized } from '../lib/scenario.ts';
import { createMemory, embedded, lagOf, type ServerOptions, settled, startServer } from '../lib/server.ts';
import { inTurns, median, medianRatio, rounded } from '../lib/statistics.ts';

type Start = typeof startServer;

const WAITING = 'waiting';
const ASKED = 'asked';
const ASKED_GRAINS = 2_000;
const ADDED = Array.from({ length: 8 }, (_, i) => `added-${i}`);
const SEED = 1;

export const scenario: Scenario = {
  name: 'backlog',
  about: "a server's embedding in the background beside the encoder alone, and adds while it works",
  aims: [
    { metric: 'backlog_over_encoder_ratio', atLeast: 0.9 },
    { metric: 'adds_while_embedding_ratio', atLeast: 0.9 },
    { metric: 'recalls_while_embedding_ratio', atLeast: 0.9 },
    // Of one core, by CPU, so that it holds on a shared machine too.
    { metric: 'encoder_core_beside_adds_ratio', atMost: 0.1 },
    { metric: 'encoder_core_beside_recalls_ratio', atMost: 0.1 },
  ],
  run,
};

async function run({ size, profile, start = startServer }: Options): Promise<Measured> {
  const runtime: RuntimeName = hasNativeRuntime() ? 'native' : 'wasm';
  const texts = sized(size, { full: 2_000, quick: 600, smoke: 8 });
  const rounds = sized(size, { full: 3, quick: 2, smoke: 1 });
  const calls = sized(size, { full: 40_000, quick: 15_000, smoke: 50 });
  const looks = sized(size, { full: undefined, quick: undefined, smoke: 1 });
  const folder = cacheFolder();
  const client = LoadClient.start();
  try {
    return await inFolder(async (data) => {
      const options = { ...serverSize(size), auth: 'api-key', isOwn: true, profile } as const;
      const embedder = { runtime, folder, grains: 'encoded' } as const;
      const filled = join(data, 'filled');
      // The backlog must outlast a round of adds.
      const waiting = Math.max(texts, sized(size, { full: 20_000, quick: 10_000, smoke: 8 }));
      for (const count of new Set([texts, waiting]))
        await fill(start, { ...options, dataDirectory: join(filled, String(count)) }, { client, count, looks });
      let made = 0;
      const copy = (count: number): string => {
        const dataDirectory = join(data, `round-${made++}`);
        cpSync(join(filled, String(count)), dataDirectory, { recursive: true });
        return dataDirectory;
      };
      const figures = await inTurns(rounds, {
        encoder: () => encoderAlone(runtime, folder, texts),
        backlog: () => backlog(start, { ...options, dataDirectory: copy(texts), embedder }, texts),
      });
      const adds: LoadJob = {
        protocol: 'grpc',
        connections: 4,
        inFlight: 64,
        calls,
        what: 'add',
        memories: ADDED,
        english: true,
        seed: 2,
      };
      const recalls: LoadJob = { ...adds, what: 'recall', memories: [ASKED], inFlight: 8, calls: Math.ceil(calls / 4) };
      const asked = { adds, recalls };
      const loads = await inTurns(rounds, {
        plain: () => callsPerSecond(start, { ...options, dataDirectory: copy(waiting) }, { client, asked }),
        beside: () => callsPerSecond(start, { ...options, dataDirectory: copy(waiting), embedder }, { client, asked }),
      });
      const of = (side: 'plain' | 'beside', what: keyof typeof asked): number[] => loads[side].map((one) => one[what]);
      return {
        parameters: { texts, waiting, adds: calls, in_flight: 64, rounds, runtime },
        metrics: rounded({
          backlog_over_encoder_ratio: medianRatio(figures.backlog, figures.encoder),
          encoder_alone_texts_per_s: median(figures.encoder),
          backlog_texts_per_s: median(figures.backlog),
          adds_while_embedding_ratio: medianRatio(of('beside', 'adds'), of('plain', 'adds')),
          adds_per_s: median(of('plain', 'adds')),
          adds_while_embedding_per_s: median(of('beside', 'adds')),
          recalls_while_embedding_ratio: medianRatio(of('beside', 'recalls'), of('plain', 'recalls')),
          recalls_per_s: median(of('plain', 'recalls')),
          recalls_while_embedding_per_s: median(of('beside', 'recalls')),
          encoder_core_beside_adds_ratio: median(loads.beside.map(({ addsCore }) => addsCore)),
          encoder_core_beside_recalls_ratio: median(loads.beside.map(({ recallsCore }) => recallsCore)),
          embedded_meanwhile: median(loads.beside.map(({ embeddedMeanwhile }) => embeddedMeanwhile)),
        }),
      };
    });
  } finally {
    client.stop();
  }
}

/** Grains that wait for vectors, and the memories that take the added grains. */
async function fill(
  start: Start,
  options: ServerOptions,
  { client, count, looks }: { readonly client: LoadClient; readonly count: number; readonly looks: number | undefined },
): Promise<void> {
  const server = await start(options);
  try {
    for (const id of [WAITING, ...ADDED]) await createMemory(server, id);
    await createMemory(server, ASKED, { vector_backend: 'none' });
    const batchGrains = Math.min(count, 200);
    const job = {
      protocol: 'grpc',
      connections: 1,
      inFlight: 4,
      memories: [WAITING],
      seed: SEED,
      english: true,
    } as const;
    const all = { ...job, what: 'batchAdd', batchGrains } as const;
    await client.run(server, { ...all, calls: count / batchGrains });
    await client.run(server, {
      ...all,
      memories: [ASKED],
      calls: Math.ceil(Math.min(count, ASKED_GRAINS) / batchGrains),
    });
    await settled(server, looks);
  } finally {
    await server.stop();
  }
}

/**
 * Texts per second of the encoder in its thread, given the windows of as many grains at once as the server gives it.
 */
async function encoderAlone(runtime: RuntimeName, folder: string, count: number): Promise<number> {
  const encoder = openBuiltinEmbedder({ cacheFolder: join(folder, 'models'), runtime });
  const texts = englishSource(SEED).take(count).map(textOf);
  try {
    await encoder.load();
    const start = performance.now();
    for (let at = 0; at < count; at += FOLLOW_PAGE_GRAINS)
      await encoder.embed(texts.slice(at, at + FOLLOW_PAGE_GRAINS).flatMap((text) => windowsOf(text)));
    return (count * 1_000) / (performance.now() - start);
  } finally {
    await encoder.close();
  }
}

async function backlog(start: Start, options: ServerOptions, count: number): Promise<number> {
  const server = await start(options);
  try {
    const from = performance.now();
    await embedded(server, [WAITING]);
    return (count * 1_000) / (performance.now() - from);
  } finally {
    await server.stop();
  }
}

type Asked = Readonly<Record<'adds' | 'recalls', LoadJob>>;

/** Of adds and of recalls, what the encoder's thread took of a core beside each, and the texts that were embedded meanwhile. */
async function callsPerSecond(
  start: Start,
  options: ServerOptions,
  { client, asked }: { readonly client: LoadClient; readonly asked: Asked },
): Promise<Record<keyof Asked | 'addsCore' | 'recallsCore' | 'embeddedMeanwhile', number>> {
  const server = await start(options);
  try {
    const found = { adds: 0, recalls: 0, addsCore: 0, recallsCore: 0, embeddedMeanwhile: await lagOf(server, WAITING) };
    for (const [name, job] of Object.entries(asked) as [keyof Asked, LoadJob][]) {
      await client.run(server, { ...job, calls: Math.ceil(job.calls / 4), seed: job.seed + 1 });
      const { calls, seconds, serverCpu, callsPerSecond } = await client.run(server, job);
      cpuTable.add(options.embedder === undefined ? name : `${name}_while_embedding`, calls, serverCpu);
      found[name] = callsPerSecond;
      found[`${name}Core`] = (serverCpu?.helpers ?? Number.NaN) / (seconds * 1e6);
    }
    found.embeddedMeanwhile -= await lagOf(server, WAITING);
    return found;
  } finally {
    await server.stop();
  }
}
