// `granary backup DIR`: copies the whole deployment while the server runs.
import { readdirSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { execOnDeployment } from './deployment.ts';
import { Failure, usage } from './failure.ts';
import { backupName, removeOldest } from './kept-backups.ts';
import { type ServerOptions, withServerOptions } from './options.ts';
import { bytes, counted, duration, printJson, printLine, printNote } from './output.ts';

const KEPT_MAX = 10_000;

export function registerBackup(program: Command): void {
  const command = program
    .command('backup')
    .description('Copy everything into an empty folder while the server runs: DIR/data and DIR/keys')
    .argument('[dir]', "an empty or new folder on the server's machine")
    .option('--to <dir>', 'make a new folder below this one, named by the time')
    .option('--keep <n>', 'with --to: keep the newest N whole backups there, and remove older ones')
    .addHelpText(
      'after',
      '\nStore data and keys in different places: the data is useless without the keys. `granary restore DIR` restores both.',
    );
  withServerOptions(command).action(backup);
}

interface BackupOptions extends ServerOptions {
  readonly to?: string | undefined;
  readonly keep?: string | undefined;
}

async function backup(directory: string | undefined, options: BackupOptions): Promise<void> {
  const keep = keptOf(options);
  const path = placeOf(directory, options);
  const { withConnection } = await import('./connection.ts');
  const startedMs = performance.now();
  const answer = await withConnection(
    options,
    async (connection) => {
      // Only a local server shares this file system; a remote server checks its own.
      if (connection.dataDirectory !== undefined) await refuseUnlessEmpty(path);
      else if (keep !== undefined)
        throw usage('--keep works only on the machine of the server: it removes folders there');
      return execOnDeployment(connection, 'backup', { path });
    },
    { isLong: true },
  );
  const removed =
    options.to === undefined || keep === undefined ? [] : removeOldest(resolve(options.to), keep, basename(path));
  if (options.json) return printJson(options.to === undefined ? answer : { ...answer, removed });
  const took = duration(performance.now() - startedMs);
  printLine(`${bytes(Number(answer['bytes']))} of ${counted(Number(answer['shards']), 'shard')} in ${path} (${took})`);
  for (const name of removed) printLine(`removed ${name}`);
  printNote(`Store ${path}/data and ${path}/keys in different places.`);
}

/** Throws USAGE. */
function keptOf({ to, keep }: BackupOptions): number | undefined {
  if (keep === undefined) return undefined;
  if (to === undefined) throw usage('--keep needs --to DIR');
  const number = Number(keep);
  if (!/^\d+$/.test(keep) || number < 1 || number > KEPT_MAX)
    throw usage(`--keep must be an integer from 1 to ${KEPT_MAX}`);
  return number;
}

/** Throws USAGE. */
function placeOf(directory: string | undefined, { to }: BackupOptions): string {
  if ((directory === undefined) === (to === undefined)) throw usage('give either a folder or --to DIR');
  return resolve(directory ?? join(to ?? '', backupName(Date.now())));
}

async function refuseUnlessEmpty(path: string): Promise<void> {
  const { BACKUP_MARK_FILE } = await import('../server/data-directory.ts');
  try {
    const names = readdirSync(path);
    // The server removes a backup of its own that was cut off there.
    if (names.length === 0 || names.includes(BACKUP_MARK_FILE)) return;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return;
    throw new Failure('FILE', `cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
  throw new Failure('FILE', `${path} is not empty: name an empty or missing folder`);
}
