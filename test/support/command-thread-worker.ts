// The thread of command-thread.ts. It evaluates the program's entry file again for each command, as a process does, while
// the modules that the file imports stay loaded.
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { parentPort } from 'node:worker_threads';
import type { Ran } from './cli.ts';

export interface CommandRequest {
  /** Path of the program's entry file. */
  readonly main: string;
  readonly words: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

export type CommandResult = Ran;

type Write = typeof process.stdout.write;

let runs = 0;

/** Keeps in `chunks` what is written to a stream from now on; returns what lets the stream write again. */
function collect(stream: NodeJS.WriteStream, chunks: Uint8Array[]): () => void {
  const write = stream.write;
  const heard = stream.listeners('error');
  const keep = (chunk: string | Uint8Array, ...rest: readonly unknown[]): boolean => {
    const encoding = typeof rest[0] === 'string' ? (rest[0] as BufferEncoding) : 'utf8';
    chunks.push(typeof chunk === 'string' ? Buffer.from(chunk, encoding) : Uint8Array.from(chunk));
    const written = rest.find((value) => typeof value === 'function');
    if (written !== undefined) queueMicrotask(() => written());
    return true;
  };
  stream.write = keep as Write; // the overloads of write
  return () => {
    stream.write = write;
    for (const listener of stream.listeners('error'))
      if (!heard.includes(listener)) stream.off('error', listener as (error: Error) => void); // the program's
  };
}

async function run({ main, words, env }: CommandRequest): Promise<CommandResult> {
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
  process.argv = [process.execPath, main, ...words];
  process.exitCode = undefined;
  Object.defineProperty(process, 'stdin', { value: Readable.from([]), configurable: true });
  const stdout: Uint8Array[] = [];
  const stderr: Uint8Array[] = [];
  const restores = [collect(process.stdout, stdout), collect(process.stderr, stderr)];
  try {
    await import(`${pathToFileURL(main).href}?run=${++runs}`);
  } finally {
    for (const restore of restores) restore();
  }
  const code = Number(process.exitCode ?? 0);
  process.exitCode = undefined;
  return { code, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() };
}

parentPort?.on('message', async (request: CommandRequest) => parentPort?.postMessage(await run(request)));
