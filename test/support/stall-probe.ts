// Loaded by `--import` into every thread of a server: how long each thread's event loop was held at most, in CPU time of that
// thread. A machine that does other work beside it makes an event loop late, but does not add to the thread's CPU time. Asked
// for over IPC: `stalls` is answered with the longest since it was last asked (`StallReport`).
import { BroadcastChannel, isMainThread, threadId } from 'node:worker_threads';

export interface StallReport {
  /** Milliseconds of CPU time between two looks of the main thread. */
  readonly mainMs: number;
  /** The same of every other thread that was there at the first report, and the longest of those that came later. */
  readonly workersMs: number;
  readonly helpersMs: number;
}

interface Cell {
  readonly thread: number;
  /** One number, in memory that all threads share. */
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
    // What runs now is counted by the next look of its thread.
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
