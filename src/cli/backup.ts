// `granary backup DIR`: a copy of everything, taken while the server goes on.
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
    .description('Copy everything into an empty folder while the server goes on: DIR/data and DIR/keys')
    .argument('<dir>', 'a folder that is empty or not there yet, on the machine of the server')
    .addHelpText(
      'after',
      '\nKeep data and keys apart: the data is worth nothing without the keys. `granary restore DIR` brings both back.',
    );
  withServerOptions(command).action(backup);
}

async function backup(directory: string, options: ServerOptions): Promise<void> {
  const path = resolve(directory);
  const { withConnection } = await import('./connection.ts');
  const startedMs = performance.now();
  const answer = await withConnection(options, async (connection) => {
    // A server on another machine has another file system: what is here says nothing of it.
    if (connection.dataDirectory !== undefined) refuseUnlessEmpty(path);
    return execOnDeployment(connection, 'backup', { path });
  });
  if (options.json) return printJson(answer);
  const took = duration(performance.now() - startedMs);
  printLine(`${bytes(Number(answer['bytes']))} of ${Number(answer['shards'])} shards in ${path} (${took})`);
  printNote(`Keep ${path}/data and ${path}/keys apart.`);
}

function refuseUnlessEmpty(path: string): void {
  try {
    if (readdirSync(path).length === 0) return;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return;
    throw new Failure('FILE', `${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
  throw new Failure('FILE', `${path} is not empty`);
}
