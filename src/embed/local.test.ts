import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EmbedError } from './embedder.ts';
import { openLocalEmbedder } from './local.ts';

const thread = new URL('./builtin/testing/fake-thread.ts', import.meta.url);
const gate = new Int32Array(new SharedArrayBuffer(12)).fill(1_000);

test('opens the sentence encoder if it loads', async (t) => {
  const { embedder, fallback } = await openLocalEmbedder({ thread, threadData: { gate } });
  t.after(() => embedder.close());
  assert.equal(fallback, undefined);
  assert.equal(embedder.name, 'use-lite-int8-512/2');
});

test('falls back to hashed n-grams with the reason', async () => {
  const { embedder, fallback } = await openLocalEmbedder({ thread, threadData: { gate, failing: 'load' } });
  assert.equal(fallback, 'nothing to load');
  assert.equal(embedder.name, 'ngram-hash-512/1');
  assert.equal((await embedder.embed(['word']))[0]!.length, embedder.dimensions);
});

test('a thread that dies while loading does not cause the fallback', async () => {
  await assert.rejects(
    openLocalEmbedder({ thread, threadData: { gate, failing: 'crash' } }),
    (error) => error instanceof EmbedError && error.retryable,
  );
});
