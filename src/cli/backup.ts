// `granary backup DIR`: copies the whole deployment while the server runs.
import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { execOnDeployment } from './deployment.ts';
import { Failure } from './failure.ts';
import { type ServerOptions, withServerOptions } from './options.ts';
import { bytes, duration, printJson, printLine, printNote } from './output.ts';

export function registerBackup(program: Command): void {
  const command = program
    .command('backup')
    .description('Copy everything into an empty folder while the server runs: DIR/data and DIR/keys')
    .argument('<dir>', "an empty or new folder on the server's machine")
    .addHelpText(
      'after',
      '\nStore data and keys in different places: the data is useless without the keys. `granary restore DIR` restores both.',
    );
  withServerOptions(command).action(backup);
}

async function backup(directory: string, options: ServerOptions): Promise<void> {
  const path = resolve(directory);
  const { withConnection } = await import('./connection.ts');
  const startedMs = performance.now();
  const answer = await withConnection(
    options,
    async (connection) => {
      // Only a local server shares this file system; a remote server checks its own.
      if (connection.dataDirectory !== undefined) refuseUnlessEmpty(path);
      return execOnDeployment(connection, 'backup', { path });
    },
    { isLong: true },
  );
  if (options.json) return printJson(answer);
  const took = duration(performance.now() - startedMs);
  printLine(`${bytes(Number(answer['bytes']))} of ${Number(answer['shards'])} shards in ${path} (${took})`);
  printNote(`Store ${path}/data and ${path}/keys in different places.`);
}

function refuseUnlessEmpty(path: string): void {
  try {
    if (readdirSync(path).length === 0) return;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return;
    throw new Failure('FILE', `cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
  throw new Failure('FILE', `${path} is not empty`);
}
