// Recall by words and vectors compared with LanceDB (its hybrid search, fused by its own RRF) and SQLite (FTS5 and
// sqlite-vec, fused by RRF): latency over the same grains with the same vectors, and relevance on the judged abstracts
// with the vectors of the built-in encoder. The peers run in this process; the server is queried over gRPC. All receive
// the question's vector.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { BUILTIN_INT8_NAME, openBuiltinEmbedder } from '../../src/embed/builtin/builtin.ts';
import { ENCODER_DIMENSIONS } from '../../src/embed/builtin/graph.ts';
import { hasNativeRuntime, type RuntimeName } from '../../src/embed/builtin/runtime.ts';
import { windowsOf } from '../../src/embed/windows.ts';
import { defined } from '../../src/engine/base/defined.ts';
import { englishSource, keptDrawnVectors, textOf } from '../lib/drawn-vectors.ts';
import { inFolder } from '../lib/folder.ts';
import { abstracts, type Collection, DEPTH, missingData, quality } from '../lib/judged.ts';
import { importCorpus, recallAll } from '../lib/judged-client.ts';
import { cacheFolder, keeping } from '../lib/kept-vectors.ts';
import { LoadClient, type LoadJob } from '../lib/load.ts';
import { HOW_TO_INSTALL, installedPeers } from '../lib/peers/installed.ts';
import { loadAll, type PeerKind, type PeerName, type PeerRow } from '../lib/peers/peer.ts';
import type { Aim, Measured, Options, Scenario, Skipped } from '../lib/scenario.ts';
import { sized } from '../lib/scenario.ts';
import { createMemory, embedded, settled, startServer } from '../lib/server.ts';
import { median, percentile, rounded } from '../lib/statistics.ts';

const MEMORY = 'asked';
const SEED = 1;
const QUESTIONS_SEED = 2;
// Those that rank by words and vectors in this process.
const INSTALLED: Partial<Record<PeerName, PeerKind>> = (({ sqlite, lancedb }) => defined({ lancedb, sqlite }))(
  installedPeers(),
);
// Object.keys loses the type of the keys.
const NAMES = Object.keys(INSTALLED) as PeerName[];

export const scenario: Scenario = {
  name: 'peers',
  about: 'recall by words and vectors beside LanceDB and SQLite: latency, and what is found',
  aims: NAMES.flatMap((name): Aim[] => [
    { metric: `${name}_over_granary_p50_ratio`, atLeast: 1 },
    { metric: `granary_over_${name}_ndcg_at_10_ratio`, atLeast: 1 },
  ]),
  run,
};

async function run({ size, profile }: Options): Promise<Measured | Skipped> {
  if (NAMES.length === 0) return { skipped: `no peer is installed (${HOW_TO_INSTALL})` };
  const skipped = missingData();
  if (skipped !== undefined) return { skipped };
  const grains = sized(size, { full: 100_000, quick: 20_000, smoke: 300 });
  const questions = sized(size, { full: 300, quick: 100, smoke: 5 });
  const runtime: RuntimeName = hasNativeRuntime() ? 'native' : 'wasm';
  const folder = cacheFolder();
  const metrics: Record<string, number> = {};
  await inFolder(async (data) => {
    const options = { workers: 2, shards: 8, auth: 'api-key', profile } as const;
    const server = await startServer({
      ...options,
      dataDirectory: join(data, 'granary'),
      embedder: { runtime, folder, grains: 'drawn' },
    });
    const client = LoadClient.start();
    try {
      await createMemory(server, MEMORY);
      const batchGrains = Math.min(grains, 1_000);
      const job = { protocol: 'grpc', connections: 1, memories: [MEMORY], english: true } as const;
      const added = {
        ...job,
        inFlight: 4,
        what: 'batchAdd',
        batchGrains,
        calls: grains / batchGrains,
        seed: SEED,
      } as const;
      await client.run(server, added);
      await embedded(server, [MEMORY]);
      const asked: LoadJob = {
        ...job,
        inFlight: 1,
        what: 'recall',
        calls: questions,
        seed: QUESTIONS_SEED,
        vectorsFrom: folder,
      };
      await client.run(server, { ...asked, seed: QUESTIONS_SEED + 1 });
      await settled(server, size === 'smoke' ? 1 : undefined);
      const loads = [];
      for (let round = 0; round < 3; round++) loads.push(await client.run(server, asked));
      metrics['granary_p50_ms'] = median(loads.map(({ p50Ms }) => p50Ms));
      metrics['granary_p99_ms'] = median(loads.map(({ p99Ms }) => p99Ms));
    } finally {
      client.stop();
      await server.stop();
    }
    const draw = keptDrawnVectors(folder, BUILTIN_INT8_NAME, ENCODER_DIMENSIONS);
    const rows = englishSource(SEED)
      .take(grains)
      .map((grain, id): PeerRow => {
        const text = textOf(grain);
        return { id, text, vector: draw(text) };
      });
    const source = englishSource(QUESTIONS_SEED);
    const texts = Array.from({ length: questions }, () => source.question());
    for (const name of NAMES) {
      const times = await peerTimes(INSTALLED[name]!, join(data, name), rows, texts, draw);
      metrics[`${name}_p50_ms`] = percentile(times, 0.5);
      metrics[`${name}_p99_ms`] = percentile(times, 0.99);
      metrics[`${name}_over_granary_p50_ratio`] = metrics[`${name}_p50_ms`]! / metrics['granary_p50_ms']!;
    }
  });
  await inFolder(async (data) => {
    const collection = abstracts();
    const found = await judged(collection, data, { runtime, folder }, size === 'smoke' ? 10 : Number.POSITIVE_INFINITY);
    for (const [name, ndcg] of Object.entries(found)) {
      metrics[`${name}_ndcg_at_10_ratio`] = ndcg;
      if (name !== 'granary') metrics[`granary_over_${name}_ndcg_at_10_ratio`] = found['granary']! / ndcg;
    }
  });
  return {
    parameters: { grains, questions, limit: DEPTH, runtime, peers: NAMES.join(' ') },
    metrics: rounded(metrics),
  };
}

