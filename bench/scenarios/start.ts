// The cost of a start: the command line without work, a command that opens a data directory itself, a worker's thread,
// the server. CPU time of the built package, because loading modules is most of a start.
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { BUILT } from '../../test/support/program.ts';
import { inFolder } from '../lib/folder.ts';
import { layOutPackage } from '../lib/package.ts';
import type { Measured, Options, Scenario, Skipped } from '../lib/scenario.ts';
import { sized } from '../lib/scenario.ts';
import { startServer } from '../lib/server.ts';
import { inTurns, median, rounded } from '../lib/statistics.ts';

const ROOT = join(import.meta.dirname, '..', '..');

export const scenario: Scenario = {
  name: 'start',
  about: 'CPU time to start: --version, stats without a server, a worker, the server',
  aims: [
    { metric: 'version_cpu_ms', atMost: 60 },
    { metric: 'stats_without_server_cpu_ms', atMost: 800 },
    // Half of the 228 ms from when every worker loaded the whole program.
    { metric: 'worker_cpu_ms', atMost: 114 },
    // A twentieth above what a server without providers took before it could have any.
    { metric: 'server_ready_cpu_ms', atMost: 620 },
    { metric: 'server_ready_resident_mb', atMost: 217 },
  ],
  run,
};

async function run({ size }: Options): Promise<Measured | Skipped> {
  if (process.platform !== 'linux') return { skipped: 'CPU time of a running server is read from /proc' };
  const rounds = sized(size, { full: 11, quick: 5, smoke: 1 });
  return inFolder(async (folder) => {
    // Building takes longer than a whole smoke run, so that runs the build of the test run, or the sources.
    const small = BUILT === undefined ? ([join(ROOT, 'src'), 'ts'] as const) : ([join(BUILT, 'dist'), 'js'] as const);
    const [root, suffix] = size === 'smoke' ? small : [join(await layOutPackage(folder), 'dist'), 'js'];
    const main = join(root, 'cli', `main.${suffix}`);
    const threads = join(root, 'server', `shard-worker.${suffix}`);
    const data = join(folder, 'data');
    await spentBy(folder, [main, 'add', 'ann', 'likes', 'tea', '--data-dir', data]);
    // One more round; the first is dropped because it fills the compile cache.
    const spent = await inTurns(size === 'smoke' ? 1 : rounds + 1, {
      node: () => spentBy(folder, ['--eval', '0']),
      version: () => spentBy(folder, [main, '--version']),
      stats: () => spentBy(folder, [main, 'stats', '--data-dir', data]),
      worker: () => workerStart(threads),
      server: (round) => serverStart(main, join(folder, `served-${round}`)),
    });
    const middle = (of: readonly Spent[], what: keyof Spent): number =>
      median(of.slice(-rounds).map((one) => one[what]));
    return {
      parameters: { rounds, package: suffix === 'ts' ? 'sources' : 'built' },
      metrics: rounded({
        node_cpu_ms: middle(spent.node, 'cpuMs'),
        version_cpu_ms: middle(spent.version, 'cpuMs'),
        stats_without_server_cpu_ms: middle(spent.stats, 'cpuMs'),
        stats_without_server_peak_mb: middle(spent.stats, 'mb'),
        worker_cpu_ms: middle(spent.worker, 'cpuMs'),
        worker_heap_mb: middle(spent.worker, 'mb'),
        server_ready_cpu_ms: middle(spent.server, 'cpuMs'),
        server_ready_resident_mb: middle(spent.server, 'mb'),
      }),
    };
  });
}

interface Spent {
  readonly cpuMs: number;
  /** Peak memory of an ended process, resident memory of a server, heap of a thread. */
  readonly mb: number;
}

/** Preloaded into the process, it reports CPU and memory of all threads on exit. */
const TELL = `const { writeFileSync } = require('node:fs');
if (require('node:worker_threads').isMainThread) process.on('exit', () => {
  const { user, system } = process.cpuUsage();
  const spent = { cpuMs: (user + system) / 1_000, mb: process.resourceUsage().maxRSS / 1_024 };
  writeFileSync(process.env.BENCH_SPENT, JSON.stringify(spent));
});`;

/** Runs Node to its end, without the caller's environment settings. */
async function spentBy(folder: string, words: readonly string[]): Promise<Spent> {
  const [tell, spent] = [join(folder, 'tell.cjs'), join(folder, 'spent.json')];
  writeFileSync(tell, TELL);
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GRANARY_')));
  await promisify(execFile)(process.execPath, ['--require', tell, ...words], { env: { ...env, BENCH_SPENT: spent } });
  return JSON.parse(readFileSync(spent, 'utf8')) as Spent; // written by the preloaded module
}

const LOAD = `const { parentPort, workerData } = require('node:worker_threads');
parentPort.on('message', () => undefined);
import(workerData).then(() => parentPort.postMessage(process.memoryUsage().heapUsed));`;

/** A thread that has loaded a worker's entry file, as Piscina does, and serves nothing yet. */
async function workerStart(entry: string): Promise<Spent> {
  const cache = join(ROOT, 'node_modules', '.cache', 'granary');
  const worker = new Worker(LOAD, {
    eval: true,
    workerData: pathToFileURL(entry).href,
    // Without the module that counts this process's threads.
    execArgv: [],
    env: { ...process.env, NODE_COMPILE_CACHE: cache },
  });
  try {
    const heapBytes = await new Promise<number>((resolve, reject) => worker.on('message', resolve).on('error', reject));
    const { user, system } = await worker.cpuUsage();
    return { cpuMs: (user + system) / 1_000, mb: heapBytes / 2 ** 20 };
  } finally {
    await worker.terminate();
  }
}

async function serverStart(main: string, dataDirectory: string): Promise<Spent> {
  const server = await startServer({ main, dataDirectory, workers: 2, shards: 8, auth: 'api-key', isUncounted: true });
  const figures = { cpuMs: server.cpuUs()! / 1_000, mb: server.residentBytes()! / 2 ** 20 }; // Linux reports both
  await server.stop();
  return figures;
}
