// Counts in each JavaScript thread of this process how long it stood still for garbage collection, and notes which
// threads own shards. Preloaded with `--import`, which worker threads inherit; the totals are in memory that all share.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { readlinkSync } from 'node:fs';
import { PerformanceObserver } from 'node:perf_hooks';
import { getEnvironmentData, isMainThread, setEnvironmentData } from 'node:worker_threads';

export interface ThreadSlot {
  /** The system's number of the thread. */
  readonly tid: number;
  readonly ownsShards: boolean;
  /** Sum of all pauses so far, by the clock. */
  readonly gcPauseMs: number;
}

/** The request of a parent; the answer is `{ slots }`. */
export const ASK_SLOTS = 'thread-slots';

const KEY = 'granary-bench-thread-slots';
/** Threads in the life of a process. */
const SLOTS_MAX = 1_024;
/** Float64 for each slot: thread, 1 if it owns shards, milliseconds. */
const FIELDS = 3;
const COUNT_BYTES = 8;
const SHARD_WORKER = /\/shard-worker\.[jt]s$/;
/** Node publishes there what a thread loads with `import()` and with `require()`. */
const LOADS = ['tracing:module.import:start', 'tracing:module.require:start'];

const memory = shared();
/** The number of threads. */
const count = new Int32Array(memory, 0, 1);
const fields = new Float64Array(memory, COUNT_BYTES);
const tid = ownTid();
if (tid !== undefined) occupy(tid);

/** The threads that have started; those that have ended are among them. Throws when there were too many to count. */
export function readSlots(): ThreadSlot[] {
  const used = Atomics.load(count, 0);
  if (used > SLOTS_MAX) throw new Error(`the process started ${used} threads; thread-slots.ts counts ${SLOTS_MAX}`);
  return Array.from({ length: used }, (_, slot) => {
    const [of = 0, owns = 0, gcPauseMs = 0] = fields.subarray(slot * FIELDS, (slot + 1) * FIELDS);
    return { tid: of, ownsShards: owns === 1, gcPauseMs };
  });
}

function shared(): SharedArrayBuffer {
  const inherited = getEnvironmentData(KEY);
  if (inherited instanceof SharedArrayBuffer) return inherited;
  const made = new SharedArrayBuffer(COUNT_BYTES + SLOTS_MAX * FIELDS * Float64Array.BYTES_PER_ELEMENT);
  setEnvironmentData(KEY, made);
  return made;
}

/** Undefined where the system has no /proc. */
function ownTid(): number | undefined {
  try {
    return Number(readlinkSync('/proc/thread-self').split('/').at(-1));
  } catch {
    return undefined;
  }
}

function occupy(thread: number): void {
  const slot = Atomics.add(count, 0, 1);
  if (slot >= SLOTS_MAX) return;
  const own = fields.subarray(slot * FIELDS, (slot + 1) * FIELDS);
  own[0] = thread;
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) own[2]! += duration;
  }).observe({ entryTypes: ['gc'] });
  if (isMainThread) return;
  const look = (loaded: unknown): void => {
    // The messages of the two channels, as Node documents them.
    const { url, id } = loaded as { readonly url?: URL | string; readonly id?: string };
    if (!SHARD_WORKER.test(String(url ?? id))) return;
    own[1] = 1;
    for (const channel of LOADS) unsubscribe(channel, look);
  };
  for (const channel of LOADS) subscribe(channel, look);
}
