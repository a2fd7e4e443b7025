// Generates load on a server from a separate process: jobs and their results.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { Target } from './server.ts';
import { type CpuSpent, spentBetween, totalOf } from './thread-cpu.ts';

export interface LoadJob {
  readonly protocol: 'grpc' | 'http';
  readonly connections: number;
  /** Concurrent calls over all connections; HTTP uses a connection for each. */
  readonly inFlight: number;
  /** Maximum number of calls; `end` may stop earlier. */
  readonly calls: number;
  /** Starts calls at this rate, however many are running; without it, each call starts after another is answered. */
  readonly perSecond?: number | undefined;
  /** Start no more calls after this time. */
  readonly seconds?: number | undefined;
  readonly what: 'add' | 'batchAdd' | 'recall';
  /** Grains per call of `batchAdd`. */
  readonly batchGrains?: number | undefined;
  /** Use grains and questions of English words instead of made-up ones. */
  readonly english?: boolean;
  /** For `recall` over gRPC: send vectors drawn near those stored in this folder. */
  readonly vectorsFrom?: string | undefined;
  /** Memories that calls use in turn. */
  readonly memories: readonly string[];
  /** Seed of the grains or questions. */
  readonly seed: number;
}

/** A job and the address of its server. */
export interface PlacedJob extends LoadJob {
  readonly port: number;
  /** API key of the calls. */
  readonly key: string | undefined;
}

export interface LoadResult {
  readonly calls: number;
  readonly failed: number;
  readonly seconds: number;
  readonly callsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly meanMs: number;
  /** CPU of the load's own process; near 1,000,000 per second the client is the bottleneck. */
  readonly cpuUsPerCall: number;
  /** Bytes of all replies. */
  readonly replyBytes: number;
}

export interface ServedLoad extends LoadResult {
  /** CPU of the server's threads for all calls; undefined where the system does not report it. */
  readonly serverCpu: CpuSpent | undefined;
  /** All threads of the server; NaN where the system does not report it. */
  readonly serverCpuUsPerCall: number;
}

/** The single numbers of a load. */
export type LoadFigure = Exclude<keyof ServedLoad, 'serverCpu'>;

/** A process that calls servers, one job at a time. */
export class LoadClient {
  /** Processes of stopped clients; undefined: a process ends with its client. */
  static #waiting: ChildProcess[] | undefined;
  /** One for each process, because a process has several clients in turn. */
  static readonly #endings = new WeakMap<ChildProcess, Promise<never>>();
  readonly #child: ChildProcess;
  readonly #ended: Promise<never>;
  #isRunning = false;

  private constructor(child: ChildProcess) {
    this.#child = child;
    const ended = LoadClient.#endings.get(child) ?? endingOf(child);
    LoadClient.#endings.set(child, ended);
    this.#ended = ended;
  }

  static start(): LoadClient {
    return new LoadClient(LoadClient.#waiting?.pop() ?? fork(new URL('./load-process.ts', import.meta.url)));
  }

  /**
   * From now on, a client takes the process of one that was stopped: only for figures that nobody reads. Returns the
   * function that ends this, and the processes.
   */
  static useAgain(): () => void {
    const waiting: ChildProcess[] = [];
    LoadClient.#waiting = waiting;
    return () => {
      LoadClient.#waiting = undefined;
      for (const child of waiting) child.kill('SIGKILL');
    };
  }

  /** Runs a job, none of whose calls may fail, and measures the server's CPU. `onStart` is called at the start. */
  async run(target: Target, job: LoadJob, onStart?: () => void): Promise<ServedLoad> {
    const go = await this.prepare(target, job);
    return await go(onStart);
  }

  /** Prepares the bodies of a job. The function runs it, so that several clients can start at the same time. */
  async prepare(target: Target, job: LoadJob): Promise<(onStart?: () => void) => Promise<ServedLoad>> {
    const port = job.protocol === 'grpc' ? target.grpc : target.http;
    await this.#ask({ ...job, port, key: target.key } satisfies PlacedJob);
    return async (onStart) => {
      const before = await target.cpu();
      const going = this.#ask('go');
      this.#isRunning = true;
      onStart?.();
      const result = (await going) as LoadResult; // what the process sends last
      this.#isRunning = false;
      const after = await target.cpu();
      if (result.failed > 0) throw new Error(`${result.failed} of ${result.calls} calls failed`);
      const serverCpu = before === undefined || after === undefined ? undefined : spentBetween(before, after);
      const cpuUs = serverCpu === undefined ? Number.NaN : totalOf(serverCpu);
      return { ...result, serverCpu, serverCpuUsPerCall: cpuUs / result.calls };
    };
  }

  /** Starts no more calls: the run resolves when the current ones are answered. False when it had ended before. */
  end(): boolean {
    // An idle process would take the message for a job.
    if (this.#isRunning) this.#child.send('enough');
    return this.#isRunning;
  }

  stop(): void {
    if (LoadClient.#waiting === undefined || this.#isRunning) this.#child.kill('SIGKILL');
    else LoadClient.#waiting.push(this.#child);
  }

  async #ask(message: 'go' | PlacedJob): Promise<unknown> {
    const answer = once(this.#child, 'message');
    this.#child.send(message);
    const [answered] = await Promise.race([answer, this.#ended]);
    return answered;
  }
}

function endingOf(child: ChildProcess): Promise<never> {
  const ended = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`the load's process ended with ${code ?? signal}`);
  });
  // It also ends when it is stopped.
  ended.catch(() => undefined);
  return ended;
}
