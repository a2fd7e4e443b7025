// Backs up the deployment while it runs, into `PATH/data` and `PATH/keys`, which can be stored separately.
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { mkdir, readdir, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import {
  isFileError,
  makeMissingFolder,
  replaceFile,
  replaceFileLater,
  storageError,
  syncFile,
  TEMPORARY_SUFFIX,
} from '../../../engine/base/durable-file.ts';
import { EngineError } from '../../../engine/base/errors.ts';
import { keyFolderOf } from '../../../engine/keys/key-files.ts';
import type { Services } from '../../context.ts';
import { BOOTSTRAP_FILE } from '../../control/bootstrap-key.ts';
import { BACKUP_MARK_FILE, LAYOUT_FILE, layoutFile } from '../../data-directory.ts';
import { PROOF_KEY_FILE } from '../../proofs/proof-keys.ts';
import { VERSION } from '../../version.ts';
import { defineOperation } from '../define.ts';
import { Type } from '../type.ts';

/** The deployment's own key files, next to the shards' folders. */
const KEY_FILES = ['control.key', 'master.key', 'master.check', BOOTSTRAP_FILE, PROOF_KEY_FILE];

/** In the folder of a backup. It is written last. */
const DESCRIPTION = 'backup.json';
/** In the data directory: the backups that have begun, so that the next one removes what a crash left of them. */
const BEGUN_FILE = 'backups.json';

interface Begun {
  readonly id: string;
  readonly path: string;
  /** The folder was missing. */
  readonly isNew: boolean;
}

/** Ids of the backups that this process makes. */
const running = new Set<string>();

/** Setting with the time of the newest backup, in Unix seconds. */
export const LAST_BACKUP = 'backup/last';

export const backup = defineOperation({
  name: 'backup',
  summary: 'Copy the data and keys of the deployment into an empty folder of the server.',
  description: 'The server keeps running; the folder then holds data and keys side by side.',
  example: { path: '/backup/granary-2026-05-01' },
  needs: 'admin',
  on: 'memory',
  reach: 'deployment',
  mutates: true,
  onUnknown: 'warn',
  slow: true,
  input: Type.Object({
    path: Type.String({ minLength: 1, description: 'Absolute path of an empty or missing folder on the server.' }),
  }),
  output: Type.Object({
    path: Type.String({ description: 'Folder that holds the backup.' }),
    bytes: Type.Integer({ description: 'Size of the copied shards in bytes.' }),
    shards: Type.Integer({ description: 'Number of shards in the backup.' }),
  }),
  errors: ['VAL-E001', 'STO-E001'],
  exec: { command: 'backup' },
  async run({ path }, { services, principal, warnings }) {
    if (!isAbsolute(path)) throw new EngineError('VAL-E001', 'path must be absolute');
    const { dataDir } = services.config;
    await removeCutOff(dataDir, warnings);
    const begun = await begin(path, dataDir);
    const bytes = await copyAll(path, services)
      .catch(async (error: unknown) => {
        const isGone = await remove(path, begun.isNew);
        if (isGone) forget(dataDir, begun);
        const what = `the backup in ${path} is incomplete${isGone ? ' and was removed' : ': remove it'}`;
        throw isFileError(error) ? storageError(what, error) : error;
      })
      .finally(() => running.delete(begun.id));
    forget(dataDir, begun);
    const noted = services.control.commit((change) => {
      change.audit({ event: 'export.file', actor: principal.actor, subject: '', details: { backup: true, bytes } });
      change.put('setting', { name: LAST_BACKUP, value: Math.floor(services.clock.nowMs() / 1000) });
    });
    // The copy is valid, whatever the control log refuses, such as on a full disk.
    await noted.catch((error: unknown) => {
      if (!(error instanceof EngineError)) throw error;
      warnings.push(`the backup is complete, but cannot be noted: ${error.message}`);
    });
    return { path, bytes, shards: services.shards.shardCount };
  },
});

/** Copies shards, control log and keys. Resolves to the shards' size in bytes. Rejects with EngineError or a system error. */
async function copyAll(path: string, services: Services): Promise<number> {
  const control = join(path, 'data', 'control');
  makeMissingFolder(control);
  // Hold off master key rotation: shard keys wrapped under another master key than the copied one would be useless.
  const bytes = await services.masterKeys.whileStill(async () => {
    const copied = await copyLogs(path, control, services);
    await copyKeys(services, join(path, 'keys'));
    // After all else: a restore refuses a folder without it.
    await replaceFileLater(join(path, 'data', LAYOUT_FILE), layoutFile(services.shards.shardCount));
    return copied;
  });
  // All else is durable by then: older backups may be removed.
  const description = { version: VERSION, shards: services.shards.shardCount, takenAtMs: services.clock.nowMs() };
  await replaceFileLater(join(path, DESCRIPTION), Buffer.from(`${JSON.stringify(description)}\n`));
  // A complete backup may have it too.
  await rm(join(path, BACKUP_MARK_FILE), { force: true }).catch(() => undefined);
  return bytes;
}

/** Copies the shards, then the control log. Resolves to the shards' size in bytes. */
async function copyLogs(path: string, control: string, services: Services): Promise<number> {
  // Import jobs wait: what their records in the control log count is then in the copied shards.
  const release = await services.imports.hold();
  try {
    // Shards first: a memory created meanwhile is then only in the control log, and is attached when it is opened.
    const copied = await services.shards.backup(path);
    await services.control.backup(control, join(path, 'keys', 'control'));
    return copied;
  } finally {
    release();
  }
}

/** Makes the folder with its mark, which only one backup can make, and its `data`. Rejects with VAL-E001 or STO-E001. */
async function begin(path: string, dataDir: string): Promise<Begun> {
  const id = randomBytes(16).toString('hex');
  const mark = join(path, BACKUP_MARK_FILE);
  let isMarked = false;
  running.add(id);
  try {
    const isNew = makeMissingFolder(path);
    if (isNew) await syncFile(dirname(path));
    if ((await readdir(path)).length > 0) throw notEmpty();
    const begun = { id, path, isNew };
    // Before the mark: what it stands for is then known after a crash.
    note(dataDir, [...begunIn(dataDir), begun]);
    await writeFile(mark, id, { flag: 'wx', mode: 0o600, flush: true });
    isMarked = true;
    await mkdir(join(path, 'data'), { mode: 0o700 });
    await syncFile(path);
    return begun;
  } catch (error) {
    running.delete(id);
    if (isMarked) await rm(mark, { force: true }).catch(() => undefined);
    forget(dataDir, { id });
    if (error instanceof EngineError) throw error;
    if (isFileError(error) && error.code === 'EEXIST') throw notEmpty();
    throw new EngineError(
      'STO-E001',
      `cannot create the backup folder: ${error instanceof Error ? error.message : 'unknown'}`,
    );
  }
}

function begunIn(dataDir: string): readonly Begun[] {
  try {
    const text = readFileSync(join(dataDir, BEGUN_FILE), 'utf8');
    const listed = JSON.parse(text) as readonly Partial<Begun>[]; // each is checked
    return listed.flatMap(({ id, path, isNew }) =>
      typeof id === 'string' && typeof path === 'string' ? [{ id, path, isNew: isNew === true }] : [],
    );
  } catch {
    // There are none. Without a readable list, what a crash left stays.
    return [];
  }
}

function note(dataDir: string, begun: readonly Begun[]): void {
  const file = join(dataDir, BEGUN_FILE);
  try {
    if (begun.length > 0) replaceFile(file, Buffer.from(`${JSON.stringify(begun)}\n`));
    else rmSync(file, { force: true });
  } catch (error) {
    // A data directory without room must not prevent a backup.
    if (!isFileError(error)) throw error;
  }
}

function forget(dataDir: string, { id }: Pick<Begun, 'id'>): void {
  const begun = begunIn(dataDir);
  const others = begun.filter((one) => one.id !== id);
  if (others.length < begun.length) note(dataDir, others);
}

/** Removes what is left of backups whose process ended while it made them. */
async function removeCutOff(dataDir: string, warnings: string[]): Promise<void> {
  for (const begun of begunIn(dataDir)) {
    if (running.has(begun.id)) continue;
    try {
      await removeUnfinished(begun);
      forget(dataDir, begun);
    } catch {
      warnings.push(`the backup in ${begun.path} was cut off, and cannot be removed`);
    }
  }
}

/** Leaves a complete backup as it is, and what others put there. */
async function removeUnfinished({ id, path, isNew }: Begun): Promise<void> {
  const mark = join(path, BACKUP_MARK_FILE);
  const isOwn = existsSync(mark) && readFileSync(mark, 'utf8') === id;
  if (isOwn && !existsSync(join(path, DESCRIPTION)))
    for (const name of ['data', 'keys', `${DESCRIPTION}${TEMPORARY_SUFFIX}`])
      await rm(join(path, name), { recursive: true, force: true });
  // After all else, so that a removal that is cut off is continued.
  if (isOwn) await rm(mark);
  if (isNew) await rmdir(path).catch(() => undefined);
}

function notEmpty(): EngineError {
  return new EngineError('VAL-E001', 'path is not empty: name an empty or missing folder');
}

/** Everything in the folder, which was empty before, and the folder if it was missing. False when something stays. */
async function remove(path: string, isNew: boolean): Promise<boolean> {
  try {
    for (const name of await readdir(path)) await rm(join(path, name), { recursive: true });
    if (isNew) await rmdir(path);
    return true;
  } catch {
    return false;
  }
}

/** Copies the key files, without a master key that the operator stores elsewhere. */
async function copyKeys({ keyFiles, config }: Services, to: string): Promise<void> {
  makeMissingFolder(to);
  // A store has the bootstrap key in another form, and the node's folder in this one.
  const folder = keyFolderOf(config.dataDir);
  for (const name of KEY_FILES) {
    const bytes = keyFiles.read(name) ?? folder.read(name);
    if (bytes !== undefined) await replaceFileLater(join(to, name), bytes);
  }
}
