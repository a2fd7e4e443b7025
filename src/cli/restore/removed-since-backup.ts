// Finds what the existing deployment destroyed, forgot, deleted or revoked since a backup. It opens both without a
// server.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../engine/base/clock.ts';
import { defined } from '../../engine/base/defined.ts';
import { keyFolderOf } from '../../engine/keys/key-files.ts';
import { KeyStore } from '../../engine/keys/key-store.ts';
import { loadMasterKey, type MasterKey } from '../../engine/keys/master-key.ts';
import { FORMAT_VERSION, OLDEST_FORMAT } from '../../engine/log/format.ts';
import { openLmdbLog } from '../../engine/log/lmdb/lmdb-log.ts';
import type { Log } from '../../engine/log/log.ts';
import { type RemovedSince, removedSinceCopy } from '../../engine/maintain/erasure/removed-since.ts';
import type { Config } from '../../server/config.ts';
import { openControlKey } from '../../server/control/control-key.ts';
import { eraseKey, Keys } from '../../server/control/keys.ts';
import { openControl } from '../../server/control/open.ts';
import { removedFromControl } from '../../server/control/removed-since.ts';
import { LAYOUT_FILE, MOVED_FILE, readShards } from '../../server/data-directory.ts';
import { noteRestore } from '../../server/events/restores.ts';
import { carryProofKeys } from '../../server/proofs/proof-keys.ts';
import { carryRequests } from '../../server/subject-requests/requests.ts';
import { settleDeployment } from '../../server/write-ahead.ts';
import { Failure, failureOf } from '../failure.ts';

export interface RemovedSinceBackup {
  /** By memory id. */
  readonly users: readonly { readonly memory: string; readonly userId: string }[];
  readonly scopes: readonly { readonly memory: string; readonly path: string }[];
  readonly forgotten: readonly { readonly memory: string; readonly hashes: readonly string[] }[];
  readonly deletedMemories: number;
  readonly revokedKeys: number;
  /** Messages about parts that could not be read. */
  readonly doubts: readonly string[];
  /** A temporary key for calls to the restored deployment; it is revoked afterwards. */
  readonly key: { readonly id: string; readonly raw: string };
}

/**
 * Compares the staged copy with the deployment in `dataDirectory`, or what is left of it. Differences in the control
 * log are applied to the copy at once; users and grains are left to the server that opens it. Rejects with Failure FILE
 * when a part of the existing deployment cannot be read; with `force` that becomes a doubt.
 */
export async function removedSinceBackup(
  staging: string,
  dataDirectory: string,
  options: { readonly config: Config; readonly force: boolean },
): Promise<RemovedSinceBackup> {
  const { config, force } = options;
  const doubts: string[] = [];
  const doubt = (text: string): void => {
    if (!force) throw new Failure('FILE', `${text}. With --force the restore continues without it`);
    doubts.push(text);
  };
  const copy = openDeployment(staging, config);
  try {
    if (existsSync(join(dataDirectory, MOVED_FILE)))
      doubt(`${dataDirectory} was moved into a database: what was removed there since is unknown`);
    const control = await attempt(() => todaysControl(dataDirectory, config, copy), doubt);
    if (control?.isOther === true)
      doubt(`${dataDirectory} holds a different deployment than the backup: its erasures do not apply to the backup`);
    const mayCompare = control?.isOther !== true;
    // A server that did not close may have left appends there. They belong to the logs that are compared.
    if (mayCompare) await attempt(() => settleDeployment(dataDirectory, copy.shards), doubt, 'the write-ahead files');
    const users: { memory: number; userId: string }[] = [];
    const scopes: { memory: number; path: string }[] = [];
    const forgotten: [number, readonly string[]][] = [];
    for (let shard = 0; mayCompare && shard < copy.shards; shard += 1) {
      const isThere = control !== undefined;
      const removed = await removedInShard({ shard, copy, staging, dataDirectory, isThere, config, doubt });
      users.push(...removed.users);
      scopes.push(...removed.scopes);
      forgotten.push(...removed.forgotten);
      if (removed.divergesAt !== undefined)
        doubts.push(
          `shard ${shard} differs from the backup from record ${removed.divergesAt} on: what was forgotten since is taken from its audit trail`,
        );
    }
    const deletedMemories = control?.removed.memories ?? [];
    const revokedKeys = control?.removed.keys ?? [];
    const erasedKeys = control?.removed.erasedKeys ?? [];
    const nowMs = systemClock.nowMs();
    const lastRecords = await lastRecordsOf(staging, copy.shards);
    await copy.control.commit((change) => {
      noteRestore(change, copy.control, lastRecords);
      if (control?.isOther === false) carryRequests(change, copy.control, control.requests);
      for (const memory of deletedMemories) change.put('memory', { ...memory, deleting: true });
      for (const key of revokedKeys) change.put('key', { ...key, revokedAtMs: nowMs });
      for (const key of erasedKeys) eraseKey(change, key, { actor: 'system', nowMs });
      for (const erasure of control?.removed.erasures ?? []) change.put('setting', erasure);
    });
    const idOf = new Map<number, string>();
    for (const memory of copy.control.values('memory'))
      if (memory.deleting !== true) idOf.set(memory.number, memory.id);
    const { key, raw } = await new Keys(copy.control, systemClock).create(
      { name: 'restore', scopes: ['admin'] },
      'system',
    );
    return {
      users: users.flatMap(({ memory, userId }) => {
        const id = idOf.get(memory);
        return id === undefined ? [] : [{ memory: id, userId }];
      }),
      scopes: scopes.flatMap(({ memory, path }) => {
        const id = idOf.get(memory);
        return id === undefined ? [] : [{ memory: id, path }];
      }),
      forgotten: forgotten.flatMap(([memory, hashes]) => {
        const id = idOf.get(memory);
        return id === undefined ? [] : [{ memory: id, hashes }];
      }),
      deletedMemories: deletedMemories.length,
      revokedKeys: revokedKeys.length + erasedKeys.length,
      doubts,
      key: { id: key.keyId, raw },
    };
  } finally {
    await copy.control.close();
  }
}

