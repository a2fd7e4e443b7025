// Folders to measure in, and what lies in them.
import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Makes a fresh folder. A temporary folder may be no disk at all: BENCH_DIR names a better place. */
export function makeFolder(): string {
  return mkdtempSync(join(process.env['BENCH_DIR'] ?? tmpdir(), 'granary-bench-'));
}

/** Runs `work` in a fresh folder, which is gone afterwards, also when the process exits in the middle. */
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

/** Bytes that the files below a folder take on disk, holes left out. */
export function bytesOnDisk(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => {
      const { blocks, size } = lstatSync(join(entry.parentPath, entry.name));
      // Windows counts no blocks.
      return sum + (blocks === undefined ? size : blocks * 512);
    }, 0);
}
