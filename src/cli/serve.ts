// `granary serve`: one JSON line on stdout when it is ready, words for people on stderr. Ends when the server was told
// to and has closed.
import type { Command } from 'commander';
import { optionLines, readConfig } from '../server/config.ts';
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
  const server = await startServer(config);
  tell(server);
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

/** For people: where it listens, the first key, what to look after. */
function tell(server: RunningServer): void {
  const lines = [`HTTP  ${server.http}/api  (${server.httpListener})`, `gRPC  ${server.grpc}`];
  if (server.firstKey !== undefined)
    lines.push('', `First API key, shown only now: ${server.firstKey}`, 'It is kept in keys/bootstrap.key.');
  if (server.warnings.length > 0) lines.push('', ...server.warnings.map((warning) => `Warning: ${warning}`));
  process.stderr.write(`\n${lines.join('\n')}\n\n`);
}
