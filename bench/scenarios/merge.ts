// One shard in process: batches of 1,000 grains as fast as they are answered, until segments of 64 tails have been merged
// into one, and the merge that runs then has ended. How long a batch waits beside that merge, and beside the smaller ones.
// Once with seals and merges in slices of the shard's thread, and once in a thread beside it.
import { statSync } from 'node:fs';
import { BATCH_GRAINS, type Batch, contextOf, makeMemories, type OpenShard, openShard } from '../lib/engine.ts';
import { inFolder } from '../lib/folder.ts';
import { type GrainSource, grainSource } from '../lib/grains.ts';
import type { Measured, Options, Scenario } from '../lib/scenario.ts';
import { sized } from '../lib/scenario.ts';
import { percentile, rounded } from '../lib/statistics.ts';

const CALLS_IN_FLIGHT = 4;

export const scenario: Scenario = {
  name: 'merge',
  about: 'the longest wait of a batch beside a merge of two million grains, in process',
  aims: [
    { metric: 'longest_over_p99_ratio', atMost: 5 },
    { metric: 'thread_beside_it_ratio', atLeast: 1 },
  ],
  run,
};

interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

interface Merge extends Span {
  /** Size of the new segment. */
  readonly bytes: number;
}

async function run({ size }: Options): Promise<Measured> {
  const grains = sized(size, { full: 2_300_000, quick: 300_000, smoke: 2_000 });
  const slices = await measure(grains, false);
  const beside = await measure(grains, true);
  return {
    parameters: { grains, batch_grains: BATCH_GRAINS, calls_in_flight: CALLS_IN_FLIGHT },
    metrics: rounded({
      ...slices,
      ...Object.fromEntries(Object.entries(beside).map(([name, value]) => [`thread_${name}`, value])),
      thread_beside_it_ratio: ratioOf(beside.beside_it_grains_per_s, slices.beside_it_grains_per_s),
    }),
  };
}

function measure(grains: number, hasSegmentThread: boolean) {
  return inFolder(async (folder) => {
    const shard = await openShard(folder, { hasSegmentThread });
    await makeMemories(shard.engine, 1, 1);
    const { merges, isRunning } = watchMerges(shard);
    const { batches, segmentsMax } = await addAll(shard, grainSource(1), { grains, isRunning });
    await shard.close();
    const waits = batches.map(({ fromMs, toMs }) => toMs - fromMs);
    const largest = merges.toSorted((a, b) => b.bytes - a.bytes)[0];
    const beside = batches.filter((batch) => largest !== undefined && overlaps(batch, largest));
    const span = { fromMs: batches[0]!.fromMs, toMs: batches.at(-1)!.toMs };
    const longest = Math.max(...waits);
    const p99 = percentile(waits, 0.99);
    return {
      grains_per_s: rateOf(batches.length, span),
      batch_p50_ms: percentile(waits, 0.5),
      batch_p99_ms: p99,
      longest_batch_ms: longest,
      longest_over_p99_ratio: longest / p99,
      merges: merges.length,
      largest_merge_mb: (largest?.bytes ?? 0) / 1_048_576,
      largest_merge_s: largest === undefined ? 0 : (largest.toMs - largest.fromMs) / 1_000,
      longest_batch_beside_it_ms: Math.max(0, ...beside.map(({ fromMs, toMs }) => toMs - fromMs)),
      beside_it_grains_per_s: largest === undefined ? 0 : rateOf(beside.length, largest),
      segments_max: segmentsMax,
    };
  });
}

/** 0 without a merge, as in a small run. */
function ratioOf(one: number, other: number): number {
  return other === 0 ? 0 : one / other;
}

function rateOf(batches: number, { fromMs, toMs }: Span): number {
  return (batches * BATCH_GRAINS * 1_000) / (toMs - fromMs);
}

function overlaps(a: Span, b: Span): boolean {
  return a.fromMs < b.toMs && a.toMs > b.fromMs;
}

/** Notes each merge from its first step to its last. */
function watchMerges({ engine }: OpenShard): { readonly merges: readonly Merge[]; readonly isRunning: () => boolean } {
  const merges: Merge[] = [];
  let begun = 0;
  const { index } = engine.store;
  const mergeStep = index.mergeStep.bind(index);
  index.mergeStep = () => {
    const steps = mergeStep();
    if (steps === undefined) return undefined;
    return (function* () {
      const fromMs = performance.now();
      begun += 1;
      const change = yield* steps;
      const bytes = change?.file === undefined ? 0 : statSync(change.file).size;
      merges.push({ fromMs, toMs: performance.now(), bytes });
      return change;
    })();
  };
  return { merges, isRunning: () => begun > merges.length };
}

/** Adds new grains, a few batches in flight, and more while a merge runs. Waits are from the call to its answer. */
async function addAll(
  { engine, maintenance }: OpenShard,
  source: GrainSource,
  { grains, isRunning }: { readonly grains: number; readonly isRunning: () => boolean },
): Promise<{ readonly batches: Span[]; readonly segmentsMax: number }> {
  const batches: Span[] = [];
  const wanted = Math.ceil(grains / BATCH_GRAINS);
  let begun = 0;
  let segmentsMax = 0;
  const lane = async (): Promise<void> => {
    while (begun < wanted || (isRunning() && begun < wanted * 2)) {
      begun += 1;
      const batch: Batch = { memory: 1, items: source.take(BATCH_GRAINS) };
      const fromMs = performance.now();
      const answer = engine.write('addBatch', contextOf(batch.memory), { items: batch.items });
      maintenance.batchRan();
      const { outcomes } = await answer;
      batches.push({ fromMs, toMs: performance.now() });
      segmentsMax = Math.max(segmentsMax, engine.store.index.segments);
      for (const outcome of outcomes)
        if ('error' in outcome || outcome.duplicate) throw new Error('a grain was not added');
    }
  };
  await Promise.all(Array.from({ length: CALLS_IN_FLIGHT }, lane));
  return { batches, segmentsMax };
}
