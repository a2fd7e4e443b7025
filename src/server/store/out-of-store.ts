// Moves a deployment from a database into a new data directory. The database stays as it is.
import { existsSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { systemClock } from '../../engine/base/clock.ts';
import { makeFolder, replaceFile, syncDirectory } from '../../engine/base/durable-file.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { keyFolderOf } from '../../engine/keys/key-files.ts';
import { loadMasterKey } from '../../engine/keys/master-key.ts';
import { StagedBuckets } from '../../engine/keys/staged-buckets.ts';
import { openLmdbLog } from '../../engine/log/lmdb/lmdb-log.ts';
import { COPY_MARK_FILE, fillCopy } from '../../engine/log/postgres/copy.ts';
import { Database } from '../../engine/log/postgres/database.ts';
import { readKeyFiles } from '../../engine/log/postgres/key-files.ts';
import { bindKeys, StoredKeys } from '../../engine/log/postgres/key-store.ts';
import type { Lease } from '../../engine/log/postgres/lease.ts';
import { openStore } from '../../engine/log/postgres/migrate.ts';
import { StoredFiles } from '../../engine/log/postgres/stored-files.ts';
import { restoreBootstrapKey } from '../control/bootstrap-key.ts';
import { CONTROL_SHARD } from '../control/open.ts';
import { LAYOUT_FILE, layoutFile } from '../data-directory.ts';
import { ulid } from '../node-directory.ts';
import { removedUnlessDone } from '../removed-when-ended.ts';
import { checked, type MoveOptions } from './into-store.ts';
import { digestOfLog, digestOfStored, type ShardDigest } from './log-digest.ts';
import { type MovedLog, movedLogs, releaseAll, slotsOf, storedSlots, takeAll } from './moved-logs.ts';

/** Beside the directory: it gets its name when it is whole. */
const UNFINISHED = '.unfinished';

/**
 * Rejects with STO-E001 when the directory is not empty, and otherwise as `moveIntoStore`. It first deletes what an
 * interrupted move left.
 */
export async function moveOutOfStore(options: MoveOptions): Promise<void> {
  const { url, onMoved } = options;
  // Without a slash at the end, behind which the name of the unfinished folder would be in it.
  const directory = resolve(options.directory);
  if (existsSync(directory) && readdirSync(directory).length > 0)
    throw new EngineError('STO-E001', `${directory} is not empty: name a new folder`);
  const database = await Database.open(url);
  const unfinished = `${directory}${UNFINISHED}`;
  try {
    const row = await openStore(database);
    const { shards, mark } = row;
    await bindKeys(database, row, options.keyUrl);
    const logs = movedLogs(unfinished, shards);
    const leases = await takeAll(database, logs, `export-${ulid(systemClock.nowMs())}`);
    try {
      rmSync(unfinished, { recursive: true, force: true });
      // Its keys open what is erased in the database later.
      await removedUnlessDone(unfinished, async () => {
        makeFolder(join(unfinished, 'keys'));
        await moveKeyFiles(database, unfinished, options);
        for (const [at, moved] of logs.entries())
          onMoved(
            moved.name,
            await moveLog(database, moved, { lease: leases[at]!, store: mark, keyUrl: options.keyUrl }),
            logs.length,
          );
        replaceFile(join(unfinished, LAYOUT_FILE), layoutFile(shards));
        // Fails when somebody has put something there meanwhile.
        if (existsSync(directory)) rmdirSync(directory);
      });
      renameSync(unfinished, directory);
      syncDirectory(dirname(directory));
    } finally {
      await releaseAll(leases);
    }
  } finally {
    await database.close();
  }
}

async function moveLog(
  database: Database,
  { stamp, log: directory, keys, folder, name }: MovedLog,
  { lease, store, keyUrl }: { readonly lease: Lease; readonly store: string; readonly keyUrl: string | undefined },
): Promise<ShardDigest> {
  const owned = { shard: stamp.shard, token: lease.taken.token };
  const stored = keyUrl === undefined ? undefined : await StoredKeys.take(keyUrl, database, owned);
  const slots = await storedSlots(database, stamp.shard, stored);
  await stored?.close();
  await (await fillCopy(database, { directory, stamp, store, taken: lease.taken })).settled;
  rmSync(join(directory, COPY_MARK_FILE));
  new StagedBuckets(name, slots).copyTo(keys);
  if (folder !== undefined) {
    const files = new StoredFiles(database, owned);
    // A damaged one is left out: the first start builds it again.
    for (const file of await files.list()) {
      makeFolder(dirname(join(folder, file.name)));
      await files.fetch(file, join(folder, file.name));
    }
  }
  const log = openLmdbLog(directory, { stamp, exists: true });
  try {
    return checked(name, await digestOfStored(database, stamp.shard, slots), digestOfLog(log, slotsOf(keys, name)));
  } finally {
    await log.close();
  }
}

async function moveKeyFiles(
  database: Database,
  directory: string,
  { masterKey, masterKeyFile }: Pick<MoveOptions, 'masterKey' | 'masterKeyFile'>,
): Promise<void> {
  const folder = keyFolderOf(directory);
  for (const [name, content] of await readKeyFiles(database, CONTROL_SHARD)) folder.replace(name, content);
  const master = loadMasterKey({ files: folder, value: masterKey, file: masterKeyFile }).key;
  restoreBootstrapKey(folder, master);
}
