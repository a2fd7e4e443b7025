// A server as an operator starts it: a separate process over a folder that the test gives, to be stopped or killed. Its data
// may lie in a database (store.ts).
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { MAIN, preloadOfMain, SOURCES_MAIN } from './program.ts';
import { ON_POSTGRES, storeVariables } from './store.ts';

export interface ProcessOptions {
  readonly directory: string;
  /** Flags after `serve`, besides the folder and the ports. */
  readonly flags?: readonly string[];
  /** A module loaded before the server's own, in every thread. */
  readonly preload?: string;
  /** Starts the sources, which a preloaded module looks at. */
  readonly ofSources?: true;
  /** The program's entry file, if not this version's. */
  readonly main?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Words before the command that run it in another way: `unshare`, a shell. */
  readonly through?: readonly string[];
}

export interface ServerProcess {
  /** `http://host:port`, without `/api`. */
  readonly http: string;
  /** `host:port`. */
  readonly grpc: string;
  /** The bootstrap key. */
  readonly key: string;
  readonly child: ChildProcess;
  /** Resolves when it has ended and all output has arrived. */
  readonly ended: Promise<void>;
  /** All output, of stdout and stderr. */
  output(): string;
  /** Sends SIGKILL. */
  kill(): Promise<void>;
  /** Sends SIGTERM; resolves to the exit code. */
  stop(): Promise<number | null>;
}

/** The server ended before it was ready. */
export class NotStarted extends Error {
  override name = 'NotStarted';
  readonly signal: NodeJS.Signals | null;
  readonly exitCode: number | null;
  readonly output: string;
  constructor(child: ChildProcess, output: string) {
    super(`the server did not start: ${output}`);
    this.signal = child.signalCode;
    this.exitCode = child.exitCode;
    this.output = output;
  }
}

/** Resolves when it listens; rejects with NotStarted. */
export async function startServerProcess(options: ProcessOptions): Promise<ServerProcess> {
  const { directory, flags = [], preload, ofSources, main, env = {}, through = [] } = options;
  const ports = ['--http-port', '0', '--grpc-port', '0'];
  const [command, ...words] = [
    ...through,
    process.execPath,
    ...(preload === undefined ? [] : ['--import', preloadOfMain(preload)]),
    main ?? (ofSources === true ? SOURCES_MAIN : MAIN),
    'serve',
    '--data-dir',
    directory,
    '--embedder',
    'none',
    ...ports,
    ...flags,
  ];
  const child = spawn(command!, words, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...withoutSettings(process.env), ...(ON_POSTGRES ? await storeVariables(directory) : {}), ...env },
  });
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const ended = new Promise<void>((done) => child.once('close', () => done()));
  const lines = createInterface({ input: child.stdout });
  const found = new Promise<{ http: string; grpc: string }>((done) => {
    lines.on('line', (line) => {
      output += `${line}\n`;
      // The ready line is the only line of stdout in JSON.
      if (line.startsWith('{"ready":true')) done(JSON.parse(line) as { http: string; grpc: string });
    });
  });
  const ready = await Promise.race([found, ended.then(() => undefined)]);
  if (ready === undefined) throw new NotStarted(child, output);
  const keyFile = join(directory, 'keys', 'bootstrap.key');
  return {
    http: ready.http,
    grpc: ready.grpc,
    key: existsSync(keyFile) ? readFileSync(keyFile, 'utf8').trim() : '',
    child,
    ended,
    output: () => output,
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
      return child.exitCode;
    },
  };
}

/** The environment without settings of a server. */
function withoutSettings(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('GRANARY_')));
}

export interface HttpAnswer {
  readonly status: number;
  /** The code of an error body. */
  readonly code: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: members are asserted where they are used
  readonly body: any;
}

/** A request with a JSON body, under `/api`. */
export async function ask(
  server: Pick<ServerProcess, 'http' | 'key'>,
  verb: string,
  path: string,
  json?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<HttpAnswer> {
  const response = await fetch(`${server.http}/api${path}`, {
    method: verb,
    headers: {
      authorization: `Bearer ${server.key}`,
      ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
  });
  const text = await response.text();
  const body = response.headers.get('content-type')?.startsWith('application/json') ? JSON.parse(text) : text;
  return { status: response.status, code: body?.error?.code, body };
}
