// The path of a BatchAdd of a thousand plain beliefs in one thread, from the bytes of its request to those of its reply:
// CPU and allocated heap by step. Rounds of the sampling heap profiler take turns with rounds without it. The heap
// figures hardly depend on other load of the machine, so they show small changes.
import { mkdirSync, writeFileSync } from 'node:fs';
import { type HeapProfiler, Session } from 'node:inspector/promises';
import { join } from 'node:path';
import { PerformanceObserver } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AddRequest, BatchAddRequest } from '../../src/server/gen/memory/v1/memory.ts';
import { CODECS, codecOf } from '../../src/server/operations/codecs.ts';
import { batchAdd } from '../../src/server/operations/grains/batch-add.ts';
import type { ReadCall } from '../../src/shards/transport/codec.ts';
import { BATCH_GRAINS, contextOf, makeMemories, type OpenShard, openShard, settle } from '../lib/engine.ts';
import { inFolder } from '../lib/folder.ts';
import { type GrainSource, grainSource } from '../lib/grains.ts';
import { collect } from '../lib/heap.ts';
import type { Measured, Options, Scenario } from '../lib/scenario.ts';
import { sized } from '../lib/scenario.ts';
import { median, rounded } from '../lib/statistics.ts';

const STEPS = ['read', 'add', 'reply', 'seal'] as const;
type Step = (typeof STEPS)[number];
type Spent = Record<Step, number>;
/** Bytes between two samples: a round's figures are within a percent. */
const SAMPLING_BYTES = 4_096;

export const scenario: Scenario = {
  name: 'write-path',
  about: 'a batch of beliefs from its bytes to its reply, in one thread: CPU and allocated heap by step',
  aims: [{ metric: 'heap_bytes_per_grain', atMost: 3_000 }],
  run,
};

async function run({ size, profile }: Options): Promise<Measured> {
  const rounds = sized(size, { full: 7, quick: 3, smoke: 1 });
  const calls = sized(size, { full: 32, quick: 16, smoke: 1 });
  const batchGrains = sized(size, { full: BATCH_GRAINS, quick: BATCH_GRAINS, smoke: 20 });
  const grains = calls * batchGrains;
  return inFolder(async (folder) => {
    const shard = await openShard(join(folder, 'granary'), { hasSegmentThread: false });
    await makeMemories(shard.engine, 1, 1);
    const source = grainSource(1);
    const session = new Session();
    session.connect();
    let pausedMs = 0;
    const pauses = new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) pausedMs += duration;
    });
    pauses.observe({ entryTypes: ['gc'] });
    const gcUs: number[] = [];
    const cpu: Spent[] = [];
    const heap: Spent[] = [];
    const requests = () => Array.from({ length: calls }, () => requestOf(source, batchGrains));
    for (let round = 0; round <= rounds; round++) {
      // The first round warms up.
      const made = requests();
      collect();
      await nextTurn();
      pausedMs = 0;
      const spent = await cpuOfRound(shard, made);
      await nextTurn();
      const paused = pausedMs;
      const allocated = await heapOfRound(shard, requests(), session);
      if (round === 0) continue;
      cpu.push(spent);
      gcUs.push((paused * 1_000) / grains);
      heap.push(allocated);
    }
    if (profile !== undefined) await writeProfiles(profile, session, shard, [requests(), requests()]);
    pauses.disconnect();
    session.disconnect();
    await shard.close();
    const figures = (of: readonly Spent[], unit: string): [string, number][] => [
      [`${unit}_per_grain`, median(of.map((spent) => STEPS.reduce((sum, step) => sum + spent[step], 0) / grains))],
      ...STEPS.map((step): [string, number] => [
        `${step}_${unit}_per_grain`,
        median(of.map((spent) => spent[step] / grains)),
      ]),
    ];
    return {
      parameters: { calls_a_round: calls, batch_grains: batchGrains, rounds },
      metrics: rounded(
        Object.fromEntries([
          ...figures(cpu, 'cpu_us'),
          ['gc_pause_us_per_grain', median(gcUs)],
          ...figures(heap, 'heap_bytes'),
        ]),
      ),
    };
  });
}

function requestOf(source: GrainSource, count: number): Uint8Array {
  const items = source
    .take(count)
    .map(({ grainType, fields }) => AddRequest.fromPartial({ grainType, fieldsJson: JSON.stringify(fields) }));
  return BatchAddRequest.encode(BatchAddRequest.fromPartial({ items })).finish();
}

const CODEC = CODECS[codecOf(batchAdd.grpc!) ?? 0]!; // the row has a face for gRPC
const context = contextOf(1);

function read(request: Uint8Array): ReadCall {
  return CODEC.decode(request, context, true);
}

async function add(shard: OpenShard, { call }: ReadCall): Promise<unknown> {
  if (call.method !== 'addBatch') throw new Error('the request is no batch');
  const output = await shard.engine.write(call.method, context, call.input);
  for (const outcome of output.outcomes)
    if ('error' in outcome || outcome.duplicate) throw new Error('a grain of the scenario was not added');
  return output;
}

/** All steps of a round. `measured` runs one. */
async function addAll(
  shard: OpenShard,
  requests: readonly Uint8Array[],
  measured: <T>(step: Step, work: () => T | Promise<T>) => Promise<T>,
): Promise<void> {
  for (const request of requests) {
    const readCall = await measured('read', () => read(request));
    const output = await measured('add', () => add(shard, readCall));
    await measured('reply', () => readCall.encode(output));
  }
  await measured('seal', () => settle(shard));
}

/** Microseconds of the process. */
async function cpuOfRound(shard: OpenShard, requests: readonly Uint8Array[]): Promise<Spent> {
  const spent = nothing();
  await addAll(shard, requests, async (step, work) => {
    const before = process.cpuUsage();
    const result = await work();
    const { user, system } = process.cpuUsage(before);
    spent[step] += user + system;
    return result;
  });
  return spent;
}

/** Bytes of the heap, collected ones included. */
async function heapOfRound(shard: OpenShard, requests: readonly Uint8Array[], session: Session): Promise<Spent> {
  const spent = nothing();
  await addAll(shard, requests, async (step, work) => {
    await startSampling(session);
    const result = await work();
    const { profile } = await session.post('HeapProfiler.stopSampling');
    spent[step] += bytesOf(profile.head);
    return result;
  });
  return spent;
}

function nothing(): Spent {
  return { read: 0, add: 0, reply: 0, seal: 0 };
}

async function startSampling(session: Session): Promise<void> {
  await session.post('HeapProfiler.startSampling', {
    samplingInterval: SAMPLING_BYTES,
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true,
  });
}

function bytesOf({ selfSize, children }: HeapProfiler.SamplingHeapProfileNode): number {
  return children.reduce((sum, child) => sum + bytesOf(child), selfSize);
}

/** Profiles of one round each, for Chromium's developer tools. */
async function writeProfiles(
  folder: string,
  session: Session,
  shard: OpenShard,
  [first, second]: readonly [readonly Uint8Array[], readonly Uint8Array[]],
): Promise<void> {
  mkdirSync(folder, { recursive: true });
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: 200 });
  await session.post('Profiler.start');
  await addAll(shard, first, async (_, work) => work());
  const cpu = await session.post('Profiler.stop');
  writeFileSync(join(folder, 'write-path.cpuprofile'), JSON.stringify(cpu.profile));
  await startSampling(session);
  await addAll(shard, second, async (_, work) => work());
  const heap = await session.post('HeapProfiler.stopSampling');
  writeFileSync(join(folder, 'write-path.heapprofile'), JSON.stringify(heap.profile));
}
