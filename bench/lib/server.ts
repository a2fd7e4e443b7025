// A server in a process of its own, and the echo servers that it is compared with.
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A process that is called over the network, and whose CPU time can be told. */
export interface Target {
  readonly http: number;
  readonly grpc: number;
  /** The API key that calls bring. */
  readonly key: string | undefined;
  /** CPU time of the process so far, in microseconds; undefined where the system does not tell it that way. */
  cpuUs(): number | undefined;
  /** Ends it by SIGTERM and waits. */
  stop(): Promise<void>;
}

export interface ServerOptions {
  readonly dataDirectory: string;
  readonly workers: number;
  readonly shards: number;
  readonly auth: 'none' | 'api-key';
  /** A folder that takes CPU profiles of its threads. */
  readonly profile?: string | undefined;
}

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
const KEY = `gr_${'be'.repeat(32)}`;

/** Starts `granary serve` on free ports. */
export async function startServer({ profile, ...options }: ServerOptions): Promise<Target> {
  const flags = {
    'data-dir': options.dataDirectory,
    workers: options.workers,
    shards: options.shards,
    auth: options.auth,
    'http-port': 0,
    'grpc-port': 0,
    'log-level': 'error',
    embedder: 'none',
  };
  const words = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const profiling = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`];
  const key = options.auth === 'none' ? undefined : KEY;
  const child = spawn(process.execPath, [...profiling, MAIN, 'serve', ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...(key === undefined ? {} : { GRANARY_BOOTSTRAP_KEY: key }) },
  });
  // A scenario that fails leaves no server behind.
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('exit', () => process.removeListener('exit', kill));
  let said = '';
  child.stderr.on('data', (bytes: Buffer) => {
    said = (said + bytes.toString()).slice(-10_000);
  });
  const line = await Promise.race([
    once(createInterface(child.stdout), 'line').then(([text]) => String(text)),
    once(child, 'exit').then(([code]) => {
      throw new Error(`the server ended with ${code}:\n${said}`);
    }),
  ]);
  const { http, grpc } = JSON.parse(line) as { http: string; grpc: string }; // the ready line
  return {
    http: Number(new URL(http).port),
    grpc: Number(grpc.split(':').at(-1)),
    key,
    cpuUs: () => cpuUs(child),
    stop: () => stop(child),
  };
}

/** Starts one of the echo servers. Calls bring a key there too: the same bytes. */
export async function startEcho(kind: 'grpc' | 'http'): Promise<Target> {
  const child = fork(new URL('./echo-process.ts', import.meta.url), [kind]);
  const [port] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code]) => {
      throw new Error(`the echo server ended with ${code}`);
    }),
  ])) as [number];
  return { http: port, grpc: port, key: KEY, cpuUs: () => cpuUs(child), stop: () => stop(child) };
}

/** Makes a memory of one partition. */
export async function createMemory(server: Target, id: string): Promise<void> {
  await askJson(server, 'POST', '/memories', { id });
}

/** Live grains of a memory. */
export async function grainsHeld(server: Target, id: string): Promise<number> {
  const { total_grains } = await askJson(server, 'GET', `/memories/${id}/stats`);
  return total_grains as number; // the contract's answer
}

/** One call over HTTP; its path begins after `/api`. */
export async function askJson(
  { http, key }: Target,
  method: 'GET' | 'POST',
  path: string,
  body?: unknown,
): Promise<Record<string, unknown>> {
  const response = await fetch(`http://127.0.0.1:${http}/api${path}`, {
    method,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Record<string, unknown>; // the contract: an object
}

const IDLE_LOOK_MS = 100;
const IDLE_LOOKS = 5;
/** Below this share of a core nothing is being merged. */
const IDLE_SHARE = 0.05;
const SETTLE_MS_MAX = 60_000;

/**
 * Waits until the server has sealed and merged what it was given, which `looks` in a row have to confirm; seconds that it
 * took, without these.
 */
export async function settled(server: Target, looks = IDLE_LOOKS): Promise<number> {
  const start = performance.now();
  let quiet = 0;
  let lastBusy = start;
  for (let before = server.cpuUs(); quiet < looks && performance.now() - start < SETTLE_MS_MAX; ) {
    await new Promise((resolve) => setTimeout(resolve, IDLE_LOOK_MS));
    const after = server.cpuUs();
    if (before === undefined || after === undefined || after - before < IDLE_SHARE * IDLE_LOOK_MS * 1_000) quiet += 1;
    else {
      quiet = 0;
      lastBusy = performance.now();
    }
    before = after;
  }
  return (lastBusy - start) / 1_000;
}

/** Ticks of a process's clock in a second, on every Linux that Node runs on. */
const TICKS_A_SECOND = 100;

function cpuUs({ pid }: ChildProcess): number | undefined {
  if (process.platform !== 'linux') return undefined;
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // After the name, which may hold spaces: state is field 3, user and system time are 14 and 15.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND) * 1_000_000;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  await exit;
}
