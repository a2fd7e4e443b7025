// `granary serve`: one JSON line on stdout when it is ready, words for people on stderr. Ends when the server was told
// to and has closed.
import { join } from 'node:path';
import type { Command } from 'commander';
import { type Config, optionLines, readConfig } from '../server/config.ts';
import type { RunningServer } from '../server/main.ts';

export function registerServe(program: Command): void {
  const command = program.command('serve').description('Run the server until SIGINT or SIGTERM');
  for (const { flag, description } of optionLines()) if (flag !== undefined) command.option(flag, description);
  const secrets = optionLines().filter(({ flag }) => flag === undefined);
  command.addHelpText(
    'after',
    `\nFrom the environment only:\n${secrets.map(({ env, description }) => `  ${env}  ${description}`).join('\n')}`,
  );
  command.action(serve);
}

async function serve(flags: Record<string, string | boolean | undefined>): Promise<void> {
  const config = readConfig(flags, process.env);
  // Not for the help text, which names this command among others.
  const { readyLine, startServer } = await import('../server/main.ts');
  const isRead = process.stderr.isTTY === true;
  const server = await startServer(config, { logsWarnings: !isRead });
  tell(server, config, isRead);
  // Listened for before anybody is told: who reads the line may end the server at once.
  const told = signal();
  process.stdout.write(readyLine(server));
  await told;
  // A second signal does not wait.
  for (const name of SIGNALS) process.once(name, () => process.exit(1));
  await server.close();
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Resolves at the first signal to end. */
function signal(): Promise<void> {
  return new Promise((resolve) => {
    const stop = (): void => {
      for (const name of SIGNALS) process.removeListener(name, stop);
      resolve();
    };
    for (const name of SIGNALS) process.on(name, stop);
  });
}

/** Levels of the log at which warnings are in it. */
const LOGGING_WARNINGS: ReadonlySet<string> = new Set(['trace', 'debug', 'info', 'warn']);

/**
 * For people: where it listens, the first key, what to look after. `isRead`: a person reads along. Otherwise stderr is kept
 * somewhere, so the key stays out of it, and what is in the log is not said twice.
 */
function tell(server: RunningServer, { dataDir, logLevel }: Config, isRead: boolean): void {
  const lines = [`HTTP  ${server.http}/api  (${server.httpListener})`, `gRPC  ${server.grpc}`];
  const keyFile = join(dataDir, 'keys', 'bootstrap.key');
  if (server.firstKey !== undefined && isRead)
    lines.push('', `First API key, shown only now: ${server.firstKey}`, `It is kept in ${keyFile}.`);
  else if (server.firstKey !== undefined) lines.push('', `The first API key is in ${keyFile}.`);
  const warnings = isRead || !LOGGING_WARNINGS.has(logLevel) ? server.warnings : [];
  if (warnings.length > 0) lines.push('', ...warnings.map((warning) => `Warning: ${warning}`));
  process.stderr.write(`\n${lines.join('\n')}\n\n`);
}
