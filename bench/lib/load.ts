// Load on a server from a process of its own: what is to be sent, and what came of it.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { Target } from './server.ts';

export interface LoadJob {
  readonly protocol: 'grpc' | 'http';
  readonly connections: number;
  /** Calls under way at once, over all connections; HTTP has a connection for each. */
  readonly inFlight: number;
  /** Calls at most: `end` may come first. */
  readonly calls: number;
  /** With it calls begin at this rate, however many are under way; without it each begins when one was answered. */
  readonly perSecond?: number;
  readonly what: 'add' | 'batchAdd' | 'recall';
  /** Of `batchAdd`: grains of a call. */
  readonly batchGrains?: number;
  /** Over gRPC: grains and questions of English words, not of made-up ones. */
  readonly english?: boolean;
  /** Of `recall` over gRPC: brings vectors drawn near those that this folder keeps. */
  readonly vectorsFrom?: string | undefined;
  /** Memories that the calls go to in turn. */
  readonly memories: readonly string[];
  /** Of the grains or questions; another seed gives other ones. */
  readonly seed: number;
}

/** A job and where its calls go. */
export interface PlacedJob extends LoadJob {
  readonly port: number;
  /** The API key that calls bring. */
  readonly key: string | undefined;
}

export interface LoadResult {
  readonly calls: number;
  readonly failed: number;
  readonly seconds: number;
  readonly callsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly meanMs: number;
  /** Of the load's own process; near 1,000,000 a second it is what limits. */
  readonly cpuUsPerCall: number;
  /** Bytes of all replies. */
  readonly replyBytes: number;
}

export interface ServedLoad extends LoadResult {
  /** Of all threads of the server; NaN where the system does not tell. */
  readonly serverCpuUsPerCall: number;
}

/** A process that calls servers, one job at a time. */
export class LoadClient {
  readonly #child: ChildProcess;
  readonly #ended: Promise<never>;
  #isRunning = false;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#ended = once(child, 'exit').then(([code, signal]) => {
      throw new Error(`the load's process ended with ${code ?? signal}`);
    });
    // It ends when it is stopped, too.
    this.#ended.catch(() => undefined);
  }

  static start(): LoadClient {
    return new LoadClient(fork(new URL('./load-process.ts', import.meta.url)));
  }

  /** Calls a server, none of which may fail, and tells what the server spent on them. `begun` is told of the start. */
  async run(target: Target, job: LoadJob, begun?: () => void): Promise<ServedLoad> {
    const port = job.protocol === 'grpc' ? target.grpc : target.http;
    await this.#ask({ ...job, port, key: target.key } satisfies PlacedJob);
    const before = target.cpuUs();
    const going = this.#ask('go');
    this.#isRunning = true;
    begun?.();
    const result = (await going) as LoadResult; // what the process sends last
    this.#isRunning = false;
    const after = target.cpuUs();
    if (result.failed > 0) throw new Error(`${result.failed} of ${result.calls} calls failed`);
    const cpuUs = before === undefined || after === undefined ? Number.NaN : after - before;
    return { ...result, serverCpuUsPerCall: cpuUs / result.calls };
  }

  /** Begins no more calls: the run resolves when those under way are answered. False when it had ended before. */
  end(): boolean {
    // A process that waits for a job would take it for one.
    if (this.#isRunning) this.#child.send('enough');
    return this.#isRunning;
  }

  stop(): void {
    this.#child.kill('SIGKILL');
  }

  async #ask(message: 'go' | PlacedJob): Promise<unknown> {
    const answer = once(this.#child, 'message');
    this.#child.send(message);
    const [answered] = await Promise.race([answer, this.#ended]);
    return answered;
  }
}
