// `npm run bench -- vectors`: the vector index alone, compared with a plain scan over single floats.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Arena } from '../../src/engine/index/vectors/arena.ts';
import { GrainRows } from '../../src/engine/index/vectors/grain-rows.ts';
import { writeHalves } from '../../src/engine/index/vectors/half-float.ts';
import type { VectorFilter } from '../../src/engine/index/vectors/search.ts';
import { VectorIndex, type VectorIndexOptions } from '../../src/engine/index/vectors/vector-index.ts';
import { collect } from '../lib/heap.ts';
import { generator } from '../lib/random.ts';
import type { Measured, Options, Scenario } from '../lib/scenario.ts';
import { sized } from '../lib/scenario.ts';
import { named, percentile, rounded } from '../lib/statistics.ts';

const DIMENSIONS = 512;
const MEMORY = 1;
const LIMIT = 10;
/** The candidates of a recall, each of which is tested. */
const RECALLED = { limit: 100, allowed: (): boolean => true } as const;
/** Shares of the grains that pass the filters. */
const SHARES = { all: 1, half: 0.5, tenth: 0.1, hundredth: 0.01, thousandth: 0.001 } as const;

export const scenario: Scenario = {
  name: 'vectors',
  about: 'the vector index alone: recall, latency with and without filters, heap, files',
  aims: [
    ...Object.keys(SHARES).map((name) => ({ metric: `${name}_recall_ratio`, atLeast: 0.97 })),
    { metric: 'all_p50_ms', atMost: 1 },
    { metric: 'bytes_per_vector', atMost: 1_229 },
    { metric: 'sketch_slice_p99_ms', atMost: 5 },
    { metric: 'graph_recall_ratio', atLeast: 0.97 },
    { metric: 'graph_slice_p99_ms', atMost: 5 },
  ],
  run,
};

