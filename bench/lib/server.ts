// Starts servers in separate processes, and the echo servers to compare with.

import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Precision } from '../../src/embed/builtin/graph.ts';
import type { RuntimeName } from '../../src/embed/builtin/runtime.ts';
import { defined } from '../../src/engine/base/defined.ts';
import { DEFAULT_BACKEND } from '../../src/server/embedding/backends.ts';
import { MAIN } from '../../test/support/program.ts';
import { cpuTable } from './cpu-table.ts';
import { type CpuSnapshot, NO_CPU, processCpuUs, snapshotOf, spentBetween, totalOf } from './thread-cpu.ts';
import { ASK_SLOTS, type ThreadSlot } from './thread-slots.ts';

/** A server process whose CPU time can be measured. */
export interface Target {
  readonly pid: number;
  readonly http: number;
  readonly grpc: number;
  /** API key of the calls. */
  readonly key: string | undefined;
  /** CPU time of the process so far, in microseconds; undefined where the system does not report it. */
  cpuUs(): number | undefined;
  /** CPU time of its threads so far; likewise. */
  cpu(): Promise<CpuSnapshot | undefined>;
  /** Resident memory of the process in bytes; likewise. */
  residentBytes(): number | undefined;
  /** Sends SIGTERM and waits. */
  stop(): Promise<void>;
}

/** The built-in encoder, as a scenario wants it. */
export interface EmbedderOptions {
  readonly runtime: RuntimeName;
  /** Default: that of the server. */
  readonly precision?: Precision | undefined;
  /** Folder with the converted model and vectors of earlier runs. */
  readonly folder: string;
  /**
   * `encoded`: as `granary serve` does. `kept`: read vectors of an earlier run. `drawn`: near real vectors
   * (drawn-vectors.ts).
   */
  readonly grains: 'encoded' | 'kept' | 'drawn';
  /** Real vectors that are encoded, unless the folder has them, to draw near; default 512. */
  readonly drawnFrom?: number | undefined;
}

export interface ServerOptions {
  readonly dataDirectory: string;
  /** Leaves every option that can have one at its default: workers, shards, listener and embedder. */
  readonly allDefaults?: boolean;
  /** Entry file of the command line; default: the sources. */
  readonly main?: string;
  readonly workers: number;
  readonly shards: number;
  readonly auth: 'none' | 'api-key';
  /** Its directory holds what the scenario left there, or is read again: no other scenario can use the server. */
  readonly isOwn?: boolean;
  /** Leaves the counting of its threads out, which costs a start some milliseconds. */
  readonly isUncounted?: boolean;
  /** Folder for CPU profiles of its threads. */
  readonly profile?: string | undefined;
  /** Share of the requests whose traces are recorded; undefined: no tracing at all. */
  readonly tracedShare?: number | undefined;
  /** Without it there are no vectors. */
  readonly embedder?: EmbedderOptions | undefined;
  /** Further options of `granary serve`, which go before the ones made here. */
  readonly flags?: Readonly<Record<string, string>> | undefined;
  /** Further variables of its environment. */
  readonly env?: Readonly<Record<string, string>> | undefined;
}

const EMBEDDING = fileURLToPath(new URL('./embedding-process.ts', import.meta.url));
const TRACES = fileURLToPath(new URL('./trace-provider.ts', import.meta.url));
const COUNTING = ['--import', new URL('./thread-slots-served.ts', import.meta.url).href];
const KEY = `gr_${'be'.repeat(32)}`;

