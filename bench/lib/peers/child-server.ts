// Starts a peer's own server on a free port of loopback and waits until it answers.
import { type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { PeerServer } from './peer.ts';

const LOOK_MS = 100;
const READY_MS_MAX = 60_000;

export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly options?: SpawnOptions;
  /** Ends it after it has written what it has to. */
  readonly signal: NodeJS.Signals;
  isReady(): boolean | Promise<boolean>;
}

export async function startChild(
  port: number,
  { command, args, signal, isReady, ...rest }: ServerCommand,
): Promise<PeerServer> {
  const child = spawn(command, args, { ...rest.options, stdio: 'ignore' });
  // A failing scenario must not leave a server behind.
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  for (const start = performance.now(); !(await isReady()); ) {
    if (child.exitCode !== null || performance.now() - start > READY_MS_MAX)
      throw new Error(`${command} did not start`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  return {
    address: String(port),
    pids: [child.pid!],
    async stop() {
      const ended = once(child, 'exit');
      child.kill(signal);
      await ended;
      process.removeListener('exit', kill);
    },
  };
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a port');
  server.close();
  await once(server, 'close');
  return address.port;
}
