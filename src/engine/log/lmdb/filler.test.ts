import assert from 'node:assert/strict';
import { test } from 'node:test';
import { smallDisk } from '../../../../test/support/temporary.ts';
import { LogFiller } from './filler.ts';
import { freeBytes } from './room.ts';

const DISK_BYTES = 16 * 1_048_576;
const BATCH_BYTES = 1_048_576;

test('a log is filled no further than the disk has room for, and leaves some', async (t) => {
  const directory = smallDisk(t, DISK_BYTES);
  if (directory === undefined) return;
  const filler = new LogFiller(directory, { formatVersion: 1, shard: 0, shards: 1 }, { isUnsynced: true });
  let batches = 0;
  const fill = async (): Promise<void> => {
    for (; batches < DISK_BYTES / BATCH_BYTES; batches++) await filler.putRecords(batchOf(batches * 16));
  };
  await assert.rejects(fill(), { code: 'STO-E001', retryable: true });
  assert.ok(batches > 8, `${batches} were written`);
  assert.ok(freeBytes(directory) > BATCH_BYTES);
  await filler.putState([[Buffer.from('key'), Buffer.alloc(100)]]);
  await filler.close();
});

function* batchOf(first: number): Generator<readonly [number, Buffer]> {
  for (let i = 1; i <= 16; i++) yield [first + i, Buffer.alloc(BATCH_BYTES / 16, i)];
}
