// Moves a deployment from a data directory into a database. The directory stays as it is; a file in it keeps servers from
// starting on it.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../engine/base/clock.ts';
import { replaceFile } from '../../engine/base/durable-file.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { isTombstone } from '../../engine/base/key-slot.ts';
import { type KeyFiles, keyFolderOf } from '../../engine/keys/key-files.ts';
import { loadMasterKey, type MasterKey } from '../../engine/keys/master-key.ts';
import { openLmdbLog } from '../../engine/log/lmdb/lmdb-log.ts';
import type { Log } from '../../engine/log/log.ts';
import { BulkShard } from '../../engine/log/postgres/bulk.ts';
import { Database } from '../../engine/log/postgres/database.ts';
import { writeKeyFiles } from '../../engine/log/postgres/key-files.ts';
import { bindKeys, StoredKeys } from '../../engine/log/postgres/key-store.ts';
import type { Lease } from '../../engine/log/postgres/lease.ts';
import { beginImport, endImport, foundStore } from '../../engine/log/postgres/migrate.ts';
import { StoredFiles } from '../../engine/log/postgres/stored-files.ts';
import { derivedFilesOf } from '../../engine/maintain/housekeeping/downloads.ts';
import { keepBootstrapKey } from '../control/bootstrap-key.ts';
import { openControlKey } from '../control/control-key.ts';
import { MOVED_FILE, readShards, refuseCutOffRestore } from '../data-directory.ts';
import { lockDirectory } from '../directory-lock.ts';
import { refuseNodeDirectory, ulid } from '../node-directory.ts';
import { PROOF_KEY_FILE } from '../proofs/proof-keys.ts';
import { settleDeployment } from '../write-ahead.ts';
import { DigestBuilder, digestOfStored, recordPages, type ShardDigest, statePages } from './log-digest.ts';
import { type MovedLog, movedLogs, releaseAll, slotsOf, storedSlots, takeAll } from './moved-logs.ts';

/** Files of the folder of keys that a store has as they are. All others stay: the master key, in whatever file, is never in a database. */
const STORED_FILES = ['control.key', 'master.check', PROOF_KEY_FILE];

export interface MoveOptions {
  readonly directory: string;
  readonly url: string;
  /** Of the key store, if the keys are in one. */
  readonly keyUrl: string | undefined;
  /** As of a server. */
  readonly masterKey: string | undefined;
  readonly masterKeyFile: string | undefined;
  /** Called for each log that was moved and checked. */
  readonly onMoved: (name: string, digest: ShardDigest, of: number) => void;
}

/**
 * Rejects with STO-E002 while a server has the directory or a node the store, with STO-E001 when the database holds a deployment
 * already or what was written differs, and with AUT-E003 under a wrong master key. Called again after an interruption, it begins
 * anew.
 */
export async function moveIntoStore(options: MoveOptions): Promise<void> {
  const { directory, url, onMoved } = options;
  refuseNodeDirectory(directory);
  refuseCutOffRestore(directory);
  const shards = readShards(directory);
  const lock = lockDirectory(directory);
  const database = await Database.open(url);
  try {
    await refuseSecondMove(directory, database);
    const master = loadMasterKey({
      files: keyFolderOf(directory),
      value: options.masterKey,
      file: options.masterKeyFile,
    }).key;
    // The right master key opens it.
    openControlKey(keyFolderOf(directory), master, false);
    await settleDeployment(directory, shards);
    await bindKeys(database, await beginImport(database, shards), options.keyUrl);
    const logs = movedLogs(directory, shards);
    const leases = await takeAll(database, logs, `import-${ulid(systemClock.nowMs())}`);
    try {
      for (const [at, moved] of logs.entries()) {
        const lease = leases[at]!;
        onMoved(moved.name, await moveLog(database, moved, { lease, keyUrl: options.keyUrl }), logs.length);
      }
      await moveKeyFiles(database, leases.at(-1)!, { directory, logs, master });
      replaceFile(join(directory, MOVED_FILE), Buffer.from('{}\n'));
      await endImport(database);
    } finally {
      await releaseAll(leases);
    }
  } finally {
    await database.close();
    lock.release();
  }
}

