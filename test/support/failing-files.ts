// Files that the system does not open or read.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import type { TestContext } from 'node:test';

/** Runs `work`, whose first read of a file fails with EIO, as of a bad sector. */
export function failingRead<T>(t: TestContext, work: () => T): T {
  const { readSync } = fs;
  let reads = 0;
  const failing = t.mock.method(fs, 'readSync', (...at: Parameters<typeof readSync>) => {
    if (reads++ > 0) return readSync(...at);
    throw failure('EIO', 'read');
  });
  return withMocks(failing, work);
}

/** Runs `work`, in which no file is opened for reading: the process has as many open as it may. */
export function failingOpen<T>(t: TestContext, work: () => T): T {
  const { openSync } = fs;
  const failing = t.mock.method(fs, 'openSync', (...how: Parameters<typeof openSync>) => {
    if (how[1] !== 'r' || fs.statSync(how[0]).isDirectory()) return openSync(...how);
    throw failure('EMFILE', 'open');
  });
  return withMocks(failing, work);
}

function withMocks<T>({ mock }: { readonly mock: { restore(): void } }, work: () => T): T {
  syncBuiltinESMExports();
  try {
    return work();
  } finally {
    mock.restore();
    syncBuiltinESMExports();
  }
}

function failure(code: string, syscall: string): Error {
  return Object.assign(new Error(`${code}: on purpose`), { code, errno: -1, syscall });
}