async function peerTimes(
  { open }: PeerKind,
  folder: string,
  rows: readonly PeerRow[],
  texts: readonly string[],
  draw: (text: string) => Float32Array,
): Promise<number[]> {
  mkdirSync(folder);
  const peer = await open(folder);
  try {
    await loadAll(peer, rows);
    const vectors = texts.map(draw);
    let times: number[] = [];
    // The first round warms up.
    for (let round = 0; round < 2; round++) {
      times = [];
      for (const [i, text] of texts.entries()) {
        const start = performance.now();
        await peer.search(text, vectors[i]!, DEPTH);
        times.push(performance.now() - start);
      }
    }
    return times;
  } finally {
    await peer.close();
  }
}

/** nDCG@10 over the abstracts for each. Peers have one vector per document: the mean of its windows'. */
async function judged(
  { questions: all, documents, ...collection }: Collection,
  data: string,
  { runtime, folder }: { readonly runtime: RuntimeName; readonly folder: string },
  count: number,
): Promise<Record<string, number>> {
  const questions = all.slice(0, count);
  const ndcg = (ranked: readonly string[][]): number => quality(questions, ranked)['ndcg_at_10_ratio']!;
  const found: Record<string, number> = {};
  const dataDirectory = join(data, 'granary');
  const embedder = { runtime, folder, grains: 'kept' } as const;
  const server = await startServer({ dataDirectory, workers: 2, shards: 8, auth: 'api-key', embedder });
  try {
    await importCorpus(server, { ...collection, questions, documents });
    await embedded(server, [...documents.keys()]);
    found['granary'] = ndcg((await recallAll(server, questions)).ranked);
  } finally {
    await server.stop();
  }
  const encoder = openBuiltinEmbedder({ cacheFolder: join(folder, 'models'), runtime });
  try {
    await encoder.load();
    const kept = keeping(encoder, folder);
    const lines = [...documents.values()].flat();
    const rows: PeerRow[] = [];
    for (const [id, { title, text }] of lines.entries()) {
      const whole = title === undefined ? text : `${title}\n\n${text}`;
      const vectors = (await kept.embed(windowsOf(whole))).filter((vector) => vector !== undefined);
      if (vectors.length > 0) rows.push({ id, text: whole, vector: meanOf(vectors) });
    }
    const asked = await encoder.embed(questions.map(({ text }) => text));
    for (const name of NAMES) {
      mkdirSync(join(data, name));
      const peer = await INSTALLED[name]!.open(join(data, name));
      try {
        await loadAll(peer, rows);
        const ranked: string[][] = [];
        for (const [i, { text }] of questions.entries())
          ranked.push((await peer.search(text, asked[i]!, DEPTH)).map((id) => lines[id]!._id));
        found[name] = ndcg(ranked);
      } finally {
        await peer.close();
      }
    }
  } finally {
    await encoder.close();
  }
  return found;
}

function meanOf(vectors: readonly Float32Array[]): Float32Array {
  const sum = new Float32Array(vectors[0]!.length);
  for (const vector of vectors) for (let d = 0; d < sum.length; d++) sum[d]! += vector[d]!;
  const length = Math.hypot(...sum);
  return sum.map((value) => value / length);
}
