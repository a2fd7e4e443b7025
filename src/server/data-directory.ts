// What a data directory says of itself: its format and its number of shards, fixed when it was made.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder, replaceFile } from '../engine/base/durable-file.ts';
import { EngineError } from '../engine/base/errors.ts';
import { SHARDS_MAX } from '../engine/base/limits.ts';

export const LAYOUT_FILE = 'layout.json';
/** What a restore puts in place, inside the data directory, and the file in it that says it is whole. */
export const RESTORE_FOLDER = 'restore.new';
export const RESTORE_READY_FILE = 'ready';
const FORMAT = 1;

export interface Layout {
  readonly shards: number;
  /** True when nothing was kept in it yet: it was made just now, or by a start that was cut off. */
  readonly isNew: boolean;
}

/**
 * Reads the layout of `directory`, or makes it with `wanted` shards (`fallback` when nobody said). Throws STO-E001 for
 * another format, VAL-E001 when other shards are asked for than it has.
 */
export function openLayout(directory: string, wanted: number | undefined, fallback: number): Layout {
  const path = join(directory, LAYOUT_FILE);
  if (existsSync(join(directory, RESTORE_FOLDER, RESTORE_READY_FILE)))
    throw new EngineError('STO-E001', `a restore into ${directory} was cut off: granary restore finishes it`);
  if (existsSync(path)) {
    makeFolder(join(directory, 'keys'));
    const shards = read(path);
    if (wanted !== undefined && wanted !== shards)
      throw new EngineError('VAL-E001', `--shards ${wanted}: ${directory} was made with ${shards}, which is fixed`);
    const isNew = !['control', 'shard-0'].some((folder) => existsSync(join(directory, folder)));
    return { shards, isNew };
  }
  if (existsSync(join(directory, 'control')))
    throw new EngineError('STO-E001', `${directory} holds data and no ${LAYOUT_FILE}`);
  makeFolder(join(directory, 'keys'));
  const shards = wanted ?? fallback;
  replaceFile(path, Buffer.from(`${JSON.stringify({ format: FORMAT, shards })}\n`));
  return { shards, isNew: true };
}

function read(path: string): number {
  try {
    const { format, shards } = JSON.parse(readFileSync(path, 'utf8')) as { format: unknown; shards: unknown }; // checked
    if (format === FORMAT && Number.isInteger(shards) && Number(shards) >= 1 && Number(shards) <= SHARDS_MAX)
      return Number(shards);
  } catch {
    // Not JSON: said below, as for another format.
  }
  throw new EngineError('STO-E001', `${path} is not of a format that this build reads`);
}
