import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HANDED_OVER_BYTES, TRANSFER_GRAINS_MAX } from '../../engine/base/limits.ts';
import { encodeGrain } from '../../engine/grain/codec/blob.ts';
import { writeContainer } from '../../engine/grain/codec/container-writer.ts';
import { blobsOf, entriesOf, ImportReader } from './read-import.ts';

const GRAINS = 3 * TRANSFER_GRAINS_MAX + 7;

test('a file of many grains becomes chunks of a few pieces, decoded one by one', async () => {
  const grains = Array.from({ length: GRAINS }, (_, at) =>
    encodeGrain('event', { content: `grain ${at} ${'x'.repeat(100)}`, created_at: 1_700_000_000_000n, namespace: 'n' }),
  );
  const replaced = grains[3]!;
  const manifest = new Map([
    [replaced.address, { supersededBy: grains.at(-1)!.address, systemValidTo: 1_700_000_000_000 }],
  ]);
  const file = writeContainer(
    grains.map(({ blob }) => blob),
    { sorted: false, deduplicated: false, manifest },
  );
  const reader = new ImportReader();
  const { chunks } = await reader.read(file);
  await reader.close();
  assert.deepEqual(
    chunks.map(({ from, lengths }) => [from, lengths.length]),
    [0, 1, 2, 3].map((at) => [at * TRANSFER_GRAINS_MAX, at === 3 ? 7 : TRANSFER_GRAINS_MAX]),
  );
  assert.deepEqual(
    chunks.flatMap(blobsOf).map((blob) => Buffer.from(blob).toString('hex')),
    grains.map(({ blob }) => Buffer.from(blob).toString('hex')),
  );
  // The manifest entry of a replaced grain comes with its replacement.
  assert.deepEqual(
    chunks.map((chunk) => entriesOf(chunk).map(({ hash }) => hash)),
    [[], [], [], [replaced.address]],
  );
});

test('a large file is handed to the thread without a copy', async () => {
  const reader = new ImportReader();
  const file = new Uint8Array(HANDED_OVER_BYTES);
  await assert.rejects(reader.read(file), { code: 'FMT-E001' });
  await reader.close();
  assert.equal(file.length, 0);
});
