// Recall over one settled memory of a shard in process: by words (two to four, any of them) and by structure (the newest
// of a subject). By words to ranked ordinals, with the grains opened, and with the candidates beyond the limit named, as
// a server's recall does; each with questions that were never asked before and with the same ones again. A server that
// holds as many grains gets both kinds over gRPC. SQLite FTS5 answers new words over the same texts.
import { join } from 'node:path';
import type { RecallQuery } from '../../src/engine/calls/recall.ts';
import { filterPart } from '../../src/engine/recall/filter/filter.ts';
import { inOrder } from '../../src/engine/recall/legs/ordered.ts';
import { cpuTable } from '../lib/cpu-table.ts';
import { addAll, batchesOf, contextOf, makeMemories, type OpenShard, openShard, settle } from '../lib/engine.ts';
import { inFolder } from '../lib/folder.ts';
import { type GrainSource, grainSource } from '../lib/grains.ts';
import { LoadClient, type LoadFigure, type ServedLoad } from '../lib/load.ts';
import { type Measured, type Options, type Scenario, serverSize, sized } from '../lib/scenario.ts';
import { createMemory, flushed, settled, startServer, type Target } from '../lib/server.ts';
import { openSqlite, type SqlitePeer } from '../lib/sqlite.ts';
import { inTurns, median, medianRatio, percentile, rounded } from '../lib/statistics.ts';

const CONTEXT = contextOf(1);
const HITS = 20;
const NEWEST = 16;
/** The service's default. */
const CANDIDATES = 100;

const ASKED = ['recalled'];

export const scenario: Scenario = {
  name: 'recall',
  about: 'by words and by structure, new questions and repeated ones, in process and over gRPC, beside SQLite FTS5',
  aims: [
    { metric: 'new_ranked_p50_ms', atMost: 0.25 },
    { metric: 'new_told_p50_ms', atMost: 0.6 },
    { metric: 'new_grpc_p50_ms', atMost: 0.9 },
    { metric: 'newest_p50_us', atMost: 30 },
    { metric: 'newest_opened_p50_us', atMost: 200 },
    { metric: 'sqlite_over_new_opened_ratio', atLeast: 50 },
  ],
  run,
};

/** How far a recall by words goes: the grains opened, and whether it names the candidates beyond them. */
const WAYS = {
  ranked: { limit: 0, tellBeyond: false },
  opened: { limit: HITS, tellBeyond: false },
  told: { limit: HITS, tellBeyond: true },
} as const;

async function run({ size, profile, start = startServer }: Options): Promise<Measured> {
  const grains = sized(size, { full: 100_000, quick: 30_000, smoke: 500 });
  const rounds = sized(size, { full: 7, quick: 3, smoke: 1 });
  const queries = sized(size, { full: 1_000, quick: 300, smoke: 20 });
  /** FTS5 takes milliseconds per query. */
  const peerQueries = sized(size, { full: 100, quick: 30, smoke: 20 });
  return inFolder(async (folder) => {
    const source = grainSource(1);
    const shard = await openShard(join(folder, 'granary'));
    const sqlite = openSqlite(join(folder, 'sqlite'), 'bare');
    await fill(shard, sqlite, source, grains);
    const served = await start({
      ...{ dataDirectory: join(folder, 'served'), ...serverSize(size), auth: 'api-key', profile },
    });
    const asker = LoadClient.start();
    try {
      await fillServed(served, asker, grains, size === 'smoke' ? 1 : undefined);
      const repeated = questionsOf(source, queries);
      const hits = { new: 0, newest: 0 };
      const words = (way: keyof typeof WAYS, questions: () => readonly string[]) => (): number[] =>
        times(questions(), (query) => {
          const found = byWords(shard, query, way);
          if (way === 'opened') hits.new += found;
        });
      const fresh = (): string[] => questionsOf(source, queries);
      const structured = (ask: (shard: OpenShard, subject: string) => number) => (): number[] => {
        const subjects = Array.from({ length: queries }, () => source.subject());
        return times(subjects, (subject) => ask(shard, subject));
      };
      const inProcess = await inTurns(
        rounds + 1,
        {
          new_ranked: words('ranked', fresh),
          new_opened: words('opened', fresh),
          new_told: words('told', fresh),
          repeated_ranked: words('ranked', () => repeated),
          repeated_opened: words('opened', () => repeated),
          repeated_told: words('told', () => repeated),
          newest: structured(newest),
          newest_opened: structured((one, subject) => {
            const found = newestOpened(one, subject);
            hits.newest += found;
            return found;
          }),
          sqlite: () => times(questionsOf(source, peerQueries), (query) => sqlite.search(query.split(' '), HITS)),
        },
        {
          ...{ new_ranked: queries, new_opened: queries, new_told: queries },
          ...{ repeated_ranked: queries, repeated_opened: queries, repeated_told: queries },
          ...{ newest: queries, newest_opened: queries, sqlite: peerQueries },
        },
      );
      let seed = 2;
      const ask = { protocol: 'grpc', connections: 1, inFlight: 1, calls: queries, what: 'recall' } as const;
      const overGrpc = await inTurns(rounds + 1, {
        new_grpc: () => asker.run(served, { ...ask, memories: ASKED, seed: ++seed }),
        repeated_grpc: () => asker.run(served, { ...ask, memories: ASKED, seed: 2 }),
      });
      const [part] = shard.engine.store.parts(1);
      const parts = shard.engine.store.parts(1).length;
      return {
        parameters: { grains, queries, rounds, hits: HITS, newest: NEWEST, candidates: CANDIDATES, parts },
        metrics: rounded({
          ...inProcessMetrics(inProcess),
          ...servedMetrics(overGrpc),
          hits_mean: hits.new / (2 * queries * (rounds + 1)),
          newest_hits_mean: hits.newest / (queries * (rounds + 1)),
          grains_of_first_part: part?.docCount ?? 0,
        }),
      };
    } finally {
      asker.stop();
      sqlite.close();
      await Promise.all([served.stop(), shard.close()]);
    }
  });
}

