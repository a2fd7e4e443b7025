// The cost of a recall's record: a recall that leaves one compared with the same recall without it, over one sealed
// memory in process, and adds with such recalls between them. Records are written while the next recalls run, as usual.
import { join } from 'node:path';
import type { RecallQuery } from '../../src/engine/calls/recall.ts';
import { addAll, batchesOf, contextOf, makeMemories, type OpenShard, openShard, settle } from '../lib/engine.ts';
import { inFolder } from '../lib/folder.ts';
import { type GrainSource, grainSource } from '../lib/grains.ts';
import { type Measured, type Options, type Scenario, sized } from '../lib/scenario.ts';
import { inTurns, median, medianRatio, percentile, rounded } from '../lib/statistics.ts';

const CONTEXT = contextOf(1);
const HITS = 20;
const CANDIDATES = 100;
/** Adds in flight, and adds per recall. */
const LANES = 64;
const ADDS_A_RECALL = 10;

export const scenario: Scenario = {
  name: 'provenance',
  about: 'a recall with its record beside one without, and adds between such recalls',
  aims: [
    { metric: 'recall_with_over_without_ratio', atMost: 1.2 },
    { metric: 'structural_with_over_without_ratio', atMost: 1.5 },
    { metric: 'adds_without_over_with_ratio', atMost: 1.15 },
    { metric: 'bytes_a_record', atMost: 6_000 },
  ],
  run,
};

async function run({ size }: Options): Promise<Measured> {
  const grains = sized(size, { full: 100_000, quick: 30_000, smoke: 500 });
  const rounds = sized(size, { full: 9, quick: 5, smoke: 1 });
  const queries = sized(size, { full: 1_000, quick: 500, smoke: 20 });
  const adds = sized(size, { full: 10_000, quick: 3_000, smoke: 50 });
  return inFolder(async (folder) => {
    const source = grainSource(1);
    const shard = await openShard(join(folder, 'granary'));
    await makeMemories(shard.engine, 1, 1);
    for (let left = grains; left > 0; left -= 10_000)
      await addAll(shard, batchesOf(1, source.take(Math.min(left, 10_000))));
    await settle(shard);
    const questions = Array.from({ length: queries }, () => source.question());
    const subjects = Array.from({ length: queries }, () => source.subject());
    const recalls = await inTurns(
      rounds + 1,
      {
        with: () => timed(shard, questions.map(words), true),
        without: () => timed(shard, questions.map(words), false),
        structuralWith: () => timed(shard, subjects.map(structure), true),
        structuralWithout: () => timed(shard, subjects.map(structure), false),
      },
      { with: queries, without: queries, structuralWith: queries, structuralWithout: queries },
    );
    const p50s = (name: keyof typeof recalls): number[] =>
      recalls[name].slice(1).map((figures) => percentile(figures, 0.5));
    const rates = await inTurns(
      rounds + 1,
      {
        with: () => addsBetween(shard, source, { adds, questions, leaves: true }),
        without: () => addsBetween(shard, source, { adds, questions, leaves: false }),
      },
      { with: { operations: adds, row: 'adds_with' }, without: { operations: adds, row: 'adds_without' } },
    );
    const bytes = await bytesARecord(shard, questions.map(words));
    const { totalRecords } = await shard.engine.write('recallTotals', CONTEXT, {});
    await shard.close();
    return {
      parameters: { grains, queries, rounds, hits: HITS, candidates: CANDIDATES, adds, lanes: LANES },
      metrics: rounded({
        recall_without_p50_us: median(p50s('without')),
        recall_with_p50_us: median(p50s('with')),
        recall_with_over_without_ratio: medianRatio(p50s('with'), p50s('without')),
        structural_without_p50_us: median(p50s('structuralWithout')),
        structural_with_p50_us: median(p50s('structuralWith')),
        structural_with_over_without_ratio: medianRatio(p50s('structuralWith'), p50s('structuralWithout')),
        adds_without_per_s: median(rates.without.slice(1)),
        adds_with_per_s: median(rates.with.slice(1)),
        adds_without_over_with_ratio: medianRatio(rates.without.slice(1), rates.with.slice(1)),
        bytes_a_record: bytes,
        records: totalRecords,
      }),
    };
  });
}

function words(query: string): RecallQuery {
  return { query, filter: {}, limit: HITS, candidateLimit: CANDIDATES, structural: false };
}

function structure(subject: string): RecallQuery {
  return { filter: { subject }, limit: HITS, candidateLimit: CANDIDATES, structural: true };
}

function recall({ engine }: OpenShard, query: RecallQuery, leaves: boolean): void {
  engine.read('recall', CONTEXT, leaves ? { ...query, record: { asked: true } } : query);
}

/** Microseconds per recall; its records are written in between, as a worker does. */
async function timed(shard: OpenShard, queries: readonly RecallQuery[], leaves: boolean): Promise<number[]> {
  const figures: number[] = [];
  for (const query of queries) {
    const started = performance.now();
    recall(shard, query, leaves);
    figures.push((performance.now() - started) * 1_000);
    if (figures.length % 100 === 0) await breathe(shard);
  }
  await breathe(shard);
  return figures;
}

async function breathe({ maintenance }: OpenShard): Promise<void> {
  maintenance.batchRan();
  await new Promise((resolve) => setImmediate(resolve));
}

/** Adds per second, one by one in lanes, with a recall after every tenth. */
async function addsBetween(
  shard: OpenShard,
  source: GrainSource,
  {
    adds,
    questions,
    leaves,
  }: { readonly adds: number; readonly questions: readonly string[]; readonly leaves: boolean },
): Promise<number> {
  const items = source.take(adds);
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let at = next++; at < items.length; at = next++) {
      const answer = shard.engine.write('add', CONTEXT, { ...items[at]!, sync: false });
      shard.maintenance.batchRan();
      await answer;
      if (at % ADDS_A_RECALL === 0) recall(shard, words(questions[at % questions.length]!), leaves);
    }
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: LANES }, lane));
  return (adds * 1_000) / (performance.now() - started);
}

/** Bytes in the log per record, its audit entry included. */
async function bytesARecord(shard: OpenShard, queries: readonly RecallQuery[]): Promise<number> {
  const { engine } = shard;
  await engine.write('recallTotals', CONTEXT, {});
  const first = engine.store.log.nextSequence;
  for (const query of queries) recall(shard, query, true);
  await engine.write('recallTotals', CONTEXT, {});
  let bytes = 0;
  for (let sequence = first; sequence < engine.store.log.nextSequence; sequence++)
    bytes += engine.store.log.read(sequence)?.length ?? 0;
  return bytes / queries.length;
}
