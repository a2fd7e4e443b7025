// Runs a named executor: a program of the operator with fixed arguments. The call goes to its standard input as one JSON
// object, the result comes from its standard output. There is no shell, and nothing of a client reaches the command line or
// the environment.
import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { EXECUTORS_RUNNING_MAX } from '../../engine/base/limits.ts';
import { stringifyJson } from '../../engine/grain/api/json.ts';
import type { Logger } from '../log.ts';
import type { HostExecutor } from './executor-file.ts';
import { failure, outputOf, type ToolInput, type ToolOutcome } from './outcome.ts';

/** Time that the pipes of a program that has ended may stay open. */
const PIPES_MS = 500;
/** Bytes of standard error that the log gets. */
const STDERR_LOGGED = 2_048;

export class HostExecutors {
  readonly #log: Pick<Logger, 'warn'>;
  readonly #running = new Set<ChildProcess>();

  constructor(log: Pick<Logger, 'warn'>) {
    this.#log = log;
  }

  /** Number of programs that run. */
  get running(): number {
    return this.#running.size;
  }

  /** Never rejects. An aborted call has ended its program. */
  async run(executor: HostExecutor, input: ToolInput, signal: AbortSignal): Promise<ToolOutcome> {
    if (this.#running.size >= EXECUTORS_RUNNING_MAX)
      return failure('executor_error', 'too many tools run on this server: try again later');
    if (signal.aborted) return failure('unknown', 'the turn ended');
    const late = AbortSignal.timeout(executor.timeoutMs);
    return new Promise((resolve) => {
      const child = started(executor, (error) => resolve(notStarted(error)));
      if (child === undefined) return;
      this.#running.add(child);
      const chunks: Buffer[] = [];
      let bytes = 0;
      let stderr = '';
      let cut: ToolOutcome | undefined;
      const end = (outcome: ToolOutcome): void => {
        cut ??= outcome;
        killGroup(child);
      };
      const onLate = (): void =>
        end(failure('timeout', `the tool did not finish within ${executor.timeoutMs / 1000} seconds`));
      const onAbort = (): void => end(failure('unknown', 'the turn ended before the tool finished'));
      late.addEventListener('abort', onLate, { once: true });
      signal.addEventListener('abort', onAbort, { once: true });
      child.stdout.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > executor.outputBytesMax)
          end(failure('executor_error', `the tool answered with more than ${executor.outputBytesMax} bytes`));
        else chunks.push(chunk);
      });
      child.stderr.on('data', (chunk: Buffer) => {
        if (stderr.length < STDERR_LOGGED) stderr += chunk.toString('utf8');
      });
      // A program may end without reading its input.
      child.stdin.on('error', () => undefined);
      child.stdin.end(stringifyJson(input));
      const settle = (outcome: ToolOutcome): void => {
        late.removeEventListener('abort', onLate);
        signal.removeEventListener('abort', onAbort);
        this.#running.delete(child);
        if (!outcome.ok && stderr !== '')
          this.#log.warn({ executor: executor.name, stderr: stderr.slice(0, STDERR_LOGGED) }, outcome.reason);
        resolve(outcome);
      };
      child.once('error', (error) => settle(notStarted(error)));
      child.once('exit', () => {
        // Processes that the program left in its group would hold the pipes open, and run on.
        killGroup(child);
        // Processes that left the group as well still hold them open.
        setTimeout(() => {
          child.stdout.destroy();
          child.stderr.destroy();
        }, PIPES_MS).unref();
      });
      child.once('close', (code, killedBy) => {
        const ended = code === null ? `was ended by ${killedBy}` : `ended with status ${code}`;
        settle(
          cut ??
            (code === 0
              ? { ok: true, output: outputOf(Buffer.concat(chunks)) }
              : failure('executor_error', `the tool ${ended}`)),
        );
      });
    });
  }

  /** Ends every program. */
  close(): void {
    for (const child of this.#running) killGroup(child);
  }
}

/** Undefined when the system starts none: the error is thrown, or without free descriptors comes as an event alone. */
function started(
  { program, args, directory, env }: HostExecutor,
  failed: (error: NodeJS.ErrnoException) => void,
): ChildProcessWithoutNullStreams | undefined {
  try {
    const child = spawn(program, args, {
      cwd: directory,
      env: { ...env },
      shell: false,
      // A group of its own, so that what the program starts ends with it.
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    if (child.stdin !== undefined) return child;
    (child as ChildProcess).once('error', failed);
  } catch (error) {
    failed(error as NodeJS.ErrnoException); // of the system
  }
  return undefined;
}

function notStarted({ code }: NodeJS.ErrnoException): ToolOutcome {
  return failure('executor_error', `the tool could not be started (${code ?? 'unknown'})`);
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group has no members any more.
  }
}
