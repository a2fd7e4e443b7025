// `granary serve`: runs the server. Prints one JSON line on stdout when it is ready, and text for people on stderr.
// Returns after a signal, once the server has closed.
import { join } from 'node:path';
import type { Command } from 'commander';
import { START_STOP_MS } from '../engine/base/limits.ts';
import { isSettledWithin } from '../engine/base/settled-within.ts';
import { type Config, optionLines, readConfig } from '../server/config.ts';
import type { Logger } from '../server/log.ts';
import type { RunningServer } from '../server/running-server.ts';
import { BROKEN_EXIT, EXIT } from './exit-codes.ts';

export function registerServe(program: Command): void {
  const command = program.command('serve').description('Run the server until SIGINT or SIGTERM');
  for (const { flag, description } of optionLines()) if (flag !== undefined) command.option(flag, description);
  const secrets = optionLines().filter(({ flag }) => flag === undefined);
  command.addHelpText(
    'after',
    `\nOnly from the environment:\n${secrets.map(({ env, description }) => `  ${env}  ${description}`).join('\n')}`,
  );
  command.action(serve);
}

async function serve(flags: Record<string, string | boolean | undefined>): Promise<void> {
  // From the beginning: a process without a handler ends with another exit code, and the first one of a container not at all.
  const stopSignal = signal();
  const config = readConfig(flags, process.env);
  // Loaded on demand: the help text, which lists this command, does not need it.
  const { readyLine, startServer } = await import('../server/main.ts');
  const { makeLog } = await import('../server/log.ts');
  const { letHeapsGrow } = await import('../server/heap-growth.ts');
  const isRead = process.stderr.isTTY === true;
  const log = makeLog(config.logLevel);
  const stopping = new AbortController();
  const started = startServer(config, { logsWarnings: !isRead, onBroken: endBroken, stopping: stopping.signal });
  const early = await Promise.race([started.then(() => undefined), stopSignal]);
  if (early !== undefined) {
    log.info({ signal: early }, 'stopping after a signal, before the server is ready');
    for (const again of SIGNALS) process.once(again, endNow);
    stopping.abort();
    // A step that takes long is cut off: what is on disk opens again, as after a crash.
    if (!(await isSettledWithin(started, START_STOP_MS).catch(() => true))) process.exit(EXIT.ok);
    const opened = await started.catch(() => undefined);
    return opened === undefined ? undefined : close(opened, config, log);
  }
  const server = await started;
  tell(server, config, isRead);
  process.stdout.write(readyLine(server));
  const setBack = letHeapsGrow();
  const name = await stopSignal;
  setBack();
  log.info({ signal: name, stopMs: config.stopMs }, 'stopping after a signal');
  for (const again of SIGNALS) process.once(again, endNow);
  await close(server, config, log);
}

async function close(server: RunningServer, config: Config, log: Logger): Promise<void> {
  // It stays set after the close: a thread that is stuck keeps the process.
  setTimeout(() => {
    const part = server.closing() ?? 'a thread';
    log.fatal(`the process exits now: ${part} did not close within ${config.stopMs} ms (--stop-ms)`);
    endNow();
  }, config.stopMs).unref();
  await server.close();
}

/** `process.exit` would wait for threads, and one that is stuck in the system never ends. Acknowledged writes are durable. */
function endNow(): void {
  process.kill(process.pid, 'SIGKILL');
}

/** Time for the refusals of pending calls to leave. */
const BROKEN_EXIT_MS = 250;

/**
 * The heap of this process can no longer be trusted: nothing is closed or sealed. All acknowledged writes are on disk.
 */
function endBroken(): void {
  process.stderr.write('granary: an engine met an internal error (see the log). The process ends: start it again.\n');
  setTimeout(() => process.exit(BROKEN_EXIT), BROKEN_EXIT_MS);
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Resolves at the first signal. */
function signal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    const stop = (stopSignal: NodeJS.Signals): void => {
      for (const name of SIGNALS) process.removeListener(name, stop);
      resolve(stopSignal);
    };
    for (const name of SIGNALS) process.on(name, stop);
  });
}

/** Log levels that include warnings. */
const LOGGING_WARNINGS: ReadonlySet<string> = new Set(['trace', 'debug', 'info', 'warn']);

/**
 * Prints the addresses, the first key and warnings to stderr. `isRead`: stderr is a terminal. Otherwise stderr may be
 * stored, so the key is left out, and warnings that the log has are not repeated.
 */
function tell(server: RunningServer, { dataDir, logLevel }: Config, isRead: boolean): void {
  const lines = [`HTTP  ${server.http}/api  (${server.httpListener})`, `gRPC  ${server.grpc}`];
  const keyFile = join(dataDir, 'keys', 'bootstrap.key');
  if (server.firstKey !== undefined && isRead)
    lines.push('', `First API key (not shown again): ${server.firstKey}`, `It is stored in ${keyFile}.`);
  else if (server.firstKey !== undefined) lines.push('', `The first API key is stored in ${keyFile}.`);
  const warnings = isRead || !LOGGING_WARNINGS.has(logLevel) ? server.warnings : [];
  if (warnings.length > 0) lines.push('', ...warnings.map((warning) => `Warning: ${warning}`));
  process.stderr.write(`\n${lines.join('\n')}\n\n`);
}
