// `granary health`: checks that the server is up.
import type { Command } from 'commander';
import { EXIT } from './exit-codes.ts';
import { type ServerOptions, withServerOptions } from './options.ts';
import { duration, printJson, printPairs } from './output.ts';

export function registerHealth(program: Command): void {
  const command = program
    .command('health')
    .description("Show the server's health; exit code 1 when it is unhealthy or does not run");
  withServerOptions(command).action(health);
}

async function health(options: ServerOptions): Promise<void> {
  const [{ withConnection }, { RPC }] = await Promise.all([import('./connection.ts'), import('./rpcs.ts')]);
  // A check of a supervisor may come before the server is up, and must not take the data directory from it.
  const connect = { mustRun: true };
  const answer = await withConnection(options, (connection) => connection.call(RPC.health, {}), connect);
  if (answer.status !== 'ok') process.exitCode = EXIT.failed;
  if (options.json) return printJson(answer);
  printPairs([
    ['status', answer.status],
    ['version', answer.version],
    ['up', duration(Number(answer.uptimeSeconds) * 1000)],
  ]);
}
