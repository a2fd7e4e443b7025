// CPU time of a process by class of thread, from the system's counters of each thread (/proc/PID/task/*/schedstat), with
// the pauses of garbage collection that thread-slots.ts counts. The counters of a running thread lag by a clock tick at
// most, some milliseconds.
import { readdirSync, readFileSync } from 'node:fs';
import { readSlots, type ThreadSlot } from './thread-slots.ts';

/**
 * `main`: the main thread; of a scenario in process, the engine's. `workers`: own shards. `helpers`: the other threads of
 * JavaScript, as for documents, imports and embedding. `libuv`: its pool, where LMDB commits. `v8`: its pool, which
 * collects garbage and compiles beside the threads; the system does not tell which. `other`: the rest, with threads that
 * ended meanwhile.
 */
export const THREAD_CLASSES = ['main', 'workers', 'helpers', 'libuv', 'v8', 'other'] as const;
export type ThreadClass = (typeof THREAD_CLASSES)[number];

/** Microseconds. */
export interface CpuSpent extends Readonly<Record<ThreadClass, number>> {
  /**
   * Of `main`, `workers` and `helpers`, the share of garbage collection: a thread's pauses by the clock, less the part of
   * its time that it waited for a processor. NaN where the system does not report threads.
   */
  readonly gc: number;
}

export interface ThreadTimes {
  readonly of: ThreadClass;
  readonly us: number;
  /** Time for which it could have run, but others did. */
  readonly waitUs: number;
  readonly gcPauseUs: number;
}

/** Counters of a process at one moment. */
export interface CpuSnapshot {
  /** By thread. */
  readonly threads: ReadonlyMap<number, ThreadTimes>;
  readonly processUs: number;
}

/** The counters before the start of a process. */
export const NO_CPU: CpuSnapshot = { threads: new Map(), processUs: 0 };

/** Undefined where the system does not report them. */
export function snapshotOf(pid: number, slots: readonly ThreadSlot[]): CpuSnapshot | undefined {
  const processUs = processCpuUs(pid);
  const tids = tidsOf(pid);
  if (processUs === undefined || tids === undefined) return undefined;
  const slotOf = new Map(slots.map((slot) => [slot.tid, slot]));
  const threads = new Map<number, ThreadTimes>();
  for (const tid of tids) {
    const read = readThread(pid, tid);
    if (read === undefined) continue;
    const { name, us, waitUs } = read;
    const slot = slotOf.get(tid);
    threads.set(tid, { of: classOf(tid === pid, slot, name), us, waitUs, gcPauseUs: (slot?.gcPauseMs ?? 0) * 1_000 });
  }
  return threads.size === 0 ? undefined : { threads, processUs };
}

export function spentBetween(before: CpuSnapshot, after: CpuSnapshot): CpuSpent {
  const spent: Record<ThreadClass, number> = { main: 0, workers: 0, helpers: 0, libuv: 0, v8: 0, other: 0 };
  let gc = 0;
  for (const [tid, thread] of after.threads) {
    const earlier = before.threads.get(tid);
    const us = thread.us - (earlier?.us ?? 0);
    const waitUs = thread.waitUs - (earlier?.waitUs ?? 0);
    spent[thread.of] += us;
    if (us > 0) gc += ((thread.gcPauseUs - (earlier?.gcPauseUs ?? 0)) * us) / (us + waitUs);
  }
  // The counters of an ended thread are gone; its time is still in the process's.
  if ([...before.threads.keys()].some((tid) => !after.threads.has(tid)))
    spent.other += Math.max(0, after.processUs - before.processUs - totalOf(spent));
  return { ...spent, gc };
}

/** CPU of this process during `work`; where the system reports no threads, all of it is `other`. */
export async function ownCpu<T>(work: () => T | Promise<T>): Promise<{ readonly result: T; readonly cpu: CpuSpent }> {
  await counted();
  const before = snapshotOf(process.pid, readSlots());
  const start = process.cpuUsage();
  const result = await work();
  const { user, system } = process.cpuUsage(start);
  await counted();
  const after = snapshotOf(process.pid, readSlots());
  if (before !== undefined && after !== undefined) return { result, cpu: spentBetween(before, after) };
  const none = { main: 0, workers: 0, helpers: 0, libuv: 0, v8: 0 };
  return { result, cpu: { ...none, other: user + system, gc: Number.NaN } };
}

/** The system brings a thread's counters up to date when it sleeps, and Node reports pauses between turns of the loop. */
function counted(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1));
}

/** Microseconds of all threads. */
export function totalOf(spent: Readonly<Record<ThreadClass, number>>): number {
  return THREAD_CLASSES.reduce((sum, of) => sum + spent[of], 0);
}

/** Garbage collection as a share of the CPU time of the threads of JavaScript. */
export function gcShareOf({ main, workers, helpers, gc }: CpuSpent): number {
  return gc / (main + workers + helpers);
}

function classOf(isMain: boolean, slot: ThreadSlot | undefined, name: string): ThreadClass {
  if (isMain) return 'main';
  if (slot !== undefined) return slot.ownsShards ? 'workers' : 'helpers';
  // The names that Node gives its threads. Without slots, threads of JavaScript cannot be told apart.
  if (name === 'libuv-worker') return 'libuv';
  if (name === 'V8Worker') return 'v8';
  return name === 'WorkerThread' ? 'helpers' : 'other';
}

function tidsOf(pid: number): number[] | undefined {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number);
  } catch {
    return undefined;
  }
}

/** Undefined when the thread has ended. */
function readThread(
  pid: number,
  tid: number,
): ({ readonly name: string } & Pick<ThreadTimes, 'us' | 'waitUs'>) | undefined {
  try {
    const task = `/proc/${pid}/task/${tid}`;
    // Nanoseconds on a processor, nanoseconds waiting for one, time slices.
    const [ns, waitNs] = readFileSync(`${task}/schedstat`, 'latin1').split(' ').map(Number);
    if (ns === undefined || waitNs === undefined) return undefined;
    return { name: readFileSync(`${task}/comm`, 'latin1').trim(), us: ns / 1_000, waitUs: waitNs / 1_000 };
  } catch {
    return undefined;
  }
}

/** Clock ticks per second, on every Linux that Node supports. */
const TICKS_A_SECOND = 100;

/**
 * CPU time of a process so far in microseconds, in steps of a tick; undefined where the system does not report it.
 * `ended`: with that of its children that have ended.
 */
export function processCpuUs(pid: number, ended = false): number | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return undefined;
  }
  // After the name, which may contain spaces: state is field 3, user and system time are 14 and 15, those of children 16 and 17.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = fields.slice(11, ended ? 15 : 13).reduce((sum, field) => sum + Number(field), 0);
  return (ticks / TICKS_A_SECOND) * 1_000_000;
}
