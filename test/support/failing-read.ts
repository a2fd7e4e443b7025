// A disk with a sector that it cannot read.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import type { TestContext } from 'node:test';

/** Runs `work`, whose first read of a file fails with EIO. */
export function failingRead<T>(t: TestContext, work: () => T): T {
  const { readSync } = fs;
  let reads = 0;
  const failing = t.mock.method(fs, 'readSync', (...at: Parameters<typeof readSync>) => {
    if (reads++ > 0) return readSync(...at);
    throw Object.assign(new Error('EIO: on purpose'), { code: 'EIO', errno: -5, syscall: 'read' });
  });
  syncBuiltinESMExports();
  try {
    return work();
  } finally {
    failing.mock.restore();
    syncBuiltinESMExports();
  }
}
