// How much slower this machine computes than the one for which the tests' limits of CPU time were chosen. CPU time does
// not depend on how many processes share a machine, but on the machine, and on what else its host does at the moment.
// `worker_threads` runs this file a second time, in the thread that does the fixed work.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';

/** CPU milliseconds of the fixed work on the reference machine, an idle one on which the slowest request keeps its limit. */
const REFERENCE_MS = 50;
/** Below 3, so that what reaches its limit on the reference machine fails everywhere once it takes three times as long. */
const SLOWDOWN_MAX = 2.5;

const ROWS = 20_000;
/** Memory that the system has to map first. */
const FRESH_BYTES = 32 * 1_048_576;
/** The work is done this often; the median counts. */
const TIMES = 3;

/** From 1 to 2.5: the factor by which a limit of CPU time grows at this moment. Takes some 300 ms of CPU. */
export async function slowdown(): Promise<number> {
  const thread = new Worker(import.meta.filename);
  const [ms] = await once(thread, 'message');
  assert.ok(typeof ms === 'number');
  return slowdownOf(ms);
}

/** For CPU milliseconds of the fixed work. */
export function slowdownOf(ms: number): number {
  return Math.min(SLOWDOWN_MAX, Math.max(1, ms / REFERENCE_MS));
}

/** The work of requests of many bytes: parsing, writing, and filling memory. */
function work(text: string): void {
  const rows: unknown = JSON.parse(text);
  assert.equal(JSON.stringify(rows).length, text.length);
  assert.equal(Buffer.alloc(FRESH_BYTES, 'fresh').at(-1), 'fresh'.charCodeAt((FRESH_BYTES - 1) % 5));
}

function medianMs(): number {
  const rows = Array.from({ length: ROWS }, (_, at) => ({
    [`f${at}`]: at,
    text: `the words of row ${at}`,
    list: [at, {}],
  }));
  const text = JSON.stringify(rows);
  work(text); // its code is compiled
  const times = Array.from({ length: TIMES }, () => {
    const before = process.threadCpuUsage();
    work(text);
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1_000;
  });
  return times.toSorted((a, b) => a - b)[Math.floor(TIMES / 2)]!;
}

if (!isMainThread) parentPort?.postMessage(medianMs());