async function fill(shard: OpenShard, sqlite: SqlitePeer, source: GrainSource, grains: number): Promise<void> {
  await makeMemories(shard.engine, 1, 1);
  for (let left = grains; left > 0; left -= 10_000) {
    const batches = batchesOf(1, source.take(Math.min(left, 10_000)));
    await addAll(shard, batches);
    for (const { items } of batches) sqlite.insert(JSON.stringify(items));
  }
  await settle(shard);
}

async function fillServed(
  server: Target,
  client: LoadClient,
  grains: number,
  looks: number | undefined,
): Promise<void> {
  for (const id of ASKED) await createMemory(server, id);
  const batchGrains = Math.min(grains, 1_000);
  const job = { protocol: 'grpc', connections: 1, inFlight: 4, memories: ASKED, seed: 1, what: 'batchAdd' } as const;
  await client.run(server, { ...job, batchGrains, calls: grains / batchGrains });
  await flushed(server, ASKED);
  await settled(server, looks);
}

function questionsOf(source: GrainSource, count: number): string[] {
  return Array.from({ length: count }, () => source.question());
}

/** The first round warms up; of repeated questions it is the one that asks them for the first time. */
function inProcessMetrics(turns: Readonly<Record<string, readonly (readonly number[])[]>>): Record<string, number> {
  const metrics: Record<string, number> = {};
  const p50s = (name: string): number[] => turns[name]!.slice(1).map((figures) => percentile(figures, 0.5));
  for (const name of Object.keys(turns)) {
    const [unit, us] = name.startsWith('newest') ? (['us', 1] as const) : (['ms', 1_000] as const);
    metrics[`${name}_p50_${unit}`] = median(p50s(name)) / us;
    metrics[`${name}_p99_${unit}`] = median(turns[name]!.slice(1).map((figures) => percentile(figures, 0.99))) / us;
  }
  metrics['sqlite_over_new_opened_ratio'] = medianRatio(p50s('sqlite'), p50s('new_opened'));
  return metrics;
}

function servedMetrics(turns: Readonly<Record<string, readonly ServedLoad[]>>): Record<string, number> {
  const metrics: Record<string, number> = {};
  for (const [name, loads] of Object.entries(turns)) {
    const measured = loads.slice(1);
    const of = (figure: LoadFigure): number => median(measured.map((load) => load[figure]));
    metrics[`${name}_p50_ms`] = of('p50Ms');
    metrics[`${name}_p99_ms`] = of('p99Ms');
    metrics[`${name}_server_cpu_us_per_call`] = of('serverCpuUsPerCall');
    for (const { calls, serverCpu } of measured) cpuTable.add(name, calls, serverCpu);
  }
  return metrics;
}

function byWords({ engine }: OpenShard, query: string, way: keyof typeof WAYS): number {
  const asked: RecallQuery = { query, filter: {}, structural: false, ...WAYS[way], candidateLimit: CANDIDATES };
  return engine.read('recall', CONTEXT, asked).hits.length;
}

/** The structural leg alone, at which the engine's own recall would not stop. */
function newest({ engine: { store } }: OpenShard, subject: string): number {
  const parts = store.parts(1);
  const filters = parts.map((part) => filterPart(store, part, { subject }, CONTEXT));
  return inOrder(store, parts, filters, { limit: NEWEST, order: 'desc' }).length;
}

function newestOpened({ engine }: OpenShard, subject: string): number {
  const asked = { filter: { subject }, structural: true, limit: NEWEST, candidateLimit: CANDIDATES };
  return engine.read('recall', CONTEXT, asked).hits.length;
}

/** Microseconds per call. */
function times<T>(inputs: readonly T[], call: (input: T) => unknown): number[] {
  return inputs.map((input) => {
    const start = performance.now();
    call(input);
    return (performance.now() - start) * 1_000;
  });
}