type Deployment = ReturnType<typeof openDeployment>;

function openDeployment(directory: string, config: Config, shards = readShards(directory)) {
  const master = masterOf(directory, config);
  const controlKey = openControlKey(keyFolderOf(directory), master, false);
  return {
    directory,
    shards,
    master,
    controlKey,
    control: openControl(directory, { key: controlKey, master }, shards, systemClock),
  };
}

function masterOf(directory: string, { masterKey, masterKeyFile }: Config): MasterKey {
  return loadMasterKey({ files: keyFolderOf(directory), value: masterKey, file: masterKeyFile }).key;
}

/** The control log of the existing deployment, to compare with the copy's; undefined when there is none. */
async function todaysControl(dataDirectory: string, config: Config, copy: Deployment) {
  const hasLayout = existsSync(join(dataDirectory, LAYOUT_FILE));
  if (!hasLayout && !existsSync(join(dataDirectory, 'control'))) return undefined;
  // Without it, the stamp of the log still tells a deployment with another number of shards.
  const now = openDeployment(dataDirectory, config, hasLayout ? undefined : copy.shards);
  try {
    if (now.shards !== copy.shards || !now.controlKey.equals(copy.controlKey))
      return { isOther: true, removed: { memories: [], keys: [], erasedKeys: [], erasures: [] }, requests: [] };
    carryProofKeys(
      { files: keyFolderOf(dataDirectory), master: now.master },
      { files: keyFolderOf(copy.directory), master: copy.master },
    );
    return {
      isOther: false,
      removed: removedFromControl(copy.control, now.control),
      requests: [...now.control.values('subjectRequest')],
    };
  } finally {
    await now.control.close();
  }
}

interface Compared {
  readonly shard: number;
  readonly copy: Deployment;
  readonly staging: string;
  readonly dataDirectory: string;
  /** There is a deployment in the data directory. */
  readonly isThere: boolean;
  readonly config: Config;
  readonly doubt: (text: string) => void;
}

async function removedInShard({
  shard,
  copy,
  staging,
  dataDirectory,
  isThere,
  config,
  doubt,
}: Compared): Promise<RemovedSince> {
  const name = `shard-${shard}`;
  const keysNow = join(dataDirectory, 'keys', name);
  const logNow = join(dataDirectory, name, 'log');
  const opened: Log[] = [];
  const stores: KeyStore[] = [];
  const openKeys = (directory: string, master: MasterKey): KeyStore => {
    const store = KeyStore.open(directory, master);
    stores.push(store);
    return store;
  };
  const openLog = (directory: string): Log => {
    const log = openShardLog(directory, shard, copy.shards);
    opened.push(log);
    return log;
  };
  try {
    const side = { log: openLog(join(staging, name, 'log')), keys: openKeys(join(staging, 'keys', name), copy.master) };
    const keys = existsSync(keysNow)
      ? await attempt(() => openKeys(keysNow, masterOf(dataDirectory, config)), doubt, `the keys of shard ${shard}`)
      : undefined;
    const log = existsSync(logNow)
      ? await attempt(() => openLog(logNow), doubt, `the log of shard ${shard}`)
      : undefined;
    if (log === undefined && keys !== undefined && !existsSync(logNow))
      doubt(`${dataDirectory} has keys but no log of shard ${shard}: which grains were forgotten is unknown`);
    if (isThere && !existsSync(logNow) && !existsSync(keysNow))
      doubt(`${dataDirectory} has neither log nor keys of shard ${shard}: who was erased since is unknown`);
    return removedSinceCopy(side, defined({ log, keys }));
  } finally {
    for (const store of stores) store.close();
    for (const log of opened) await log.close();
  }
}

/** For each shard of the copy, the last record of its log. */
async function lastRecordsOf(staging: string, shards: number): Promise<readonly number[]> {
  const last: number[] = [];
  for (let shard = 0; shard < shards; shard += 1) {
    const log = openShardLog(join(staging, `shard-${shard}`, 'log'), shard, shards);
    last.push(log.nextSequence - 1);
    await log.close();
  }
  return last;
}

function openShardLog(directory: string, shard: number, shards: number): Log {
  return openLmdbLog(directory, { stamp: { formatVersion: FORMAT_VERSION, readsFrom: OLDEST_FORMAT, shard, shards } });
}

async function attempt<T>(
  work: () => T | Promise<T>,
  doubt: (text: string) => void,
  what = 'the existing deployment',
): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Failure) throw error;
    const { code, text } = failureOf(error);
    doubt(`cannot read ${what} (${code}: ${text})`);
    return undefined;
  }
}
