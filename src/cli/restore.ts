// `granary restore DIR`: a backup into a data directory. What the deployment that is there has erased, forgotten,
// deleted or revoked since the backup stays so.
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { BATCH_GRAINS_MAX } from '../engine/limits.ts';
import { lockDirectory } from '../engine/log/directory-lock.ts';
import { readConfig } from '../server/config.ts';
import type { Connection } from './connection.ts';
import { usage } from './failure.ts';
import { duration, printJson, printLine, printNote, printPairs } from './output.ts';
import { type Holding, holdingOf } from './restore/holding.ts';
import { copyDurably, fill, isCutOff, markWhole, stagingOf, takePlace } from './restore/staging.ts';

interface RestoreOptions {
  readonly dataDir: string;
  readonly keys?: string;
  readonly yes?: true;
  readonly force?: true;
  readonly json?: true;
}

const REASON = 'restored from a backup';

export function registerRestore(program: Command): void {
  program
    .command('restore')
    .description('Bring a backup back into a data directory that no server has open')
    .argument('<dir>', 'the folder that `granary backup` wrote')
    .addOption(new Option('--data-dir <dir>', 'where to').default('./data').env('GRANARY_DATA_DIR'))
    .option('--keys <dir>', 'the keys of the backup, where they are kept apart (default: DIR/keys)')
    .option('--yes', 'really replace the deployment that is there')
    .option('--force', 'go on where something of the deployment that is there cannot be read')
    .option('--json', 'print JSON for programs')
    .addHelpText(
      'after',
      `
Users erased, grains forgotten, memories deleted and API keys revoked since the backup stay gone, as far as the
deployment that is there tells of them. Its other data and keys are replaced.`,
    )
    .action(restore);
}

async function restore(directory: string, options: RestoreOptions): Promise<void> {
  const { dataDir, json } = options;
  const startedMs = performance.now();
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const lock = lockDirectory(dataDir);
  try {
    if (isCutOff(dataDir)) {
      takePlace(dataDir);
      if (json) return printJson({ data_dir: resolve(dataDir), resumed: true });
      return printLine('A restore that was cut off is finished. To restore anything else, run this again.');
    }
    if (!isEmpty(dataDir) && options.yes !== true)
      throw usage(`${dataDir} holds a deployment: say --yes to put the backup in its place`);
    const holding = await stage(directory, options);
    markWhole(dataDir);
    takePlace(dataDir);
    print(holding, options, performance.now() - startedMs);
  } finally {
    lock.release();
  }
}

/** Fills the staging folder with a deployment that is ready to take the place of what is there. */
async function stage(directory: string, { dataDir, keys, force }: RestoreOptions): Promise<Holding> {
  const staging = stagingOf(dataDir);
  fill(staging, { data: join(directory, 'data'), keys: keys ?? join(directory, 'keys') });
  // The master key is often kept apart from a backup; the one here is right if it opens the rest.
  const master = join(dataDir, 'keys', 'master.key');
  const staged = join(staging, 'keys', 'master.key');
  if (!existsSync(staged) && existsSync(master)) copyDurably(master, staged);
  const config = readConfig({ dataDir }, process.env);
  const holding = await holdingOf(staging, dataDir, { config, force: force === true });
  const { withConnection } = await import('./connection.ts');
  await withConnection({ dataDir: staging, apiKey: holding.key.raw }, (connection) => apply(connection, holding));
  return holding;
}

/** The same calls that removed them the first time: with their audit entries, and through every index. */
async function apply(connection: Connection, { users, forgotten, key }: Holding): Promise<void> {
  const forget = (memory: string, json: Record<string, string | string[]>): Promise<unknown> =>
    connection.json('POST', `/memories/${encodeURIComponent(memory)}/forget`, { json: { ...json, reason: REASON } });
  for (const { memory, userId } of users) await forget(memory, { user_id: userId });
  for (const { memory, hashes } of forgotten)
    for (let from = 0; from < hashes.length; from += BATCH_GRAINS_MAX)
      await forget(memory, { hashes: hashes.slice(from, from + BATCH_GRAINS_MAX) });
  await connection.json('DELETE', `/auth/keys/${encodeURIComponent(key.id)}`);
}

/** True when there is nothing to lose: a master key that was put there beforehand is to stay. */
function isEmpty(directory: string): boolean {
  const keys = join(directory, 'keys');
  const names = [...readdirSync(directory), ...(existsSync(keys) ? readdirSync(keys) : [])];
  return !names.some((name) => DEPLOYMENT.test(name));
}

const DEPLOYMENT = /^(?:layout\.json|control|control\.key|shard-\d+)$/;

function print(holding: Holding, { dataDir, json }: RestoreOptions, ms: number): void {
  const { users, forgotten, deletedMemories, revokedKeys, doubts } = holding;
  const grains = forgotten.reduce((sum, { hashes }) => sum + hashes.length, 0);
  if (json) {
    printJson({
      data_dir: resolve(dataDir),
      kept_erased_users: users.length,
      kept_forgotten_grains: grains,
      kept_deleted_memories: deletedMemories,
      kept_revoked_keys: revokedKeys,
      warnings: doubts,
    });
    return;
  }
  printLine(`The backup is in ${resolve(dataDir)} (${duration(ms)}).`);
  const kept = (
    [
      ['erased users kept erased', users.length],
      ['forgotten grains kept forgotten', grains],
      ['deleted memories kept deleted', deletedMemories],
      ['revoked API keys kept revoked', revokedKeys],
    ] as const
  ).filter(([, count]) => count > 0);
  if (kept.length > 0) printPairs(kept);
  for (const text of doubts) printNote(`Warning: ${text}`);
}
