import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Embedder, EmbedError } from '../../embed/embedder.ts';
import { ngramVector } from '../../embed/ngram.ts';
import { WINDOW_CACHE_IDLE_MS } from '../../engine/base/limits.ts';
import { WindowCache, type WindowCacheOptions } from './window-cache.ts';

const BACKLOG = { priority: 'backlog' } as const;

function setUp(options: WindowCacheOptions = {}) {
  const timers: { readonly ms: number; readonly run: () => void }[] = [];
  const after = (ms: number, run: () => void) => {
    const timer = { ms, run };
    timers.push(timer);
    return () => void timers.splice(timers.indexOf(timer), 1);
  };
  const cache = new WindowCache({ after, ...options });
  const taken: string[][] = [];
  const embedderOf = (
    name: string,
    make = (text: string): Float32Array | undefined => ngramVector(text),
  ): Embedder => ({
    name,
    dimensions: 512,
    embed: (texts) => {
      taken.push([...texts]);
      return Promise.resolve(texts.map(make));
    },
    close: () => Promise.resolve(),
  });
  return { cache, timers, taken, embedderOf };
}

test('a window that repeats is embedded once, in one call and in later ones', async () => {
  const { cache, taken, embedderOf } = setUp();
  const known = cache.over(1, embedderOf('a/1'));
  const first = await known.embed(['quote', 'one', 'quote', ''], BACKLOG);
  assert.deepEqual(first, ['quote', 'one', 'quote', ''].map(ngramVector));
  const second = await known.embed(['two', 'quote', ''], BACKLOG);
  assert.deepEqual(second, ['two', 'quote', ''].map(ngramVector));
  assert.deepEqual(await known.embed(['one'], BACKLOG), [ngramVector('one')]);
  assert.deepEqual(taken, [['quote', 'one', ''], ['two']]);
  assert.equal(cache.repeats, 4);
});

test('callers get vectors of their own', async () => {
  const { cache, embedderOf } = setUp();
  const known = cache.over(1, embedderOf('a/1'));
  for (let time = 0; time < 3; time++) {
    const [vector] = await known.embed(['quote'], BACKLOG);
    assert.deepEqual(vector, ngramVector('quote'));
    vector!.fill(0);
  }
});

test('memories and embedders share nothing', async () => {
  const { cache, taken, embedderOf } = setUp();
  for (const [memory, name] of [
    [1, 'a/1'],
    [2, 'a/1'],
    [1, 'b/1'],
  ] as const)
    await cache.over(memory, embedderOf(name)).embed(['quote'], BACKLOG);
  assert.equal(taken.length, 3);
});

test('what was removed from a memory is embedded again, in that memory alone', async () => {
  const { cache, taken, embedderOf } = setUp();
  const [one, two] = [1, 2].map((memory) => cache.over(memory, embedderOf('a/1'))) as [Embedder, Embedder]; // two
  await one.embed(['quote'], BACKLOG);
  await two.embed(['quote'], BACKLOG);
  const before = cache.bytes;
  cache.drop(1);
  assert.equal(cache.bytes, before / 2);
  await two.embed(['quote'], BACKLOG);
  assert.equal(taken.length, 2);
  await one.embed(['quote'], BACKLOG);
  assert.equal(taken.length, 3);
});

test('what is embedded during a removal is not kept', async () => {
  const { cache, taken, embedderOf } = setUp();
  const plain = embedderOf('a/1');
  const known = cache.over(1, {
    ...plain,
    embed: async (texts, options) => {
      const vectors = await plain.embed(texts, options);
      if (taken.length === 1) cache.drop(1);
      return vectors;
    },
  });
  assert.deepEqual(await known.embed(['quote'], BACKLOG), [ngramVector('quote')]);
  assert.equal(cache.bytes, 0);
  await known.embed(['quote'], BACKLOG);
  await known.embed(['quote'], BACKLOG);
  assert.equal(taken.length, 2);
});

test('its bytes are bounded, and the least recently used vectors go first', async () => {
  const { cache, taken, embedderOf } = setUp({ bytesMax: 2 * (512 * 4 + 256) });
  const known = cache.over(1, embedderOf('a/1'));
  for (const text of ['a', 'b', 'a', 'c', 'a', 'b']) await known.embed([text], BACKLOG);
  assert.deepEqual(taken, [['a'], ['b'], ['c'], ['b']]);
  assert.equal(cache.bytes, 2 * (512 * 4 + 256));
});

test('without a backlog everything is dropped after a while, and when the server stops', async () => {
  const { cache, timers, taken, embedderOf } = setUp();
  const known = cache.over(1, embedderOf('a/1'));
  await known.embed(['quote'], BACKLOG);
  await known.embed(['quote'], BACKLOG);
  assert.deepEqual(
    timers.map(({ ms }) => ms),
    [WINDOW_CACHE_IDLE_MS],
  );
  timers[0]!.run();
  assert.equal(cache.bytes, 0);
  await known.embed(['quote'], BACKLOG);
  assert.equal(taken.length, 2);
  cache.close();
  assert.equal(cache.bytes, 0);
});

test('vectors that cannot be stored are not kept, and too few are an error', async () => {
  const { cache, taken, embedderOf } = setUp();
  const known = cache.over(
    1,
    embedderOf('a/1', () => new Float32Array(512).fill(Number.NaN)),
  );
  await known.embed(['quote'], BACKLOG);
  await known.embed(['quote'], BACKLOG);
  assert.equal(taken.length, 2);
  const broken = cache.over(1, { ...embedderOf('b/1'), embed: () => Promise.resolve([]) });
  await assert.rejects(broken.embed(['quote', 'one'], BACKLOG), EmbedError);
});
