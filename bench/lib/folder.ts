// Folders for measurements, and their size.
import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Creates a fresh folder. The temporary folder may be in memory; BENCH_DIR names another place. */
export function makeFolder(): string {
  return mkdtempSync(join(process.env['BENCH_DIR'] ?? tmpdir(), 'granary-bench-'));
}

/** Runs `work` in a fresh folder that is removed afterwards, also when the process exits early. */
export async function inFolder<T>(work: (folder: string) => T | Promise<T>): Promise<T> {
  const folder = makeFolder();
  const remove = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  process.once('exit', remove);
  try {
    return await work(folder);
  } finally {
    process.removeListener('exit', remove);
    remove();
  }
}

/** Disk usage of the files below a folder in bytes, without holes. */
export function bytesOnDisk(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => {
      const { blocks, size } = lstatSync(join(entry.parentPath, entry.name));
      // Windows reports no blocks.
      return sum + (blocks === undefined ? size : blocks * 512);
    }, 0);
}
