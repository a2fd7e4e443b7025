// Many memories of a hundred grains compared with one memory that gets the same grains in the same calls: the rate of
// adds, the heap after the same questions, the time to open a shard with them, and the duration of the first recall of
// a memory that has not been queried since. Each side runs in a separate process.
import { fork } from 'node:child_process';
import { join } from 'node:path';
import type { AddItem } from '../../src/engine/calls/grain.ts';
import { cpuTable } from '../lib/cpu-table.ts';
import { addAll, type Batch, contextOf, makeMemories, openShard, settle } from '../lib/engine.ts';
import { inFolder } from '../lib/folder.ts';
import { grainSource } from '../lib/grains.ts';
import { heldBytes } from '../lib/heap.ts';
import { type Measured, type Options, type Scenario, sized } from '../lib/scenario.ts';
import { percentile, rounded } from '../lib/statistics.ts';
import { type CpuSpent, ownCpu } from '../lib/thread-cpu.ts';

const GRAINS_EACH = 100;
/** Memories that alternate within one stretch: an agent's grains arrive a few at a time, between those of others. */
const STRETCH_MEMORIES = 100;
const TURN_GRAINS = 10;
/** Users of a small memory; the large one has the users of all. Each user has a key in each memory. */
const USERS_EACH = 2;

export const scenario: Scenario = {
  name: 'tenants',
  about: 'many small memories beside one large one, in process',
  aims: [
    { metric: 'many_over_one_ratio', atLeast: 0.8 },
    { metric: 'many_open_s', atMost: 2 },
    { metric: 'cold_recall_p99_ms', atMost: 10 },
    { metric: 'held_ratio', atMost: 1.3 },
  ],
  run,
};

interface Side {
  /** Of the adds, and of what they left to seal and merge; their sum counts. */
  readonly cpu: readonly CpuSpent[];
  readonly addedMs: number;
  readonly settledMs: number;
  readonly heldBytes: number;
  readonly openMs: number;
  readonly firstRecallUs: readonly number[];
  readonly recallHits: number;
}

async function run({ size }: Options): Promise<Measured> {
  const memories = sized(size, { full: 10_000, quick: 1_000, smoke: 4 });
  const grains = memories * GRAINS_EACH;
  return inFolder(async (folder) => {
    const inProcess = size === 'smoke';
    const side = (count: number): Promise<Side> => {
      const task: Task = { folder: join(folder, `of-${count}`), memories: count, grains };
      return inProcess ? measure(task) : inChild(task);
    };
    const many = await side(memories);
    const one = await side(1);
    const perSecond = ({ addedMs }: Side): number => (grains * 1_000) / addedMs;
    const settledPerSecond = ({ addedMs, settledMs }: Side): number => (grains * 1_000) / (addedMs + settledMs);
    for (const [name, { cpu }] of Object.entries({ many, one }))
      for (const spent of cpu) cpuTable.add(name, grains / cpu.length, spent);
    return {
      parameters: { memories, grains_each: GRAINS_EACH, users_each: USERS_EACH, turn_grains: TURN_GRAINS },
      metrics: rounded({
        many_grains_per_s: perSecond(many),
        one_grains_per_s: perSecond(one),
        many_over_one_ratio: perSecond(many) / perSecond(one),
        many_over_one_settled_ratio: settledPerSecond(many) / settledPerSecond(one),
        many_open_s: many.openMs / 1_000,
        one_open_s: one.openMs / 1_000,
        cold_recall_p50_ms: percentile(many.firstRecallUs, 0.5) / 1_000,
        cold_recall_p99_ms: percentile(many.firstRecallUs, 0.99) / 1_000,
        cold_recall_hits_mean: many.recallHits / many.firstRecallUs.length,
        many_held_bytes_per_grain: many.heldBytes / grains,
        one_held_bytes_per_grain: one.heldBytes / grains,
        held_ratio: many.heldBytes / one.heldBytes,
      }),
    };
  });
}

interface Task {
  readonly folder: string;
  readonly memories: number;
  readonly grains: number;
}

async function measure({ folder, memories, grains }: Task): Promise<Side> {
  let shard = await openShard(folder);
  await makeMemories(shard.engine, 1, memories);
  const source = grainSource(1);
  let addedMs = 0;
  const cpu: CpuSpent[] = [];
  const stretch = Math.min(grains, STRETCH_MEMORIES * GRAINS_EACH);
  for (let from = 0; from < grains; from += stretch) {
    const items = source.take(Math.min(stretch, grains - from));
    const calls = turns(items, from / GRAINS_EACH);
    const batches = memories === 1 ? calls.map(({ items: sent }) => ({ memory: 1, items: sent })) : calls;
    const { result, cpu: spent } = await ownCpu(async () => {
      const start = performance.now();
      await addAll(shard, batches);
      return performance.now() - start;
    });
    addedMs += result;
    cpu.push(spent);
  }
  const { result: settledMs, cpu: settling } = await ownCpu(() => settle(shard));
  cpu.push(settling);
  await shard.close();
  const empty = await heldBytes();
  const openStart = performance.now();
  shard = await openShard(folder);
  const openMs = performance.now() - openStart;
  const firstRecallUs: number[] = [];
  let recallHits = 0;
  const asked = { filter: {}, structural: false, limit: 20, candidateLimit: 100 };
  for (let question = 0; question < grains / GRAINS_EACH; question++) {
    const query = source.question();
    const start = performance.now();
    recallHits += shard.engine.read('recall', contextOf(1 + (question % memories)), { ...asked, query }).hits.length;
    firstRecallUs.push((performance.now() - start) * 1_000);
  }
  const heapBytes = (await heldBytes()) - empty;
  await shard.close();
  return { addedMs, settledMs, heldBytes: heapBytes, openMs, firstRecallUs, recallHits, cpu };
}

/** The stretch's memories in turn, a few grains each time, until each has its grains. */
function turns(items: readonly AddItem[], firstMemory: number): Batch[] {
  const memories = items.length / GRAINS_EACH;
  const calls: Batch[] = [];
  for (let from = 0; from < items.length; from += TURN_GRAINS) {
    const memory = 1 + firstMemory + ((from / TURN_GRAINS) % memories);
    const sent = items
      .slice(from, from + TURN_GRAINS)
      .map((item, i) => ({ ...item, fields: { ...item.fields, user_id: `user-${memory}-${i % USERS_EACH}` } }));
    calls.push({ memory, items: sent });
  }
  return calls;
}

function inChild(task: Task): Promise<Side> {
  const child = fork(import.meta.filename, { serialization: 'advanced' });
  return new Promise((resolve, reject) => {
    child.once('message', (side) => resolve(side as Side)); // what `measure` sent
    child.once('exit', (code) => reject(new Error(`the process of ${task.memories} memories ended with ${code}`)));
    child.send(task);
  });
}

if (import.meta.main)
  process.once('message', async (task) => {
    process.send?.(await measure(task as Task)); // what `inChild` sent
    process.disconnect();
  });
