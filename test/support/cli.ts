// The command line as a user runs it: in a separate process, without the settings of this one's environment.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before } from 'node:test';
import { memoryFolder } from './memory-files.ts';
import { MAIN } from './program.ts';
import { startTestServer } from './server.ts';
import { ON_POSTGRES, storeVariables } from './store.ts';

/** Default working directory of commands. Commands would find a server's data in the directory of the tests. */
const EMPTY = mkdtempSync(join(tmpdir(), 'granary-cwd-'));
process.on('exit', () => rmSync(EMPTY, { recursive: true, force: true }));
/** A command that takes longer hangs. */
export const RUN_MS_MAX = 300_000;

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A small deployment starts sooner: two shards on one thread. */
export function environment(added: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('GRANARY_'));
  return { ...Object.fromEntries(kept), GRANARY_SHARDS: '2', GRANARY_WORKERS: '1', ...added };
}

/** The variables of the database that belongs to the data directory of a command, if it names one and the run has databases. */
export async function storeOf(words: readonly string[]): Promise<Readonly<Record<string, string>>> {
  const dataDir = words[words.indexOf('--data-dir') + 1];
  return ON_POSTGRES && words.includes('--data-dir') && dataDir !== undefined ? storeVariables(dataDir) : {};
}

export async function granary(
  words: readonly string[],
  options: {
    readonly input?: string;
    readonly env?: Readonly<Record<string, string>>;
    readonly cwd?: string;
    readonly main?: string;
  } = {},
): Promise<Ran> {
  const child = spawn(process.execPath, [options.main ?? MAIN, ...words], {
    env: environment({ ...(await storeOf(words)), ...options.env }),
    cwd: options.cwd ?? EMPTY,
    timeout: RUN_MS_MAX,
  });
  // A command that does not read its input has closed it.
  child.stdin.on('error', () => undefined);
  child.stdin.end(options.input ?? '');
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: child.exitCode, stdout, stderr };
}

/** The same with `--json`; returns the printed value. Throws with the output when its exit code is not `code`. */
export async function granaryJson(
  words: readonly string[],
  code = 0,
  input?: string,
): Promise<Record<string, unknown>> {
  return jsonOf(words, await granary([...words, '--json'], input === undefined ? {} : { input }), code);
}

/** The value that a command with `--json` printed. Throws with the output when its exit code is not `code`. */
export function jsonOf(words: readonly string[], ran: Ran, code: number): Record<string, unknown> {
  if (ran.code !== code) throw new Error(`exit code ${ran.code} of ${words.join(' ')}: ${ran.stderr}${ran.stdout}`);
  return JSON.parse(ran.stdout) as Record<string, unknown>; // one object, as the tests require
}

export interface ServeProcess {
  readonly http: string;
  readonly grpc: string;
  /** Ends it as an operator would; resolves to its exit code. */
  stop(): Promise<number | null>;
}

/** `granary serve` on free ports; resolves when it is ready. */
export async function serve(dataDirectory: string, more: readonly string[] = []): Promise<ServeProcess> {
  const flags = ['--http-port', '0', '--grpc-port', '0', '--log-level', 'error', '--embedder', 'none'];
  const words = ['serve', '--data-dir', dataDirectory, ...flags, ...more];
  const child = spawn(process.execPath, [MAIN, ...words], {
    env: environment(await storeOf(words)),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { http, grpc } = await readyLine(child);
  return {
    http,
    grpc,
    stop: async () => {
      if (child.exitCode === null) {
        child.kill('SIGTERM');
        await once(child, 'exit');
      }
      return child.exitCode;
    },
  };
}

async function readyLine(child: ChildProcess): Promise<{ readonly http: string; readonly grpc: string }> {
  let said = '';
  let complained = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    complained += chunk.toString();
  });
  for await (const chunk of child.stdout ?? []) {
    said += String(chunk);
    if (said.includes('\n')) return JSON.parse(said.slice(0, said.indexOf('\n'))) as { http: string; grpc: string }; // serve's own line
  }
  throw new Error(`serve ended before it was ready: ${complained}`);
}

export interface Served {
  /** A folder for the tests' files. */
  readonly directory: string;
  readonly server: () => Addresses;
  /** Arguments followed by the server's data directory. */
  readonly here: (...words: string[]) => string[];
}

type Addresses = Pick<ServeProcess, 'http' | 'grpc'>;

interface ServedOptions {
  /** As `granary serve`, in a process of its own. Default: in the test's process, which loads modules for several files. */
  readonly byCommand?: boolean;
  /**
   * Runs before the tests, when the server is ready: hooks of a file may run at the same time, and a command that finds no
   * server opens the data directory itself.
   */
  readonly prepare?: (served: Served) => Promise<void>;
}

/** A server for the tests of a file; it must end without an error after them. */
export function servedForFile({ byCommand = false, prepare }: ServedOptions = {}): Served {
  const directory = memoryFolder();
  const data = join(directory, 'data');
  let server: (Addresses & { end(): Promise<void> }) | undefined;
  before(async () => {
    server = byCommand ? await startedByCommand(data) : await startedHere(data);
    await prepare?.(served);
  });
  after(async () => {
    await server?.end();
    rmSync(directory, { recursive: true, force: true });
  });
  const served: Served = {
    directory,
    server: () => {
      assert.ok(server !== undefined, 'asked for inside of a test');
      return server;
    },
    here: (...words) => [...words, '--data-dir', data],
  };
  return served;
}

async function startedByCommand(data: string): Promise<Addresses & { end(): Promise<void> }> {
  const server = await serve(data);
  return { ...server, end: async () => assert.equal(await server.stop(), 0) };
}

async function startedHere(data: string): Promise<Addresses & { end(): Promise<void> }> {
  const server = await startTestServer({ dataDir: data });
  return {
    ...server,
    end: async () => {
      await server.close();
      assert.deepEqual(server.errors, []);
    },
  };
}
