import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Embedder, EmbedError } from '../../embed/embedder.ts';
import { FOLLOW_RETRY_MIN_MS } from '../../engine/limits.ts';
import type { Backlog, BacklogPage, EmbeddedPage, StampOf } from './backlog.ts';
import { Follower } from './follower.ts';

/** A shard of texts by memory, which has everything embedded up to a sequence. */
class TextShard implements Backlog {
  readonly kept: EmbeddedPage[] = [];
  readonly #texts: readonly string[];
  readonly #backend: string;
  refusals = 0;
  reached = 0;

  constructor(texts: readonly string[], backend = '') {
    this.#texts = texts;
    this.#backend = backend;
  }

  pages(stampOf: StampOf, grainsMax: number): Promise<readonly BacklogPage[]> {
    if (stampOf(this.#backend) === undefined || this.reached >= this.#texts.length) return Promise.resolve([]);
    const upTo = Math.min(this.reached + Math.min(grainsMax, 2), this.#texts.length);
    const grains = this.#texts
      .slice(this.reached, upTo)
      .map((text, i) => ({ ordinal: this.reached + i + 1, text }))
      .filter(({ text }) => text !== '');
    return Promise.resolve([{ memory: 1, backend: this.#backend, after: this.reached, upTo, grains }]);
  }

  store(page: EmbeddedPage): Promise<void> {
    if (this.refusals-- > 0) return Promise.reject(new Error('no room'));
    assert.equal(page.after, this.reached, 'pages follow one another');
    this.reached = page.upTo;
    this.kept.push(page);
    return Promise.resolve();
  }
}

/** Gives each text a vector that tells its length; `fails` says how often it does not. */
function embedder(name: string, fails = 0): Embedder & { asked: number } {
  const made = {
    name,
    dimensions: 2,
    asked: 0,
    embed(texts: readonly string[]) {
      made.asked += 1;
      if (fails-- > 0) return Promise.reject(new EmbedError('gone', { retryable: true }));
      return Promise.resolve(texts.map((text) => (text === '…' ? undefined : Float32Array.of(text.length, 0))));
    },
    close: () => Promise.resolve(),
  };
  return made;
}

/** Time that passes when nothing else is to do: a rest ends at once, and the clock moves by it. */
function clock() {
  let ms = 0;
  const after = (wait: number, run: () => void): (() => void) => {
    const soon = setImmediate(() => {
      ms += wait;
      run();
    });
    return () => clearImmediate(soon);
  };
  return { nowMs: () => ms, after };
}

const log = { warn: () => undefined, info: () => undefined };

async function until(condition: () => boolean): Promise<void> {
  for (let turn = 0; turn < 10_000 && !condition(); turn++) await new Promise((resolve) => setImmediate(resolve));
  assert.ok(condition(), 'it came true in time');
}

test('every shard is followed to its end, grains without words included, and later writes are taken up', async () => {
  const texts = ['one', '', 'a much longer text', '…', 'five'];
  const shards = [new TextShard(texts), new TextShard(['x']), new TextShard([])];
  const follower = new Follower({ backlogs: shards, embedderOf: () => embedder('e'), log, ...clock() });
  follower.start();
  await until(() => shards[0]!.reached === 5 && shards[1]!.reached === 1);
  await follower.close();
  const kept = shards[0]!.kept.flatMap(({ grains }) => grains.map(({ ordinal, vectors }) => [ordinal, vectors[0]![0]]));
  assert.deepEqual(kept, [
    [1, 3],
    [3, 18],
    [5, 4],
  ]);
  assert.deepEqual(shards[0]!.kept[0]!.embedder, { name: 'e', dimensions: 2 });
  assert.equal(follower.embedded, 4);
});

test('an embedder that fails is left alone for a while that doubles, and holds no other up', async () => {
  const broken = embedder('broken', 3);
  const fine = embedder('fine');
  const shards = [new TextShard(['a', 'b'], 'remote'), new TextShard(['c', 'd', 'e'])];
  const time = clock();
  const follower = new Follower({
    backlogs: shards,
    embedderOf: (backend) => (backend === 'remote' ? broken : fine),
    log,
    ...time,
  });
  follower.start();
  await until(() => shards[1]!.reached === 3);
  assert.equal(shards[0]!.reached, 0);
  assert.deepEqual(follower.outages, ['remote']);
  await until(() => shards[0]!.reached === 2);
  await follower.close();
  assert.equal(broken.asked, 4, 'three failures and the page that went through');
  assert.ok(time.nowMs() >= FOLLOW_RETRY_MIN_MS * (1 + 2 + 4), `waited ${time.nowMs()} ms`);
  assert.deepEqual(follower.outages, []);
});

test('vectors that could not be kept are made again, and an unknown backend waits', async () => {
  const shards = [new TextShard(['a', 'b', 'c']), new TextShard(['never'], 'nobody')];
  shards[0]!.refusals = 2;
  const made = embedder('e');
  const follower = new Follower({
    backlogs: shards,
    embedderOf: (backend) => (backend === '' ? made : undefined),
    log,
    ...clock(),
  });
  follower.start();
  await until(() => shards[0]!.reached === 3);
  await follower.close();
  assert.equal(made.asked, 4);
  assert.equal(shards[1]!.reached, 0);
});

test('closing gives up the call under way, and a shard that cannot be asked is asked again', async () => {
  let asked = 0;
  const hanging: Embedder = {
    name: 'slow',
    dimensions: 2,
    embed: (_texts, options) =>
      new Promise((_, reject) => {
        options?.signal?.addEventListener('abort', () => reject(options.signal?.reason));
      }),
    close: () => Promise.resolve(),
  };
  const shard = new TextShard(['a']);
  const shaky: Backlog = {
    pages: (stampOf, grainsMax) =>
      asked++ === 0 ? Promise.reject(new Error('away')) : shard.pages(stampOf, grainsMax),
    store: (page) => shard.store(page),
  };
  const follower = new Follower({ backlogs: [shaky], embedderOf: () => hanging, log, ...clock() });
  follower.start();
  await until(() => asked >= 2);
  await follower.close();
  assert.equal(shard.reached, 0);
  assert.deepEqual(follower.outages, [], 'giving up is no failure');
});
