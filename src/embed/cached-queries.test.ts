import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cachedQueries } from './cached-queries.ts';
import type { Embedder } from './embedder.ts';

/** Numbers texts by first use; a text that begins with `-` has no vector. */
function counting(): { readonly embedder: Embedder; readonly asked: string[][]; closed: number } {
  let next = 0;
  const counted = {
    asked: [] as string[][],
    closed: 0,
    embedder: {
      name: 'counting/1',
      dimensions: 1,
      async embed(texts: readonly string[]) {
        counted.asked.push([...texts]);
        return texts.map((text) => (text.startsWith('-') ? undefined : Float32Array.of(next++)));
      },
      async close() {
        counted.closed++;
      },
    },
  };
  return counted;
}

const query = { priority: 'query' } as const;

test('cached queries are not embedded again, and the oldest is evicted', async () => {
  const { embedder, asked } = counting();
  const cached = cachedQueries(embedder, 2);
  assert.equal(cached.name, 'counting/1');
  assert.deepEqual(await cached.embed(['a', '-b'], query), [Float32Array.of(0), undefined]);
  assert.deepEqual(await cached.embed(['-b', 'a'], query), [undefined, Float32Array.of(0)]);
  assert.deepEqual(await cached.embed(['c'], query), [Float32Array.of(1)]); // evicts '-b'
  assert.deepEqual(await cached.embed(['a', '-b'], query), [Float32Array.of(0), undefined]);
  assert.deepEqual(asked, [['a', '-b'], ['c'], ['-b']]);
});

test('one call may have more texts than the cache has entries', async () => {
  const cached = cachedQueries(counting().embedder, 1);
  assert.deepEqual(
    await cached.embed(['a', 'b', 'c'], query),
    [0, 1, 2].map((value) => Float32Array.of(value)),
  );
  assert.deepEqual(
    await cached.embed(['c', 'a', 'c'], query),
    [2, 3, 2].map((value) => Float32Array.of(value)),
  );
});

test('callers may change the vectors they get', async () => {
  const cached = cachedQueries(counting().embedder, 4);
  const [first] = await cached.embed(['a'], query);
  first!.fill(9);
  const [second] = await cached.embed(['a'], query);
  structuredClone(second!.buffer, { transfer: [second!.buffer as ArrayBuffer] });
  assert.deepEqual(await cached.embed(['a'], query), [Float32Array.of(0)]);
});

test('backlog bypasses the cache', async () => {
  const { embedder, asked } = counting();
  const cached = cachedQueries(embedder, 4);
  await cached.embed(['a']);
  await cached.embed(['a'], { priority: 'backlog' });
  await cached.embed(['a'], query);
  assert.equal(asked.length, 3);
});

test('failures are not cached', async () => {
  const { embedder } = counting();
  let failing = true;
  const cached = cachedQueries(
    { ...embedder, embed: (texts) => (failing ? Promise.reject(new Error('down')) : embedder.embed(texts)) },
    4,
  );
  await assert.rejects(cached.embed(['a'], query), /down/);
  failing = false;
  assert.deepEqual(await cached.embed(['a'], query), [Float32Array.of(0)]);
  await assert.rejects(cached.embed(['a'], { ...query, signal: AbortSignal.abort(new Error('late')) }), /late/);
});

test('forgotten queries are embedded again, also those that were under way', async () => {
  const { embedder, asked } = counting();
  const gate = Promise.withResolvers<void>();
  const cached = cachedQueries({
    ...embedder,
    embed: async (texts) => {
      if (texts.includes('slow')) await gate.promise;
      return embedder.embed(texts);
    },
  });
  await cached.embed(['a'], query);
  const slow = cached.embed(['slow', 'a'], query);
  cached.forgetQueries();
  gate.resolve();
  assert.deepEqual(await slow, [Float32Array.of(1), Float32Array.of(0)]);
  await cached.embed(['a', 'slow'], query);
  await cached.embed(['a', 'slow'], query);
  assert.deepEqual(asked, [['a'], ['slow'], ['a', 'slow']]);
});

test('close also closes the inner embedder', async () => {
  const counted = counting();
  await cachedQueries(counted.embedder, 4).close();
  assert.equal(counted.closed, 1);
});
