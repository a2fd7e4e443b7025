// Restores a backup: stages it inside the data directory, applies removals made since, and swaps it in.
import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { makeMissingFolder } from '../../engine/base/durable-file.ts';
import { BATCH_GRAINS_MAX } from '../../engine/base/limits.ts';
import { readConfig } from '../../server/config.ts';
import { lockDirectory } from '../../server/directory-lock.ts';
import { isNodeDirectory } from '../../server/node-directory.ts';
import { removedUnlessDone } from '../../server/removed-when-ended.ts';
import type { Connection } from '../connection.ts';
import { failureOf, usage } from '../failure.ts';
import { duration, printJson, printLine, printNote, printPairs } from '../output.ts';
import { type RemovedSinceBackup, removedSinceBackup } from './removed-since-backup.ts';
import { copyDurably, fill, isCutOff, markWhole, stagingOf, takePlace } from './staging.ts';

/** Command-line options, and the environment variables that a server would read. */
export interface RestoreOptions {
  readonly dataDir: string;
  readonly keys?: string | undefined;
  readonly yes?: true | undefined;
  readonly force?: true | undefined;
  readonly json?: true | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const REASON = 'restored from a backup';

/** Rejects with Failure or EngineError. The existing deployment is unchanged until the backup is fully staged. */
export async function restore(directory: string, options: RestoreOptions): Promise<void> {
  const { dataDir, json, env } = options;
  if (env['GRANARY_STORE'] !== undefined || isNodeDirectory(dataDir))
    throw usage(
      'granary restore fills a data directory, not a store: restore the database from its own backup (docs/store.md), ' +
        'or unset GRANARY_STORE and name an empty --data-dir',
    );
  const startedMs = performance.now();
  makeMissingFolder(dataDir);
  const lock = lockDirectory(dataDir);
  try {
    if (isCutOff(dataDir)) {
      takePlace(dataDir);
      if (json) return printJson({ data_dir: resolve(dataDir), resumed: true });
      return printLine('An interrupted restore has been completed. To restore another backup, run the command again.');
    }
    if (!isEmpty(dataDir) && options.yes !== true)
      throw usage(`${dataDir} holds a deployment: give --yes to replace it with the backup`);
    // Its keys open what was erased since the backup.
    const removed = await removedUnlessDone(stagingOf(dataDir), () => stage(directory, options));
    markWhole(dataDir);
    takePlace(dataDir);
    print(removed, options, performance.now() - startedMs);
  } finally {
    lock.release();
  }
}

export interface StageOptions extends Pick<RestoreOptions, 'dataDir' | 'keys' | 'force' | 'env'> {
  /** The deployment whose master key opens the backup's keys, if the backup has none; default: `dataDir`. */
  readonly masterFrom?: string | undefined;
  /** Called with the staged deployment before it is closed. */
  readonly look?: ((connection: Connection) => Promise<void>) | undefined;
}

/** Fills the staging folder with a deployment that is ready to be swapped in. */
export async function stage(directory: string, options: StageOptions): Promise<RemovedSinceBackup> {
  const { dataDir, keys, force, env, masterFrom = dataDir, look } = options;
  const staging = stagingOf(dataDir);
  fill(staging, { data: join(directory, 'data'), keys: keys ?? join(directory, 'keys') });
  // The master key is often stored apart from a backup. The existing one is right if it unwraps the backup's keys.
  const master = join(masterFrom, 'keys', 'master.key');
  const staged = join(staging, 'keys', 'master.key');
  if (!existsSync(staged) && existsSync(master)) copyDurably(master, staged);
  const own = withoutStore(env);
  const config = readConfig({ dataDir }, own);
  const removed = await removedSinceBackup(staging, dataDir, { config, force: force === true });
  const { withConnection } = await import('../connection.ts');
  // Policies in the backup may forbid removals that were legitimate later, after a released hold or a granted consent.
  const work = async (connection: Connection): Promise<void> => {
    await look?.(connection);
    await apply(connection, removed);
  };
  const how = { repeats: true, isLong: true, env: own };
  await withConnection({ dataDir: staging, apiKey: removed.key.raw }, work, how);
  return removed;
}

/** The staged data are in a directory, whatever the variables say of a store and its nodes. */
function withoutStore(env: RestoreOptions['env']): RestoreOptions['env'] {
  const { GRANARY_STORE: _, GRANARY_KEY_STORE: _keys, ...others } = env;
  const { GRANARY_NODE_LISTEN: _node, GRANARY_ADVERTISE: _address, ...own } = others;
  return own;
}

/** Repeats the original removal calls, so audit entries and indexes follow. */
async function apply(connection: Connection, { users, scopes, forgotten, key }: RemovedSinceBackup): Promise<void> {
  const forget = (memory: string, json: Record<string, string | string[]>): Promise<unknown> =>
    connection.json('POST', `/memories/${encodeURIComponent(memory)}/forget`, { json: { ...json, reason: REASON } });
  for (const { memory, userId } of users) await forget(memory, { user_id: userId });
  for (const { memory, path } of scopes) {
    const route = `/memories/${encodeURIComponent(memory)}/scope-erase`;
    // The scope is not in the backup's tree: its grains are in the list of forgotten ones.
    await connection.json('POST', route, { json: { scope_path: path, reason: REASON } }).catch(unlessUnknownScope);
  }
  for (const { memory, hashes } of forgotten)
    for (let from = 0; from < hashes.length; from += BATCH_GRAINS_MAX)
      await forget(memory, { hashes: hashes.slice(from, from + BATCH_GRAINS_MAX) });
  await connection.json('DELETE', `/auth/keys/${encodeURIComponent(key.id)}`);
}

function unlessUnknownScope(error: unknown): void {
  if (failureOf(error).code !== 'SCP-E001') throw error;
}

/** True when there is no deployment to lose. A master key placed there beforehand stays. */
function isEmpty(directory: string): boolean {
  const keys = join(directory, 'keys');
  const names = [...readdirSync(directory), ...(existsSync(keys) ? readdirSync(keys) : [])];
  return !names.some((name) => DEPLOYMENT.test(name));
}

const DEPLOYMENT = /^(?:layout\.json|control|control\.key|shard-\d+)$/;

function print(removed: RemovedSinceBackup, { dataDir, json }: RestoreOptions, ms: number): void {
  const { users, scopes, forgotten, deletedMemories, revokedKeys, doubts } = removed;
  const grains = forgotten.reduce((sum, { hashes }) => sum + hashes.length, 0);
  if (json) {
    printJson({
      data_dir: resolve(dataDir),
      kept_erased_users: users.length,
      kept_erased_scopes: scopes.length,
      kept_forgotten_grains: grains,
      kept_deleted_memories: deletedMemories,
      kept_revoked_keys: revokedKeys,
      warnings: doubts,
    });
    return;
  }
  printLine(`The backup is restored to ${resolve(dataDir)} (${duration(ms)}).`);
  const kept = (
    [
      ['users erased again', users.length],
      ['scopes erased again', scopes.length],
      ['grains forgotten again', grains],
      ['memories deleted again', deletedMemories],
      ['API keys revoked again', revokedKeys],
    ] as const
  ).filter(([, count]) => count > 0);
  if (kept.length > 0) printPairs(kept);
  for (const text of doubts) printNote(`Warning: ${text}`);
}