async function run({ size }: Options): Promise<Measured> {
  const count = sized(size, { full: 100_000, quick: 30_000, smoke: 400 });
  const asked = sized(size, { full: 200, quick: 60, smoke: 5 });
  const directory = mkdtempSync(join(process.env['BENCH_DIR'] ?? tmpdir(), 'granary-bench-vectors-'));
  try {
    return await measure(directory, count, asked);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function measure(directory: string, count: number, asked: number): Promise<Measured> {
  const point = clustered(count, generator(11));
  const vectors = new Float32Array(count * DIMENSIONS);
  for (let i = 0; i < count; i++) vectors.set(point(), i * DIMENSIONS);
  const queries = Array.from({ length: asked }, point);
  const vectorOf = (ordinal: number): Float32Array =>
    vectors.subarray((ordinal - 1) * DIMENSIONS, ordinal * DIMENSIONS);
  const metrics: Record<string, number> = {};

  warmUp(join(directory, 'warm-up'), queries);
  const index = openIndex(directory);
  const addStart = performance.now();
  for (let ordinal = 1; ordinal <= count; ordinal++) index.add(MEMORY, ordinal, [vectorOf(ordinal)]);
  metrics['add_us'] = ((performance.now() - addStart) * 1_000) / count;
  index.advance(MEMORY, count);
  const seal = timeSlices(index.seal());
  metrics['seal_us'] = (seal.totalMs * 1_000) / count;
  metrics['seal_slice_max_ms'] = seal.slices.at(-1) ?? 0;
  metrics['disk_bytes_per_vector'] = index.diskBytes / count;

  // Growth of the process too: the index does not report all of its memory.
  metrics['rows_bytes_per_vector'] = index.bytes / count;
  const before = await resident();
  const sketches = settle(index);
  const growth = Math.max(0, (await resident()) - before);
  metrics['sketch_bytes_per_vector'] = growth / count;
  metrics['bytes_per_vector'] = metrics['rows_bytes_per_vector'] + metrics['sketch_bytes_per_vector'];
  metrics['told_bytes_per_vector'] = index.bytes / count;
  metrics['sketches_per_s'] = sketches.totalMs === 0 ? 0 : (count * 1_000) / sketches.totalMs;
  tellSlices(metrics, 'sketch', sketches.slices);

  const cosines = queries.map((query) => allCosines(vectors, query));
  const stable = generator(5);
  const draw = Float64Array.from({ length: count + 1 }, stable);
  for (const [name, share] of Object.entries(SHARES)) {
    const allowed = (ordinal: number): boolean => draw[ordinal]! < share;
    const list = Uint32Array.from(Array.from({ length: count }, (_, i) => i + 1).filter((ordinal) => allowed(ordinal)));
    const filters: Record<string, VectorFilter> =
      share === 1
        ? { [name]: { limit: LIMIT }, [`${name}_recalled`]: RECALLED }
        : {
            [name]: { limit: LIMIT, allowedOrdinals: list },
            [`${name}_tested`]: { limit: LIMIT, allowed, allowedShare: share },
          };
    for (const [way, filter] of Object.entries(filters))
      Object.assign(metrics, named(way, ask(index, queries, cosines, list, filter)));
  }
  const some = Uint32Array.from({ length: 300 }, (_, i) => 1 + ((i * 7_919) % count));
  metrics['cosines_of_300_p50_us'] = 1_000 * timed(queries, (query) => index.cosineOf(MEMORY, query, some));
  metrics['scan_us_per_vector'] = scanUs(vectors, queries, Math.min(count, 8_192));
  metrics['plain_scan_us_per_vector'] =
    (1_000 * timed(queries.slice(0, 5), (query) => allCosines(vectors, query))) / count;
  index.close();

  const reopened = openIndex(directory, { listMax: 0 });
  const loadStart = performance.now();
  reopened.has(MEMORY, 1);
  metrics['load_us_per_vector'] = ((performance.now() - loadStart) * 1_000) / count;
  // Larger memories are searched through a graph, which is built here.
  const loaded = await resident();
  const graph = settle(reopened);
  metrics['graph_bytes_per_vector'] = Math.max(0, (await resident()) - loaded) / count;
  metrics['graph_adds_per_s'] = graph.totalMs === 0 ? 0 : (count * 1_000) / graph.totalMs;
  tellSlices(metrics, 'graph', graph.slices);
  const everything = Uint32Array.from({ length: count }, (_, i) => i + 1);
  for (const [way, filter] of Object.entries({ graph: { limit: LIMIT }, graph_recalled: RECALLED }))
    Object.assign(metrics, named(way, ask(reopened, queries, cosines, everything, filter)));
  reopened.close();
  return {
    parameters: { vectors: count, dimensions: DIMENSIONS, queries: asked, limit: LIMIT },
    metrics: rounded(metrics),
  };
}

/** The share of the best `limit` of `list` that is found, and the time. */
function ask(
  index: VectorIndex,
  queries: readonly Float32Array[],
  cosines: readonly Float32Array[],
  list: Uint32Array,
  filter: VectorFilter,
): Record<string, number> {
  let found = 0;
  let expected = 0;
  const times = queries.map((query, at) => {
    const start = performance.now();
    const hits = index.search(MEMORY, query, filter);
    const took = performance.now() - start;
    const best = bestOf(cosines[at]!, list, filter.limit);
    const ordinals = new Set(hits.map(({ ordinal }) => ordinal));
    expected += best.length;
    found += best.filter((ordinal) => ordinals.has(ordinal)).length;
    return took;
  });
  return {
    recall_ratio: expected === 0 ? 1 : found / expected,
    p50_ms: percentile(times, 0.5),
    p99_ms: percentile(times, 0.99),
  };
}

/** Runs all due work. One step is a part of it. */
function settle(index: VectorIndex): { totalMs: number; slices: number[] } {
  const all = { totalMs: 0, slices: [0] };
  for (let work = index.work(); work !== undefined; work = index.work()) {
    const { totalMs, slices } = timeSlices(work);
    all.totalMs += totalMs;
    for (const slice of slices) all.slices.push(slice);
  }
  all.slices.sort((a, b) => a - b);
  return all;
}

function tellSlices(metrics: Record<string, number>, name: string, slices: readonly number[]): void {
  metrics[`${name}_slice_p50_ms`] = percentile(slices, 0.5);
  metrics[`${name}_slice_p99_ms`] = percentile(slices, 0.99);
  metrics[`${name}_slice_max_ms`] = slices.at(-1) ?? 0;
}

/** Loads usearch and grows V8's young generation, so that later measurements do not include them. */
function warmUp(directory: string, queries: readonly Float32Array[]): void {
  const index = openIndex(directory, { scanMax: 50, listMax: 100 });
  for (let ordinal = 1; ordinal <= 1_000; ordinal++) index.add(MEMORY, ordinal, [queries[ordinal % queries.length]!]);
  settle(index);
  for (let i = 0; i < 2_000_000; i++) garbage = { i, before: i % 1_000 === 0 ? undefined : garbage };
  garbage = undefined;
  index.close();
}

let garbage: object | undefined;

function openIndex(
  directory: string,
  from: Partial<Pick<VectorIndexOptions, 'scanMax' | 'listMax'>> = {},
): VectorIndex {
  const key = new Uint8Array(32).fill(7);
  return VectorIndex.open({
    directory,
    keys: { indexKey: () => ({ id: 1, key }), indexKeyById: () => key },
    isRemoved: () => false,
    embedder: { name: 'bench/1', dimensions: DIMENSIONS },
    ...from,
  });
}

/** A scan without an index around it. */
function scanUs(vectors: Float32Array, queries: readonly Float32Array[], count: number): number {
  const grains = new GrainRows(new Arena(), DIMENSIONS);
  for (let i = 0; i < count; i++) {
    const { halves, at } = grains.append(i + 1, true);
    writeHalves(vectors.subarray(i * DIMENSIONS, (i + 1) * DIMENSIONS), halves, at);
  }
  const rows = Uint32Array.from({ length: count }, (_, row) => row);
  const scores = new Float32Array(count);
  return (1_000 * timed(queries, (query) => grains.rows.score(query, rows, count, scores))) / count;
}

/** Median milliseconds. */
function timed(queries: readonly Float32Array[], ask: (query: Float32Array) => unknown): number {
  const times = queries.map((query) => {
    const start = performance.now();
    ask(query);
    return performance.now() - start;
  });
  return percentile(times, 0.5);
}

/** Resident bytes of the process, after full collections. */
async function resident(): Promise<number> {
  for (let pass = 0; pass < 3; pass++) {
    collect();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return process.memoryUsage().rss;
}

/** The slices' milliseconds in ascending order. */
function timeSlices(work: Generator<void, unknown, void>): { totalMs: number; slices: number[] } {
  const start = performance.now();
  const slices: number[] = [];
  for (let last = start; ; ) {
    const { done } = work.next();
    const now = performance.now();
    slices.push(now - last);
    last = now;
    if (done === true) return { totalMs: now - start, slices: slices.sort((a, b) => a - b) };
  }
}

function allCosines(vectors: Float32Array, query: Float32Array): Float32Array {
  const count = vectors.length / DIMENSIONS;
  const cosines = new Float32Array(count);
  for (let i = 0; i < count; i++) {
    let sum = 0;
    const at = i * DIMENSIONS;
    for (let d = 0; d < DIMENSIONS; d++) sum += vectors[at + d]! * query[d]!;
    cosines[i] = sum;
  }
  return cosines;
}

function bestOf(cosines: Float32Array, ordinals: Uint32Array, limit: number): number[] {
  const best: number[] = [];
  for (const ordinal of ordinals) {
    if (best.length === limit && cosines[ordinal - 1]! <= cosines[best.at(-1)! - 1]!) continue;
    const at = best.findIndex((other) => cosines[other - 1]! < cosines[ordinal - 1]!);
    best.splice(at < 0 ? best.length : at, 0, ordinal);
    if (best.length > limit) best.pop();
  }
  return best;
}

/**
 * Unit vectors like those of sentence encoders: a few hundred directions carry most of the variance, each next one
 * less; texts cluster around topics of very different sizes, topics around themes.
 */
function clustered(count: number, random: () => number): () => Float32Array {
  const gauss = (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const scale = Float32Array.from({ length: DIMENSIONS }, (_, d) => (1 + d / 8) ** -0.75);
  const mixing = Array.from({ length: DIMENSIONS }, () => (random() < 0.5 ? -1 : 1));
  const around = (centre: Float32Array | undefined, spread: number): Float32Array =>
    Float32Array.from({ length: DIMENSIONS }, (_, d) => (centre?.[d] ?? 0) + spread * gauss() * scale[d]!);
  const themes = Array.from({ length: 60 }, () => around(undefined, 1));
  const topics = Array.from({ length: Math.max(5, Math.floor(count / 60)) }, () =>
    around(themes[Math.floor(random() * themes.length)], 0.8),
  );
  return () => {
    // A tenth of the topics has about a third of the texts.
    const topic = topics[Math.floor(random() ** 2 * topics.length)];
    const vector = around(topic, 0.5 + random());
    const rotated = rotate(vector, mixing);
    let sum = 0;
    for (const value of rotated) sum += value * value;
    const length = Math.sqrt(sum);
    return rotated.map((value) => value / length);
  };
}

/** Spreads the directions over all components, as an encoder does: random signs and a Walsh-Hadamard transform. */
function rotate(vector: Float32Array, signs: readonly number[]): Float32Array {
  const values = vector.map((value, d) => value * signs[d]!);
  for (let half = 1; half < values.length; half *= 2)
    for (let start = 0; start < values.length; start += 2 * half)
      for (let i = start; i < start + half; i++) {
        const [a, b] = [values[i]!, values[i + half]!];
        values[i] = a + b;
        values[i + half] = a - b;
      }
  return values;
}