/** The mark is written before an import ends, so an unfinished one goes on with it. */
async function refuseSecondMove(directory: string, database: Database): Promise<void> {
  if (!existsSync(join(directory, MOVED_FILE)) || (await foundStore(database)) !== undefined) return;
  throw new EngineError(
    'STO-E001',
    `${directory} was moved into another database, which has its data now: to move this older state too, delete ${MOVED_FILE}`,
  );
}

interface Place {
  readonly lease: Lease;
  readonly keyUrl: string | undefined;
}

async function moveLog(database: Database, moved: MovedLog, { lease, keyUrl }: Place): Promise<ShardDigest> {
  const owned = { shard: moved.stamp.shard, token: lease.taken.token };
  const keys = keyUrl === undefined ? undefined : await StoredKeys.take(keyUrl, database, owned);
  const bulk = new BulkShard(database, owned);
  const log = openLmdbLog(moved.log, { stamp: moved.stamp, exists: true });
  try {
    await keys?.clear();
    const builder = new DigestBuilder();
    for (const page of recordPages(log)) {
      await bulk.records(page);
      builder.putRecords(page);
    }
    for (const page of statePages(log)) {
      await bulk.state(page);
      builder.putState(page);
    }
    const slots = slotsOf(moved.keys, moved.name);
    for (let from = 0; from < slots.length; from += KEYS_WRITTEN) {
      const page = slots.slice(from, from + KEYS_WRITTEN);
      await keys?.put(page);
      await bulk.keys(keys === undefined ? page : page.filter(([, slot]) => isTombstone(slot)));
    }
    builder.putSlots(slots);
    await moveFiles(new StoredFiles(database, owned), moved, log);
    await bulk.finish(log.nextSequence);
    const stored = await storedSlots(database, owned.shard, keys);
    return checked(moved.name, builder.digest, await digestOfStored(database, owned.shard, stored));
  } finally {
    await keys?.close();
    await log.close();
  }
}

const KEYS_WRITTEN = 10_000;

/** Segments and vectors: without them the next owner would build them again. */
async function moveFiles(files: StoredFiles, { folder }: MovedLog, log: Log): Promise<void> {
  if (folder === undefined) return;
  for (const name of derivedFilesOf(folder, log)) {
    const path = join(folder, name);
    if (existsSync(path)) await files.put(name, path, () => true);
  }
}

export function checked(name: string, source: ShardDigest, target: ShardDigest): ShardDigest {
  if (source.checksum !== target.checksum || source.records !== target.records)
    throw new EngineError(
      'STO-E001',
      `${name} differs after the move: ${target.records} records with checksum ${target.checksum}, not ${source.records} with ${source.checksum}`,
    );
  return target;
}

async function moveKeyFiles(
  database: Database,
  lease: Lease,
  {
    directory,
    logs,
    master,
  }: { readonly directory: string; readonly logs: readonly MovedLog[]; readonly master: MasterKey },
): Promise<void> {
  const folder = keyFolderOf(directory);
  const rows = new Map<string, Buffer>();
  for (const name of STORED_FILES) {
    const bytes = folder.read(name);
    if (bytes !== undefined) rows.set(name, bytes);
  }
  keepBootstrapKey(folder, { files: intoMap(rows), master });
  const { shard } = logs.at(-1)!.stamp;
  const owned = { shard, token: lease.taken.token };
  if (!(await writeKeyFiles(database, owned, [...rows])))
    throw new EngineError('STO-E002', 'another import into this database began meanwhile');
}

function intoMap(rows: Map<string, Buffer>): KeyFiles {
  return {
    pathOf: (name) => name,
    read: (name) => rows.get(name),
    replace: (name, bytes) => void rows.set(name, Buffer.from(bytes)),
    flush: () => Promise.resolve(),
    holdsKeys: () => true,
  };
}
