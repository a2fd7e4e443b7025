// The cost of a grain once it is settled, and the time that a shard takes to open: bytes on disk after merges, bytes of
// heap and of buffers outside it, opening after a clean stop and after a process was killed while it added grains.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { TAIL_GRAINS_SEAL } from '../../src/engine/base/limits.ts';
import { addAll, batchesOf, contextOf, makeMemories, type OpenShard, openShard, settle } from '../lib/engine.ts';
import { bytesOnDisk, inFolder } from '../lib/folder.ts';
import { type GrainSource, grainSource } from '../lib/grains.ts';
import { heldBytes } from '../lib/heap.ts';
import type { Measured, Options, Scenario } from '../lib/scenario.ts';
import { sized } from '../lib/scenario.ts';
import { median, named, rounded } from '../lib/statistics.ts';

const STEP = 10_000;
/** Grains that a process adds before it is killed: a restart replays nearly all that a tail takes before its seal. */
const KILLED_GRAINS = TAIL_GRAINS_SEAL - 2_000;

export const scenario: Scenario = {
  name: 'footprint',
  about: 'bytes of disk and heap a grain, opening after a clean stop and after a kill, in process',
  aims: [
    { metric: 'disk_bytes_per_grain', atMost: 520 },
    { metric: 'held_bytes_per_grain', atMost: 200 },
    { metric: 'open_after_stop_s', atMost: 1 },
    { metric: 'open_after_kill_s', atMost: 1.5 },
    { metric: 'grains_lost', atMost: 0 },
  ],
  run,
};

async function run({ size }: Options): Promise<Measured> {
  const [small, large] = sized(size, { full: [100_000, 1_000_000], quick: [30_000, 100_000], smoke: [200, 300] });
  const opens = sized(size, { full: 5, quick: 3, smoke: 1 });
  const questions = sized(size, { full: 1_000, quick: 1_000, smoke: 20 });
  return inFolder(async (folder) => {
    const isSmoke = size === 'smoke';
    const step = { folder, opens, questions, passes: isSmoke ? 1 : undefined, ask: isSmoke ? serve : inChild };
    const first = await measure({ ...step, grains: small });
    const second = await measure({ ...step, grains: large });
    return {
      parameters: { small_grains: small, grains: large, opens, questions },
      metrics: rounded({ ...second, ...named('small', first) }),
    };
  });
}

interface Step {
  readonly folder: string;
  readonly grains: number;
  /** Number of openings, and of kills. */
  readonly opens: number;
  /** Recalls after which the heap is measured again. */
  readonly questions: number;
  /** Of the collector, before a heap is measured. */
  readonly passes: number | undefined;
  /** Runs a task, in a separate process or in this one. */
  readonly ask: (task: Task) => Promise<unknown>;
}

/** Fills the shard in `folder` up to `grains` and measures it. */
async function measure({
  folder,
  grains,
  opens: times,
  questions,
  passes,
  ask,
}: Step): Promise<Record<string, number>> {
  const filled = (await ask({ kind: 'fill', folder, grains })) as Filled; // the result of `serve` for each kind of task
  const disk = bytesOnDisk(folder);
  const opens: Opened[] = [];
  for (let i = 0; i < times; i++) opens.push((await ask({ kind: 'open', folder, questions, passes })) as Opened);
  // Killed while it adds: acknowledged, unsealed grains are replayed.
  const killed: Opened[] = [];
  let lost = 0;
  for (let i = 0; i < times; i++) {
    const before = killed.at(-1)?.grains ?? grains;
    const acknowledged = await killWhileAdding(folder, grains, i);
    const after = (await ask({ kind: 'open', folder, questions, passes })) as Opened;
    lost += Math.max(0, before + acknowledged - after.grains);
    killed.push(after);
  }
  const of = (figures: readonly Opened[], key: keyof Opened): number => median(figures.map((one) => one[key]));
  return {
    blob_bytes: filled.blobBytes,
    disk_bytes_per_grain: disk / grains,
    log_bytes_per_grain: filled.logBytes / grains,
    index_bytes_per_grain: filled.indexBytes / grains,
    held_bytes_per_grain: of(opens, 'heldBytes') / grains,
    held_after_recalls_bytes_per_grain: of(opens, 'heldAfterRecallsBytes') / grains,
    open_after_stop_s: of(opens, 'openMs') / 1_000,
    open_after_kill_s: of(killed, 'openMs') / 1_000,
    replayed_grains: of(killed, 'replayedGrains'),
    grains_held: of(opens, 'grains'),
    grains_lost: lost,
  };
}

