// For tests: the logs of one worker with their write-ahead files, and what a crash leaves of them.
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Log } from '../../src/engine/log/log.ts';
import { takeOwnership } from '../../src/engine/log/wal/owner.ts';
import { settleWriteAhead } from '../../src/engine/log/wal/settle.ts';
import { openWalLog } from '../../src/engine/log/wal/wal-log.ts';
import { WriteAhead } from '../../src/engine/log/wal/write-ahead.ts';
import type { Random } from './random.ts';

export const SHARDS = 3;
/** The unit that a disk writes whole or not at all. */
const SECTOR_BYTES = 512;

const stampOf = (shard: number) => ({ formatVersion: 1, shard, shards: SHARDS });

export interface WorkerLogs {
  readonly logs: readonly Log[];
  readonly files: WriteAhead;
  close(): Promise<void>;
}

export function walFolder(root: string): string {
  return join(root, 'wal');
}

/** Opens all shards as those of one worker. Closes those that are open when one does not open. */
export async function openWorker(
  root: string,
  exists = existsSync(join(root, 'shard-0')),
  isAlone?: () => boolean,
): Promise<WorkerLogs> {
  const directory = walFolder(root);
  const writeAhead = { directory, workers: 1, worker: 0, mark: takeOwnership(directory) };
  const logs: Log[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(logs.map((log) => log.close()));
  };
  try {
    for (let shard = 0; shard < SHARDS; shard++)
      logs.push(openWalLog(join(root, `shard-${shard}`), { stamp: stampOf(shard), exists, writeAhead, isAlone }));
  } catch (error) {
    await close();
    throw error;
  }
  return { logs, files: WriteAhead.of(writeAhead), close };
}

export function settle(root: string, workers?: number): Promise<void> {
  return settleWriteAhead({
    directory: walFolder(root),
    workers,
    logOf: (shard) => ({ directory: join(root, `shard-${shard}`), options: { stamp: stampOf(shard), exists: true } }),
  });
}

/**
 * The files that a crash at this moment leaves. No checkpoint may be under way, since LMDB's file is copied as it is.
 */
export function crashCopy(root: string, to: string): string {
  cpSync(root, to, { recursive: true });
  return to;
}

/** The write-ahead files of `after`, of which some sectors did not reach the disk: they are as in `before`. */
export function tear(before: string, after: string, random: Random): void {
  for (const name of readdirSync(walFolder(after)).filter((file) => /\.[ab]$/.test(file))) {
    const path = join(walFolder(after), name);
    const bytes = readFileSync(path);
    const old = existsSync(join(walFolder(before), name))
      ? readFileSync(join(walFolder(before), name))
      : Buffer.alloc(0);
    const part = random.next();
    for (let at = 0; at < bytes.length; at += SECTOR_BYTES) {
      const end = Math.min(at + SECTOR_BYTES, bytes.length);
      if (!random.chance(part)) continue;
      bytes.fill(0, at, end);
      if (at < old.length) old.copy(bytes, at, at, Math.min(end, old.length));
    }
    writeFileSync(path, bytes);
  }
}

/** Everything a log holds, to compare. */
export function contentOf(log: Log): object {
  return {
    next: log.nextSequence,
    records: [...log.scan(1)].map((record) =>
      'bytes' in record ? [record.sequence, hex(record.bytes)] : String(record),
    ),
    state: [...log.scanState('')].map(([key, value]) => [key, hex(value)]),
  };
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
