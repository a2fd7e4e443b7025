// A copy of everything, taken while the server goes on: `PATH/data` and `PATH/keys`, which can be kept apart.
import { copyFile, mkdir, readdir, writeFile } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { isFileError, storageError } from '../../../engine/base/durable-file.ts';
import { EngineError } from '../../../engine/base/errors.ts';
import type { Services } from '../../context.ts';
import { LAYOUT_FILE } from '../../data-directory.ts';
import { VERSION } from '../../version.ts';
import { defineOperation } from '../define.ts';
import { Type } from '../type.ts';

/** Files of the deployment under keys/, beside the shards' folders. */
const KEY_FILES = ['control.key', 'master.key', 'master.check', 'bootstrap.key'];

/** The setting that has the time of the newest backup, in seconds. */
export const LAST_BACKUP = 'backup/last';

export const backup = defineOperation({
  name: 'backup',
  summary: 'Copy the data and keys of the deployment into an empty folder of the server.',
  description: 'The server goes on meanwhile; the folder holds data and keys side by side.',
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
    await makeEmpty(path);
    const bytes = await copyAll(path, services).catch((error: unknown) => {
      throw isFileError(error) ? storageError(`the copy in ${path} is not whole`, error) : error;
    });
    // What takes no more writes is still copied.
    if (services.control.poisoned === undefined)
      await services.control.commit((change) => {
        change.audit({ event: 'export.file', actor: principal.actor, subject: '', details: { backup: true, bytes } });
        change.put('setting', { name: LAST_BACKUP, value: Math.floor(services.clock.nowMs() / 1000) });
      });
    return { path, bytes, shards: services.shards.shardCount };
  },
});

/** Resolves to the bytes of the shards. Rejects with EngineError or the system's error. */
async function copyAll(path: string, services: Services): Promise<number> {
  const control = join(path, 'data', 'control');
  await mkdir(control, { recursive: true, mode: 0o700 });
  // Keys of shards wrapped under one master key beside another master key would be of no use.
  const bytes = await services.masterKeys.whileStill(async () => {
    // Shards first: a memory made meanwhile is then in the control log only, and is attached when it is opened.
    const copied = await services.shards.backup(path);
    await services.control.backup(control, join(path, 'keys', 'control'));
    await copyFile(join(services.config.dataDir, LAYOUT_FILE), join(path, 'data', LAYOUT_FILE));
    await copyKeys(join(services.config.dataDir, 'keys'), join(path, 'keys'));
    return copied;
  });
  const description = { version: VERSION, shards: services.shards.shardCount, takenAtMs: services.clock.nowMs() };
  await writeFile(join(path, 'backup.json'), `${JSON.stringify(description)}\n`, { mode: 0o600 });
  return bytes;
}

async function makeEmpty(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    if ((await readdir(path)).length > 0) throw new EngineError('VAL-E001', 'path is not empty');
  } catch (error) {
    if (error instanceof EngineError) throw error;
    throw new EngineError('STO-E001', `cannot make the folder: ${error instanceof Error ? error.message : 'unknown'}`);
  }
}

/** A master key that the operator keeps elsewhere is not among them. */
async function copyKeys(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o700 });
  const there = new Set(await readdir(from));
  for (const name of KEY_FILES) if (there.has(name)) await copyFile(join(from, name), join(to, name));
}
