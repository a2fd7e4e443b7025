// The command line in a thread that the tests of a process share, for tests about what commands do against a server: a process
// for each command spends far longer on loading modules than on the command. A command has the arguments, the variables, the
// output and the exit code of a process, and an empty input. It has no signals and no working directory of its own, and its
// end does not wait for what it leaves open. Tests of those, of input, and of commands that open a data directory themselves
// start processes (cli.ts).
import { Worker } from 'node:worker_threads';
import { environment, jsonOf, type Ran, RUN_MS_MAX, storeOf } from './cli.ts';
import type { CommandRequest, CommandResult } from './command-thread-worker.ts';
import { MAIN } from './program.ts';

let thread: Worker | undefined;
/** Commands run one after the other: they share the output of the thread. */
let last: Promise<unknown> = Promise.resolve();

/** As `granary` of cli.ts. */
export async function granary(
  words: readonly string[],
  options: { readonly env?: Readonly<Record<string, string>> } = {},
): Promise<Ran> {
  const env = environment({ ...(await storeOf(words)), ...options.env });
  const ran = last.then(() => run({ main: MAIN, words, env }));
  last = ran.catch(() => undefined);
  return ran;
}

/** As `granaryJson` of cli.ts. */
export async function granaryJson(words: readonly string[], code = 0): Promise<Record<string, unknown>> {
  return jsonOf(words, await granary([...words, '--json']), code);
}

function run(request: CommandRequest): Promise<Ran> {
  thread ??= new Worker(new URL('command-thread-worker.ts', import.meta.url));
  const worker = thread;
  worker.ref();
  return new Promise<Ran>((resolve, reject) => {
    const limit = setTimeout(() => failed(new Error('the command hangs')), RUN_MS_MAX);
    const failed = (error: Error): void => {
      thread = undefined;
      void worker.terminate();
      done();
      reject(new Error(`${request.words.join(' ')} ended its thread: ${error.message}`, { cause: error }));
    };
    const exited = (code: number): void => failed(new Error(`exit code ${code}`));
    const answered = (result: CommandResult): void => {
      done();
      resolve(result);
    };
    const done = (): void => {
      clearTimeout(limit);
      worker.off('message', answered).off('error', failed).off('exit', exited).unref();
    };
    worker.on('message', answered).on('error', failed).on('exit', exited);
    worker.postMessage(request);
  });
}
