// The floor of a commit: a write into a file whose blocks are there already, and its sync.
import { closeSync, fdatasyncSync, fsyncSync, openSync, writeSync } from 'node:fs';

const FILE_BYTES = 8 * 2 ** 20;
/** About what a commit of one grain writes. */
const WRITE_BYTES = 512;

/** Milliseconds of each write with its sync, `count` in a row. Makes the file. */
export function syncTimes(path: string, count: number): number[] {
  const file = openSync(path, 'w');
  try {
    writeSync(file, Buffer.alloc(FILE_BYTES));
    fsyncSync(file);
    const bytes = Buffer.alloc(WRITE_BYTES, 7);
    return Array.from({ length: count }, (_, at) => {
      const start = performance.now();
      writeSync(file, bytes, 0, WRITE_BYTES, (at * WRITE_BYTES) % FILE_BYTES);
      fdatasyncSync(file);
      return performance.now() - start;
    });
  } finally {
    closeSync(file);
  }
}
