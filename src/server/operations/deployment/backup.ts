// Backs up the deployment while it runs, into `PATH/data` and `PATH/keys`, which can be stored separately.
import { mkdir, readdir, rm, rmdir } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import {
  isFileError,
  makeMissingFolder,
  replaceFileLater,
  storageError,
  syncFile,
} from '../../../engine/base/durable-file.ts';
import { EngineError } from '../../../engine/base/errors.ts';
import { keyFolderOf } from '../../../engine/keys/key-files.ts';
import type { Services } from '../../context.ts';
import { BOOTSTRAP_FILE } from '../../control/bootstrap-key.ts';
import { LAYOUT_FILE, layoutFile } from '../../data-directory.ts';
import { PROOF_KEY_FILE } from '../../proofs/proof-keys.ts';
import { VERSION } from '../../version.ts';
import { defineOperation } from '../define.ts';
import { Type } from '../type.ts';

/** The deployment's own key files, next to the shards' folders. */
const KEY_FILES = ['control.key', 'master.key', 'master.check', BOOTSTRAP_FILE, PROOF_KEY_FILE];

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
  async run({ path }, { services, principal }) {
    if (!isAbsolute(path)) throw new EngineError('VAL-E001', 'path must be absolute');
    const isNew = await makeEmpty(path);
    const bytes = await copyAll(path, services).catch(async (error: unknown) => {
      const isGone = await remove(path, isNew);
      const what = `the backup in ${path} is incomplete${isGone ? ' and was removed' : ': remove it'}`;
      throw isFileError(error) ? storageError(what, error) : error;
    });
    // A poisoned control log refuses the note, but the copy is still valid.
    if (services.control.poisoned === undefined)
      await services.control.commit((change) => {
        change.audit({ event: 'export.file', actor: principal.actor, subject: '', details: { backup: true, bytes } });
        change.put('setting', { name: LAST_BACKUP, value: Math.floor(services.clock.nowMs() / 1000) });
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
  await replaceFileLater(join(path, 'backup.json'), Buffer.from(`${JSON.stringify(description)}\n`));
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

/** Makes the folder with its `data`, which only one backup can make. True when it was missing. */
async function makeEmpty(path: string): Promise<boolean> {
  try {
    const isNew = makeMissingFolder(path);
    if (isNew) await syncFile(dirname(path));
    if ((await readdir(path)).length > 0) throw notEmpty();
    await mkdir(join(path, 'data'), { mode: 0o700 });
    return isNew;
  } catch (error) {
    if (error instanceof EngineError) throw error;
    if (isFileError(error) && error.code === 'EEXIST') throw notEmpty();
    throw new EngineError(
      'STO-E001',
      `cannot create the backup folder: ${error instanceof Error ? error.message : 'unknown'}`,
    );
  }
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
