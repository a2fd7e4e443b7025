// One shard's engine in this process, with maintenance scheduled as a worker does.
import { join } from 'node:path';
import { EngineError } from '../../src/engine/base/errors.ts';
import type { CallContext } from '../../src/engine/calls/context.ts';
import type { AddItem } from '../../src/engine/calls/grain.ts';
import type { MemorySettings } from '../../src/engine/calls/memory.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { takeOwnership } from '../../src/engine/log/wal/owner.ts';
import { openEngine } from '../../src/engine/open.ts';
import { Maintenance } from '../../src/shards/transport/maintenance.ts';
import { SegmentThread } from '../../src/shards/transport/segment-client.ts';

const MASTER_KEY = Buffer.alloc(32, 7);
const INDEX_HEAP_MB = 512;
/** Calls in flight: while one group commits, the next is prepared. */
const CALLS_IN_FLIGHT = 4;
/** Grains per call, the service's maximum for a batch. */
export const BATCH_GRAINS = 1_000;

export interface OpenShard {
  readonly engine: Engine;
  /** Maintenance. Report every call to it, as a worker reports every batch. */
  readonly maintenance: Maintenance;
  close(): Promise<void>;
}

export async function openShard(
  folder: string,
  options: {
    indexHeapMb?: number;
    /** A thread beside this one writes large segments. Default: as in a server on this machine. */
    hasSegmentThread?: boolean;
  } = {},
): Promise<OpenShard> {
  const fail = (error: unknown): void => {
    throw error;
  };
  const beside =
    (options.hasSegmentThread ?? SegmentThread.isWorthIt())
      ? new SegmentThread(new URL('../../src/server/segment-thread.ts', import.meta.url))
      : undefined;
  const wal = join(folder, 'wal');
  const engine = await openEngine({
    directory: join(folder, 'shard-0'),
    keysDirectory: join(folder, 'keys', 'shard-0'),
    shard: 0,
    shards: 1,
    masterKeys: [MASTER_KEY],
    writeAhead: { directory: wal, workers: 1, worker: 0, mark: takeOwnership(wal) },
    indexHeapBytes: (options.indexHeapMb ?? INDEX_HEAP_MB) * 1_048_576,
    onFatal: fail,
    sealer: beside,
    merger: beside,
  });
  const maintenance = new Maintenance({ engines: new Map([[0, engine]]), onBug: fail });
  const close = async (): Promise<void> => {
    maintenance.stop();
    await engine.close();
  };
  return { engine, maintenance, close };
}

export function contextOf(memory: number, actor = 'key:bench'): CallContext {
  return { memory, partition: 0, actor, requestId: 'bench', owns: true };
}

/** Creates memories `first` to `first + count - 1`. */
export async function makeMemories(engine: Engine, first: number, count: number): Promise<void> {
  const made: Promise<unknown>[] = [];
  for (let number = first; number < first + count; number++) {
    const settings: MemorySettings = {
      number,
      id: `memory-${number}`,
      partitions: 1,
      language: 'en',
      dedup: 'exact',
      dedupThreshold: 0.85,
      createdAtMs: Date.now(),
    };
    made.push(engine.write('attachMemory', contextOf(number), { settings }));
  }
  await Promise.all(made);
}

/** One call to `addBatch`. */
export interface Batch {
  readonly memory: number;
  readonly items: readonly AddItem[];
}

/** Batches of at most BATCH_GRAINS for one memory. */
export function batchesOf(memory: number, items: readonly AddItem[], grains = BATCH_GRAINS): Batch[] {
  const batches: Batch[] = [];
  for (let from = 0; from < items.length; from += grains)
    batches.push({ memory, items: items.slice(from, from + grains) });
  return batches;
}

/** Adds all batches, a few in flight at once. Throws when a grain was rejected or existed already. */
export async function addAll(shard: OpenShard, batches: Iterable<Batch>, actor?: string): Promise<number> {
  const { engine, maintenance } = shard;
  const queue = batches[Symbol.iterator]();
  let added = 0;
  const lane = async (): Promise<void> => {
    for (let next = queue.next(); next.done !== true; next = queue.next()) {
      const { memory, items } = next.value;
      const answer = engine.write('addBatch', contextOf(memory, actor), { items });
      maintenance.batchRan();
      for (const outcome of (await answer).outcomes) {
        if ('error' in outcome) throw EngineError.fromWire(outcome.error);
        if (outcome.duplicate) throw new Error('the scenario made the same grain twice');
        added += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: CALLS_IN_FLIGHT }, lane));
  return added;
}

/** Idle turns after which maintenance counts as finished: merges commit between turns. */
const QUIET_TURNS = 10;
const TURN_MS = 5;

/** Seals and merges everything. Resolves to the milliseconds it took, without the turns that look for more. */
export async function settle({ engine }: OpenShard): Promise<number> {
  const start = performance.now();
  for (const number of engine.store.memoryNumbers()) {
    await engine.write('flush', contextOf(number), {});
    break; // a shard is flushed as a whole
  }
  let lastBusy = performance.now();
  for (let quiet = 0; quiet < QUIET_TURNS; ) {
    if (engine.maintain(TURN_MS)) {
      quiet = 0;
      lastBusy = performance.now();
    } else {
      quiet += 1;
      await new Promise((resolve) => setTimeout(resolve, TURN_MS));
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  return lastBusy - start;
}
