// Staging for a restore: a folder inside the data directory that is filled, marked complete, and then replaces the
// existing files. A crash before the mark changes nothing; after it, the next restore continues.
import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  lstatSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { isFileError, makeFolder, replaceFile, syncDirectory } from '../../engine/base/durable-file.ts';
import {
  LAYOUT_FILE,
  MOVED_FILE,
  openLayout,
  RESTORE_FOLDER,
  RESTORE_READY_FILE,
} from '../../server/data-directory.ts';
import { LOCK_FILE } from '../../server/directory-lock.ts';
import { writeAheadFolder } from '../../server/write-ahead.ts';
import { Failure } from '../failure.ts';

/** Files of a running server, which are not part of the deployment. */
const NOT_DATA = new Set(['server.json', LOCK_FILE, RESTORE_READY_FILE]);
/** Behind the name of something staged that was copied to another disk. */
const COPIED_SUFFIX = '.copied';

export function stagingOf(dataDirectory: string): string {
  return join(dataDirectory, RESTORE_FOLDER);
}

/** True when a restore was marked complete and then interrupted. */
export function isCutOff(dataDirectory: string): boolean {
  return existsSync(join(stagingOf(dataDirectory), RESTORE_READY_FILE));
}

/** Copies a backup into an empty staging folder, durably. Throws Failure FILE when it is not a backup. */
export function fill(staging: string, { data, keys }: { readonly data: string; readonly keys: string }): void {
  if (!existsSync(join(data, LAYOUT_FILE)))
    throw new Failure('FILE', `${data} is not a backup: it has no ${LAYOUT_FILE}`);
  if (!existsSync(join(keys, 'control.key'))) throw new Failure('FILE', `${keys} contains no keys of a backup`);
  rmSync(staging, { recursive: true, force: true });
  makeFolder(staging);
  try {
    copyFolder(data, staging);
    copyFolder(keys, join(staging, 'keys'));
    // In place of those of the existing deployment, whose appends must not reach the restored logs.
    makeFolder(writeAheadFolder(staging));
  } catch (error) {
    rmSync(staging, { recursive: true, force: true });
    throw new Failure('FILE', `cannot copy the backup: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Files are synced before the folder that names them. */
export function copyFolder(from: string, to: string): void {
  makeFolder(to);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const target = join(to, entry.name);
    if (entry.isDirectory()) copyFolder(join(from, entry.name), target);
    else if (entry.isFile() && !NOT_DATA.has(entry.name)) copyDurably(join(from, entry.name), target);
  }
  syncDirectory(to);
}

export function copyDurably(from: string, to: string): void {
  copyFileSync(from, to);
  const file = openSync(to, 'r+');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Marks the staging folder complete. From here on the old deployment is not opened again. */
export function markWhole(dataDirectory: string): void {
  replaceFile(join(stagingOf(dataDirectory), RESTORE_READY_FILE), Buffer.alloc(0));
}

/** Moves the staged files into place. Called again after a crash, it continues. */
export function takePlace(dataDirectory: string): void {
  const staging = stagingOf(dataDirectory);
  const layout = join(staging, LAYOUT_FILE);
  // The layout moves last: as long as it is staged, the move is incomplete.
  if (existsSync(layout)) {
    const { shards } = openLayout(staging, undefined, 0);
    // The restored deployment is the directory's own, whatever was moved into a database before.
    rmSync(join(dataDirectory, MOVED_FILE), { force: true });
    removeShardsFrom(shards, dataDirectory);
    removeShardsFrom(shards, join(dataDirectory, 'keys'));
    for (const name of stagedIn(staging)) {
      if (name === LAYOUT_FILE || NOT_DATA.has(name)) continue;
      if (name === 'keys') moveKeys(join(staging, name), join(dataDirectory, name));
      else move(join(staging, name), join(dataDirectory, name));
    }
    syncDirectory(dataDirectory);
    move(layout, join(dataDirectory, LAYOUT_FILE));
    syncDirectory(dataDirectory);
  }
  rmSync(staging, { recursive: true, force: true });
  syncDirectory(dataDirectory);
}

/** Moves entry by entry, because the key folder may be on another disk. Files that the backup does not have stay. */
function moveKeys(from: string, to: string): void {
  makeFolder(to);
  for (const name of stagedIn(from)) move(join(from, name), join(to, name));
  syncDirectory(to);
}

/** Names without those of which a removal that was cut off left parts. */
function stagedIn(directory: string): readonly string[] {
  return readdirSync(directory).filter((name) => !name.endsWith(COPIED_SUFFIX));
}

/** A deployment with more shards leaves folders that the restored one does not know. */
function removeShardsFrom(first: number, directory: string): void {
  if (!existsSync(directory)) return;
  for (const name of readdirSync(directory)) {
    const match = /^shard-(\d+)$/.exec(name);
    if (match !== null && Number(match[1]) >= first) rmSync(join(directory, name), { recursive: true, force: true });
  }
}

function move(from: string, to: string): void {
  rmSync(to, { recursive: true, force: true });
  try {
    renameSync(from, to);
  } catch (error) {
    if (!isFileError(error) || error.code !== 'EXDEV') throw error;
    // Synced like a rename would be: the source is deleted next.
    if (lstatSync(from).isDirectory()) copyFolder(from, to);
    else copyDurably(from, to);
    syncDirectory(dirname(to));
    // A part of it must not take the place of the whole after a crash.
    const copied = `${from}${COPIED_SUFFIX}`;
    renameSync(from, copied);
    syncDirectory(dirname(from));
    rmSync(copied, { recursive: true, force: true });
  }
}
