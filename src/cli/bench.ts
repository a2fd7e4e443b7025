// `granary bench`: runs the benchmark suite of a checkout in a child process and passes all arguments on.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { EXIT } from './exit-codes.ts';
import { Failure } from './failure.ts';

const SUITE = fileURLToPath(new URL('../../bench/run.ts', import.meta.url));

export function registerBench(program: Command): void {
  program
    .command('bench')
    .description('Run the benchmarks (bench/run.ts) and pass all options on; --help lists them')
    .argument('[words...]')
    // All arguments go to the suite, `--help` too.
    .helpOption(false)
    .allowUnknownOption()
    .action(bench);
}

async function bench(words: readonly string[]): Promise<void> {
  if (!existsSync(SUITE))
    throw new Failure('FILE', 'this package does not include the benchmarks: run them in a checkout of the sources');
  const child = spawn(process.execPath, [SUITE, ...words], { stdio: 'inherit' });
  const pass = (signal: NodeJS.Signals): void => void child.kill(signal);
  process.on('SIGINT', pass).on('SIGTERM', pass);
  const [code] = (await once(child, 'exit')) as [number | null]; // documented by node
  process.removeListener('SIGINT', pass).removeListener('SIGTERM', pass);
  process.exitCode = code ?? EXIT.failed;
}
