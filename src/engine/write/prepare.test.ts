// Blobs from elsewhere that are imported into a memory.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contextOf, openShard, settingsOf } from '../../../test/support/shard.ts';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import { encodeGrain } from '../grain/codec/blob.ts';

test('a signed grain is distinguished from a damaged one, and does not block other grains', async (t) => {
  const engine = await openShard(temporaryDirectory(t));
  t.after(() => engine.close());
  const context = contextOf(1);
  await engine.write('attachMemory', context, { settings: settingsOf(1) });
  const fields = { content: 'said under oath', created_at: 1_768_471_200_000 };
  const signed = encodeGrain('event', fields, { signed: true });
  const plain = encodeGrain('event', fields);
  const { outcomes } = await engine.write('importBlobs', context, {
    blobs: [signed.blob, plain.blob, plain.blob.subarray(0, 12)],
    manifest: [],
  });
  assert.deepEqual(
    outcomes.map((outcome) => ('error' in outcome ? outcome.error.message : outcome.hash)),
    [
      'FMT-E001: ERR_UNSUPPORTED: signed grains can be read, but not stored',
      plain.address,
      'FMT-E001: ERR_CORRUPT: more elements than bytes',
    ],
  );
});

test('a grain whose texts hold U+0000 is refused, as the API refuses its fields', async (t) => {
  const engine = await openShard(temporaryDirectory(t));
  t.after(() => engine.close());
  const context = contextOf(1);
  await engine.write('attachMemory', context, { settings: settingsOf(1) });
  const fields = { subject: 'ada', relation: 'likes', object: 'tea', confidence: 1, created_at: 1_768_471_200_000 };
  const beliefs = [
    { subject: 'ada\0likes' },
    { object: 'tea\0' },
    { note: ['x', { y: 'a\0' }] },
    { note: { 'a\0': 1 } },
    { 'a\0': 1 },
    { note: 0 },
  ].map((more) => encodeGrain('belief', { ...fields, ...more }));
  const { outcomes } = await engine.write('importBlobs', context, {
    blobs: beliefs.map(({ blob }) => blob),
    manifest: [],
  });
  assert.deepEqual(
    outcomes.map((outcome) => ('error' in outcome ? outcome.error.message : outcome.hash)),
    [
      ...['`subject`', '`object`', '`note`', '`note`', 'the name of a field'].map(
        (place) => `FMT-E001: ERR_RANGE: ${place} holds U+0000`,
      ),
      beliefs.at(-1)!.address,
    ],
  );
});
