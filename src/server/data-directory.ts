// The layout of a data directory: format and number of shards, fixed at creation.
import { existsSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import { makeFolder, replaceFile } from '../engine/base/durable-file.ts';
import { EngineError } from '../engine/base/errors.ts';
import { SHARDS_MAX } from '../engine/base/limits.ts';

export const LAYOUT_FILE = 'layout.json';
/** Folder inside the data directory where a restore is staged, and the file in it that marks it complete. */
export const RESTORE_FOLDER = 'restore.new';
export const RESTORE_READY_FILE = 'ready';
/** It says that the deployment was moved into a store. */
export const MOVED_FILE = 'moved.json';
/** In the folder of a backup that is being made, with its id. */
export const BACKUP_MARK_FILE = 'unfinished';
const FORMAT = 1;

export interface Layout {
  readonly shards: number;
  /** True when it holds no data yet: just created, or its first start was interrupted. */
  readonly isNew: boolean;
}

/**
 * Reads the layout of `directory`, or creates it with `wanted` shards (or `fallback`). Throws STO-E001 for another
 * format, an interrupted restore, and a deployment that was moved away; VAL-E001 when `wanted` differs from the existing
 * number.
 */
export function openLayout(directory: string, wanted: number | undefined, fallback: number): Layout {
  checkLayout(directory, wanted);
  const path = join(directory, LAYOUT_FILE);
  makeFolder(join(directory, 'keys'));
  if (existsSync(path)) {
    const isNew = !['control', 'shard-0'].some((folder) => existsSync(join(directory, folder)));
    return { shards: readShards(directory), isNew };
  }
  const shards = wanted ?? fallback;
  replaceFile(path, layoutFile(shards));
  return { shards, isNew: true };
}

/** Throws like `openLayout`, and changes nothing. */
export function checkLayout(directory: string, wanted: number | undefined): void {
  refuseCutOffRestore(directory);
  if (existsSync(join(directory, MOVED_FILE)))
    throw new EngineError(
      'STO-E001',
      `${directory} was moved into a database, which has its data now: set GRANARY_STORE and name another --data-dir, or delete ${MOVED_FILE} to go back to this older state`,
    );
  if (!existsSync(join(directory, LAYOUT_FILE))) {
    if (!existsSync(join(directory, 'control'))) return;
    throw new EngineError('STO-E001', `${directory} holds data but no ${LAYOUT_FILE}: restore this file, or a backup`);
  }
  const shards = readShards(directory);
  if (wanted !== undefined && wanted !== shards)
    throw new EngineError(
      'VAL-E001',
      `--shards ${wanted}: ${directory} was created with ${shards} shards, and the number cannot change`,
    );
}

/** Throws STO-E001 for a directory that holds parts of two deployments. */
export function refuseCutOffRestore(directory: string): void {
  if (existsSync(join(directory, RESTORE_FOLDER, RESTORE_READY_FILE)))
    throw new EngineError(
      'STO-E001',
      `a restore into ${directory} was interrupted: run granary restore to complete it`,
    );
}

/** Removes what a restore left that ended before it changed anything. The caller holds the lock of the directory. */
export function removeUnfinishedRestore(directory: string): void {
  const staging = join(directory, RESTORE_FOLDER);
  if (!existsSync(join(staging, RESTORE_READY_FILE))) rmSync(staging, { recursive: true, force: true });
}

/** The content of the file. */
export function layoutFile(shards: number): Buffer {
  return Buffer.from(`${JSON.stringify({ format: FORMAT, shards })}\n`);
}

/** The number of shards. Throws STO-E001 for another format, or without the file. */
export function readShards(directory: string): number {
  const path = join(directory, LAYOUT_FILE);
  try {
    const { format, shards } = JSON.parse(readFileSync(path, 'utf8')) as { format: unknown; shards: unknown }; // checked
    if (format === FORMAT && Number.isInteger(shards) && Number(shards) >= 1 && Number(shards) <= SHARDS_MAX)
      return Number(shards);
  } catch {
    // Not JSON: the error below covers it.
  }
  throw new EngineError('STO-E001', `${path} has a format that this build cannot read`);
}

/** Compares real paths, so that a symbolic link does not hide the location. */
export function isWithin(file: string, directory: string): boolean {
  const real = (path: string): string => {
    try {
      return realpathSync(path);
    } catch {
      return resolve(path);
    }
  };
  return real(file).startsWith(`${real(directory)}${sep}`);
}