type Task =
  | { readonly kind: 'fill'; readonly folder: string; readonly grains: number }
  | { readonly kind: 'open'; readonly folder: string; readonly questions: number; readonly passes: number | undefined }
  | { readonly kind: 'addUntilKilled'; readonly folder: string; readonly grains: number; readonly seed: number };

interface Filled {
  readonly blobBytes: number;
  readonly logBytes: number;
  readonly indexBytes: number;
}

interface Opened {
  readonly openMs: number;
  readonly grains: number;
  readonly replayedGrains: number;
  readonly heldBytes: number;
  readonly heldAfterRecallsBytes: number;
}

async function inChild(task: Task): Promise<unknown> {
  const child = fork(import.meta.filename);
  child.send(task);
  const [answer] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`${task.kind} ended with ${code}`))),
  ]);
  await once(child, 'exit');
  return answer;
}

/** A process that adds nearly a tail of grains and is killed while it continues. Resolves to the acknowledged grains. */
async function killWhileAdding(folder: string, grains: number, seed: number): Promise<number> {
  const task: Task = { kind: 'addUntilKilled', folder, grains, seed };
  const child = fork(import.meta.filename);
  child.send(task);
  const [acknowledged] = (await once(child, 'message')) as [number]; // what `serve` sends below
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
  return acknowledged;
}

async function serve(task: Task): Promise<unknown> {
  const openStart = performance.now();
  const empty = task.kind === 'open' ? await heldBytes(task.passes) : 0;
  const collectMs = performance.now() - openStart;
  const shard = await openShard(task.folder);
  const openMs = performance.now() - openStart - collectMs;
  const { engine } = shard;
  if (task.kind === 'open') {
    const { tailGrains } = engine.read('health', contextOf(0), {});
    const held = (await heldBytes(task.passes)) - empty;
    const { totalGrains } = engine.read('statistics', contextOf(1), {});
    recallOften(shard, grainSource(1), task.questions);
    const after = (await heldBytes(task.passes)) - empty;
    await engine.abandon();
    const opened: Opened = {
      openMs,
      grains: totalGrains,
      replayedGrains: tailGrains,
      heldBytes: held,
      heldAfterRecallsBytes: after,
    };
    return opened;
  }
  if (task.kind === 'addUntilKilled') {
    // Other seeds than `fill` uses: all grains are new.
    const source = grainSource(1_000_000 + task.grains + task.seed);
    process.send?.(await addAll(shard, batchesOf(1, source.take(Math.min(KILLED_GRAINS, task.grains)))));
    for (;;) await addAll(shard, batchesOf(1, source.take(1_000)));
  }
  if (!engine.store.holds(1)) await makeMemories(engine, 1, 1);
  const held = engine.read('statistics', contextOf(1), {}).totalGrains;
  const source = grainSource(2 + held);
  for (let left = task.grains - held; left > 0; left -= STEP)
    await addAll(shard, batchesOf(1, source.take(Math.min(left, STEP))));
  await settle(shard);
  const { diskSpaceBytes, totalGrains } = engine.read('statistics', contextOf(1), {});
  const indexBytes = engine.store.index.bytesOnDisk;
  const filled: Filled = {
    blobBytes: (diskSpaceBytes - engine.store.index.memoryBytes(1)) / totalGrains,
    logBytes: engine.store.log.bytesOnDisk(),
    indexBytes,
  };
  await shard.close();
  return filled;
}

function recallOften({ engine }: OpenShard, source: GrainSource, questions: number): void {
  for (let i = 0; i < questions; i++) {
    const asked = { filter: {}, structural: false, limit: 20, candidateLimit: 100, query: source.question() };
    engine.read('recall', contextOf(1), asked);
  }
}

if (import.meta.main && process.send !== undefined)
  process.once('message', async (task) => {
    process.send?.(await serve(task as Task)); // what `inChild` sent
    process.disconnect();
  });
