import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import { FixedRecordsLog } from './fixed-records.ts';
import { openLmdbLog } from './lmdb/lmdb-log.ts';
import { logConformance } from './log.conformance.ts';
import type { Log } from './log.ts';
import { MemoryLog } from './memory.ts';

const stamp = { formatVersion: 1, shard: 0, shards: 1 };
const FIXED = 0xff;
const isFixed = (bytes: Uint8Array): boolean => bytes[0] === FIXED;

logConformance('fixed records', {
  open: (directory) => new FixedRecordsLog(openLmdbLog(directory, { stamp, mapSizeBytes: 1_048_576 }), isFixed),
});

const record = (...bytes: number[]): Uint8Array => Uint8Array.from(bytes);

test('a replacement of a fixed record is refused, and nothing of that append is written', async (t) => {
  const logs: Log[] = [new MemoryLog(), openLmdbLog(join(temporaryDirectory(t), 'log'), { stamp })];
  for (const inner of logs) {
    const log = new FixedRecordsLog(inner, isFixed);
    await log.append({ records: [record(FIXED, 1), record(2), record(3)] });
    await log.append({ records: [], removals: [3] });
    assert.deepEqual(
      [1, 2, 3, 4].map((sequence) => log.mayReplace(sequence)),
      [false, true, false, false],
    );
    for (const sequence of [1, 3, 4])
      for (const bytes of [record(FIXED, 1), record(9)])
        await assert.rejects(
          log.append({ records: [record(7)], replacements: [[sequence, bytes]], state: [['k', bytes]] }),
          { name: 'AssertionError' },
        );
    assert.deepEqual([...log.read(1)!], [FIXED, 1]);
    assert.deepEqual([log.nextSequence, log.getState('k')], [4, undefined]);
    // Other records can still be replaced, and fixed ones removed.
    await log.append({ records: [], replacements: [[2, record(8)]], removals: [1] });
    assert.deepEqual([log.read(1), [...log.read(2)!]], [undefined, [8]]);
    await log.close();
  }
});
