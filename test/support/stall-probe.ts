// Loaded by `--import` into every thread of a server: measures the longest time for which each thread's event loop was
// blocked, in CPU time of that thread. Other work on the machine makes an event loop late, but does not add to the
// thread's CPU time. Queried over IPC: `stalls` is answered with the longest times since the last query
// (`StallReport`).
import { BroadcastChannel, isMainThread, threadId } from 'node:worker_threads';

export interface StallReport {
  /** CPU milliseconds between two checks of the main thread. */
  readonly mainMs: number;
  /** The same for every other thread of the first report, and the longest of later threads. */
  readonly workersMs: number;
  readonly helpersMs: number;
}

interface Cell {
  readonly thread: number;
  /** One number in memory shared by all threads. */
  readonly longestMs: Float64Array;
}

const LOOK_MS = 4;

const own: Cell = { thread: threadId, longestMs: new Float64Array(new SharedArrayBuffer(8)) };
let before = cpuMs();
setInterval(() => {
  const now = cpuMs();
  if (now - before > own.longestMs[0]!) own.longestMs[0] = now - before;
  before = now;
}, LOOK_MS).unref();

const channel = new BroadcastChannel('stall-probe');
channel.unref();
if (isMainThread) report();
else channel.postMessage(own);

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

function report(): void {
  const cells: Cell[] = [];
  let workers: ReadonlySet<number> | undefined;
  channel.onmessage = (event) => void cells.push((event as { data: Cell }).data); // posted above
  process.on('message', (message) => {
    if (message !== 'stalls') return;
    // The current turn counts at the next check of its thread.
    setTimeout(() => {
      workers ??= new Set(cells.map(({ thread }) => thread));
      const known = workers;
      const longest = (those: readonly Cell[]): number => Math.max(0, ...those.map((cell) => cell.longestMs[0]!));
      const latest: StallReport = {
        mainMs: longest([own]),
        workersMs: longest(cells.filter(({ thread }) => known.has(thread))),
        helpersMs: longest(cells.filter(({ thread }) => !known.has(thread))),
      };
      for (const cell of [own, ...cells]) cell.longestMs[0] = 0;
      process.send?.(latest);
    }, 3 * LOOK_MS);
  });
  process.channel?.unref();
}
