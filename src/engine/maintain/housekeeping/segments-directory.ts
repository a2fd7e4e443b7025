import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Log } from '../../log/log.ts';

/** State entry with the number of the segments' folder. A rebuild takes the next number. */
export const SEGMENTS_STATE = 'segments';

export function segmentsDirectory(shardDirectory: string, number: number): string {
  return join(shardDirectory, segmentsFolder(number));
}

export function segmentsFolder(number: number): string {
  return number === 0 ? 'segments' : `segments-${number}`;
}

/** The name of a folder of segments. */
export const SEGMENTS_FOLDER = /^segments(-\d+)?$/;

/** The folder that the log's state names. Folders of an interrupted rebuild are deleted. */
export function liveSegmentsDirectory(shardDirectory: string, log: Pick<Log, 'getState'>): string {
  const number = Number(Buffer.from(log.getState(SEGMENTS_STATE) ?? '0').toString());
  const live = segmentsDirectory(shardDirectory, number);
  for (const name of readdirSync(shardDirectory)) {
    const path = join(shardDirectory, name);
    if (SEGMENTS_FOLDER.test(name) && path !== live) rmSync(path, { recursive: true, force: true });
  }
  return live;
}