/** Starts `granary serve` on free ports. */
export async function startServer({ main = MAIN, profile, embedder, ...options }: ServerOptions): Promise<Target> {
  const config = {
    dataDir: options.dataDirectory,
    workers: options.workers,
    shards: options.shards,
    auth: options.auth,
    // The faster listener, as in all earlier lines of the history.
    http: 'uws',
    httpPort: 0,
    grpcPort: 0,
    logLevel: 'error',
    embedder: embedder === undefined ? 'none' : DEFAULT_BACKEND,
    ...options.flags,
  };
  const { dataDir, auth, httpPort, grpcPort, logLevel } = config;
  const given = options.allDefaults === true ? { dataDir, auth, httpPort, grpcPort, logLevel } : config;
  const flags = Object.entries(given).flatMap(([name, value]) => [`--${kebab(name)}`, String(value)]);
  const words =
    embedder === undefined ? [main, 'serve', ...flags] : [EMBEDDING, JSON.stringify(embedder), JSON.stringify(config)];
  const profiling = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`];
  const key = options.auth === 'none' ? undefined : KEY;
  const { tracedShare } = options;
  const tracing = tracedShare === undefined ? [] : ['--import', TRACES];
  const counting = options.isUncounted === true ? [] : COUNTING;
  const child = spawn(process.execPath, [...profiling, ...counting, ...tracing, ...words], {
    stdio: ['ignore', 'pipe', 'pipe', ...(counting.length === 0 ? [] : ['ipc' as const])],
    env: {
      ...process.env,
      TRACED_SHARE: String(tracedShare ?? 0),
      GRANARY_BOOTSTRAP_KEY: key ?? process.env['GRANARY_BOOTSTRAP_KEY'],
      ...options.env,
    },
  });
  // A failing scenario must not leave a server behind.
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('exit', () => process.removeListener('exit', kill));
  let said = '';
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error('the server was started without pipes');
  stderr.on('data', (bytes: Buffer) => {
    said = (said + bytes.toString()).slice(-10_000);
  });
  const line = await Promise.race([
    once(createInterface(stdout), 'line').then(([text]) => String(text)),
    once(child, 'exit').then(([code]) => {
      throw new Error(`the server ended with ${code}:\n${said}`);
    }),
  ]);
  const { http, grpc } = JSON.parse(line) as { http: string; grpc: string }; // the ready line
  return {
    http: Number(new URL(http).port),
    grpc: Number(grpc.split(':').at(-1)),
    key,
    ...countersOf(child),
    stop: () => stop(child, 'servers'),
  };
}

function kebab(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** Starts an echo server. Calls send a key too, so that they have the same size. */
export async function startEcho(kind: 'grpc' | 'http'): Promise<Target> {
  const child = fork(new URL('./echo-process.ts', import.meta.url), [kind], {
    execArgv: [...process.execArgv, ...COUNTING],
  });
  const [port] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code]) => {
      throw new Error(`the echo server ended with ${code}`);
    }),
  ])) as [number];
  return {
    http: port,
    grpc: port,
    key: KEY,
    ...countersOf(child),
    stop: () => stop(child, 'echoes'),
  };
}

/** Creates a memory of one partition. */
export async function createMemory(server: Target, id: string, settings: object = {}): Promise<void> {
  await askJson(server, 'POST', '/memories', { ...settings, id });
}

/** Number of live grains in a memory. */
export async function grainsHeld(server: Target, id: string): Promise<number> {
  const { total_grains } = await askJson(server, 'GET', `/memories/${id}/stats`);
  return total_grains as number; // the contract's answer
}

/** Grains of a memory that wait for their vectors. */
export async function lagOf(server: Target, id: string): Promise<number> {
  return Number((await askJson(server, 'GET', `/memories/${id}/stats`))['index_lag']);
}

const EMBEDDED_LOOK_MS = 250;
/** After this time without progress the wait fails. A slow model takes minutes for the texts of one step. */
const EMBEDDED_STILL_MS = 900_000;

/** Waits until every grain of the memories has its vectors. */
export async function embedded(server: Target, memories: readonly string[]): Promise<void> {
  let lastMs = performance.now();
  let last: number | undefined;
  for (;;) {
    let lag = 0;
    for (const id of memories) lag += await lagOf(server, id);
    if (lag === 0) return;
    // Memories take turns, so one of them may stand still while others go on.
    if (lag !== last) lastMs = performance.now();
    else if (performance.now() - lastMs > EMBEDDED_STILL_MS) throw new Error(`${lag} grains are not embedded`);
    last = lag;
    await new Promise((resolve) => setTimeout(resolve, EMBEDDED_LOOK_MS));
  }
}

/** One HTTP call; the path is relative to `/api`. */
export async function askJson(
  { http, key }: Target,
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  body?: unknown,
): Promise<Record<string, unknown>> {
  const response = await fetch(`http://127.0.0.1:${http}/api${path}`, {
    method,
    headers: defined({
      'content-type': body === undefined ? undefined : 'application/json',
      authorization: key === undefined ? undefined : `Bearer ${key}`,
    }),
    body: body === undefined ? null : JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Record<string, unknown>; // the contract: an object
}

/** Seals the tails of these memories; merges go on. */
export async function flushed(server: Target, memories: readonly string[]): Promise<void> {
  await Promise.all(memories.map((id) => askJson(server, 'POST', `/memories/${id}/flush`, {})));
}

const IDLE_LOOK_MS = 20;
const IDLE_LOOKS = 20;
/** CPU share of a core below which no merge is running. */
const IDLE_SHARE = 0.05;
const SETTLE_MS_MAX = 60_000;

/**
 * Waits until the server has sealed and merged everything, confirmed by `looks` checks in a row. Resolves to the
 * seconds it took, without the confirmation.
 */
export async function settled(server: Target, looks = IDLE_LOOKS, msMax = SETTLE_MS_MAX): Promise<number> {
  const start = performance.now();
  let quiet = 0;
  let lastBusy = start;
  for (let before = await server.cpu(); quiet < looks && performance.now() - start < msMax; ) {
    await new Promise((resolve) => setTimeout(resolve, IDLE_LOOK_MS));
    const after = await server.cpu();
    const spentUs = before === undefined || after === undefined ? 0 : totalOf(spentBetween(before, after));
    if (spentUs < IDLE_SHARE * IDLE_LOOK_MS * 1_000) quiet += 1;
    else {
      quiet = 0;
      lastBusy = performance.now();
    }
    before = after;
  }
  return (lastBusy - start) / 1_000;
}

function countersOf(child: ChildProcess): Pick<Target, 'pid' | 'cpuUs' | 'cpu' | 'residentBytes'> {
  return {
    pid: child.pid!,
    cpuUs: () => processCpuUs(child.pid!),
    cpu: async () => snapshotOf(child.pid!, await slotsOf(child)),
    residentBytes: () => residentBytes(child),
  };
}

/** Its threads of JavaScript; none of a process that was started without counting, or is ending. */
async function slotsOf(child: ChildProcess): Promise<ThreadSlot[]> {
  if (!child.connected) return [];
  const { promise, resolve } = Promise.withResolvers<ThreadSlot[]>();
  const answer = (message: unknown): void => resolve((message as { readonly slots: ThreadSlot[] }).slots); // as it sends
  const end = (): void => resolve([]);
  child.once('message', answer).once('exit', end);
  child.send(ASK_SLOTS);
  try {
    return await promise;
  } finally {
    child.off('message', answer).off('exit', end);
  }
}

function residentBytes({ pid }: ChildProcess): number | undefined {
  if (process.platform !== 'linux') return undefined;
  const kibibytes = /^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1_024;
}

async function stop(child: ChildProcess, name: string): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const counted = child.connected ? snapshotOf(child.pid!, await slotsOf(child)) : undefined;
  cpuTable.addWhole(name, counted && spentBetween(NO_CPU, counted));
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  await exit;
}
