import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Embedder } from '../../embed/embedder.ts';
import type { EmbedderStatus } from './embedders.ts';
import { queryVector } from './query-vector.ts';

const embedders = (embed: Embedder['embed'] | undefined, state: EmbedderStatus['state'] = 'ready') => ({
  of: () => (embed === undefined ? undefined : { name: 'e/1', dimensions: 2, embed, close: () => Promise.resolve() }),
  status: () => ({ backend: 'e/1', dimensions: 2, state }),
});

test('a question has its vector, with who made it and of what', async () => {
  const { vector, warning } = await queryVector(
    embedders(() => Promise.resolve([Float32Array.of(0.6, 0.8)])),
    'who',
    1_000,
  );
  assert.deepEqual([...new Float32Array(vector!.bytes.buffer)], [...Float32Array.of(0.6, 0.8)]);
  assert.equal(vector!.of, 'who');
  assert.equal(vector!.embedder, 'e/1');
  assert.equal(warning, undefined);
});

test('what cannot be embedded, or not in time, is answered from words with the reason', async () => {
  assert.deepEqual(await queryVector(embedders(undefined, 'none'), 'who', 1_000), {});
  assert.match((await queryVector(embedders(undefined, 'opening'), 'who', 1_000)).warning!, /being loaded/);
  assert.match((await queryVector(embedders(undefined, 'failed'), 'who', 1_000)).warning!, /out of order/);
  assert.deepEqual(
    await queryVector(
      embedders(() => Promise.resolve([undefined])),
      '…',
      1_000,
    ),
    {},
  );
  const broken = embedders(() => Promise.reject(new Error('gone')));
  assert.match((await queryVector(broken, 'who', 1_000)).warning!, /out of order/);
  const hanging = embedders(
    (_texts, options) =>
      new Promise((_, reject) => {
        options?.signal?.addEventListener('abort', () => reject(options.signal?.reason));
      }),
  );
  assert.match((await queryVector(hanging, 'who', 5)).warning!, /in time/);
});
