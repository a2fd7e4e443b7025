// A restored deployment in the making: a folder inside the data directory that is filled, marked whole, and then takes
// the place of what was there. A crash before the mark leaves everything as it was; after it, the next restore goes on.
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
import { join } from 'node:path';
import { isFileError, makeFolder, replaceFile, syncDirectory } from '../../engine/base/durable-file.ts';
import { LAYOUT_FILE, openLayout, RESTORE_FOLDER, RESTORE_READY_FILE } from '../../server/data-directory.ts';
import { LOCK_FILE } from '../../server/directory-lock.ts';
import { Failure } from '../failure.ts';

/** Files of one run of a server, which are not the deployment's. */
const NOT_DATA = new Set(['server.json', LOCK_FILE, RESTORE_READY_FILE]);

export function stagingOf(dataDirectory: string): string {
  return join(dataDirectory, RESTORE_FOLDER);
}

/** True when a restore was marked whole and then cut off. */
export function isCutOff(dataDirectory: string): boolean {
  return existsSync(join(stagingOf(dataDirectory), RESTORE_READY_FILE));
}

/** Copies a backup into an empty staging folder, durably. Throws Failure FILE when it is none. */
export function fill(staging: string, { data, keys }: { readonly data: string; readonly keys: string }): void {
  if (!existsSync(join(data, LAYOUT_FILE))) throw new Failure('FILE', `${data} is no backup: it has no ${LAYOUT_FILE}`);
  if (!existsSync(join(keys, 'control.key'))) throw new Failure('FILE', `${keys} holds no keys of a backup`);
  rmSync(staging, { recursive: true, force: true });
  makeFolder(staging);
  try {
    copyFolder(data, staging);
    copyFolder(keys, join(staging, 'keys'));
  } catch (error) {
    rmSync(staging, { recursive: true, force: true });
    throw new Failure('FILE', `the backup cannot be copied: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Files are written to the disk before the folder that names them. */
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

/** Marks the folder whole: from here on the old deployment is not opened any more. */
export function markWhole(dataDirectory: string): void {
  replaceFile(join(stagingOf(dataDirectory), RESTORE_READY_FILE), Buffer.alloc(0));
}

/** Puts what is staged in the place of what is there. Called again after a crash it goes on. */
export function takePlace(dataDirectory: string): void {
  const staging = stagingOf(dataDirectory);
  const layout = join(staging, LAYOUT_FILE);
  // The layout moves last: while it is here, the rest is not all there.
  if (existsSync(layout)) {
    const { shards } = openLayout(staging, undefined, 0);
    removeShardsFrom(shards, dataDirectory);
    removeShardsFrom(shards, join(dataDirectory, 'keys'));
    for (const name of readdirSync(staging)) {
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

/** Entry by entry: the folder of the keys may be on a disk of its own. Files that the backup does not have stay. */
function moveKeys(from: string, to: string): void {
  makeFolder(to);
  for (const name of readdirSync(from)) move(join(from, name), join(to, name));
  syncDirectory(to);
}

/** A deployment of more shards leaves folders that the restored one does not know. */
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
    // As durable as the move it stands for: what is copied is deleted next.
    if (lstatSync(from).isDirectory()) copyFolder(from, to);
    else copyDurably(from, to);
    rmSync(from, { recursive: true, force: true });
  }
}
