import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../../test/support/runs.ts';
import { temporaryDirectory } from '../../../../test/support/temporary.ts';
import { openWorker } from '../../../../test/support/wal.ts';
import { SCAN_PAGE_RECORDS } from '../../base/limits.ts';
import { logConformance } from '../log.conformance.ts';
import { takeOwnership } from './owner.ts';
import { openWalLog } from './wal-log.ts';

const stamp = { formatVersion: 1, shard: 0, shards: 8 };

logConformance('write-ahead', {
  open: (path) => {
    const directory = `${path}-wal`;
    return openWalLog(path, {
      stamp,
      writeAhead: { directory, workers: 2, worker: 0, mark: takeOwnership(directory) },
    });
  },
});

test('a scan of state is the same wherever its entries are, whatever a page holds', async (t) => {
  const worker = await openWorker(temporaryDirectory(t));
  const log = worker.logs[0]!;
  const model = new Map<string, Buffer>();
  let number = 0;
  const nameOf = (i: number): string => `p/${String(i).padStart(4, '0')}`;
  // A run of neighbouring keys, so that whole pages are pending, deleted or stored. Few entries fill a page by their bytes.
  const change = fc.record({
    from: fc.nat({ max: SCAN_PAGE_RECORDS * 2 }),
    count: fc.constantFrom(1, 2, SCAN_PAGE_RECORDS - 1, SCAN_PAGE_RECORDS, SCAN_PAGE_RECORDS + 1),
    bytes: fc.constantFrom<number | null>(null, 1, 1, 4_000),
    isStored: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 6 }), async (changes) => {
      for (const { from, count, bytes, isStored } of changes) {
        const value = bytes === null ? null : Buffer.alloc(bytes, number++ % 256);
        const state = Array.from({ length: count }, (_, i) => [nameOf(from + i), value] as const);
        await log.append({ records: [], state });
        for (const [key] of state) {
          if (value === null) model.delete(key);
          else model.set(key, value);
        }
        if (isStored) await worker.files.checkpoint();
        const wanted = [...model].sort(([a], [b]) => (a < b ? -1 : 1));
        for (const prefix of ['', 'p/', 'p/0', 'p/0012', 'p/10', 'q'])
          assert.deepEqual(
            [...log.scanState(prefix)].map(([key, bytes]) => [key, Buffer.from(bytes).toString('hex')]),
            wanted.filter(([key]) => key.startsWith(prefix)).map(([key, bytes]) => [key, bytes.toString('hex')]),
          );
      }
    }),
    { numRuns: runs(15) },
  );
  await worker.close();
});
