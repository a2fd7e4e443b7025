import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryDirectory } from '../../../../test/support/temporary.ts';
import { EngineError } from '../../base/errors.ts';
import { PAGE_BYTES } from './environment.ts';
import { openLmdbLog } from './lmdb-log.ts';
import { checkPages } from './pages.ts';

/** The number of pages that were walked, or the message. */
function walk(path: string, options: Parameters<typeof checkPages>[1]): number | string {
  try {
    return [...checkPages(path, options)].length;
  } catch (error) {
    assert.ok(error instanceof EngineError && error.code === 'STO-E001');
    return error.message;
  }
}

test('in a large file only branch pages are walked, which finds a tree that points to a wrong page', async (t) => {
  const directory = temporaryDirectory(t);
  const log = openLmdbLog(directory, { stamp: { formatVersion: 1, shard: 0, shards: 1 } });
  for (let i = 0; i < 20; i++)
    await log.append({
      records: Array.from({ length: 40 }, (_, j) => Buffer.alloc(j === 0 ? 20_000 : 300, j)),
      removals: i > 5 ? [i * 20, i * 20 + 1] : [],
      state: [[`memory/${i}`, Buffer.alloc(40)]],
    });
  await log.close();
  const path = join(directory, 'data.mdb');
  const whole = walk(path, { whole: true });
  const branches = walk(path, { whole: false, bytesMax: 0 });
  assert.ok(
    typeof whole === 'number' && typeof branches === 'number' && branches < whole / 10,
    `${branches} of ${whole}`,
  );
  const bytes = readFileSync(path);
  const spoil = (at: number): string => {
    const changed = Buffer.from(bytes);
    changed[at]! ^= 0x40;
    writeFileSync(path, changed);
    return String(walk(path, { whole: false, bytesMax: 0 }));
  };
  const DAMAGED = /page \d+ of .*data\.mdb is damaged/;
  // Older copies of branch pages remain in the file. A branch page in use is missed when it has a wrong page number.
  const branch = Array.from({ length: bytes.length / PAGE_BYTES }, (_, page) => page).find(
    (page) =>
      bytes.readUInt16LE(page * PAGE_BYTES + 18) === 1 &&
      bytes.readUInt16LE(page * PAGE_BYTES + 20) > 10 &&
      DAMAGED.test(spoil(page * PAGE_BYTES)),
  );
  assert.ok(branch !== undefined, 'a branch page is in use');
  const node = branch * PAGE_BYTES + 24 + bytes.readUInt16LE(branch * PAGE_BYTES + 28);
  const spoiled = [
    ['a child far away', node + 3],
    ['the length of a key', node + 6],
    ['the number of the page', branch * PAGE_BYTES],
    ['where its nodes begin', branch * PAGE_BYTES + 22],
  ] as const;
  for (const [what, at] of spoiled) assert.match(spoil(at), DAMAGED, what);
});
