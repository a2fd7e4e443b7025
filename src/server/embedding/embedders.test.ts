import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BUILTIN_INT8_NAME, BUILTIN_NAME } from '../../embed/builtin/builtin.ts';
import type { Embedder } from '../../embed/embedder.ts';
import { EMBEDDER_REOPEN_MS } from '../../engine/base/limits.ts';
import { Embedders } from './embedders.ts';

const log = { warn: () => undefined, info: () => undefined };

function embedder(name: string): Embedder & { asked: number; closed: boolean } {
  const made = {
    name,
    dimensions: 2,
    asked: 0,
    closed: false,
    embed(texts: readonly string[]) {
      made.asked += texts.length;
      return Promise.resolve(texts.map(() => Float32Array.of(1, 0)));
    },
    close: () => {
      made.closed = true;
      return Promise.resolve();
    },
  };
  return made;
}

test('an embedder is opened on first use, once, and its queries are cached', async () => {
  const made = embedder('model/1');
  let opened = 0;
  const open = () => {
    opened += 1;
    return Promise.resolve({ embedder: made });
  };
  const embedders = new Embedders('use-lite', { 'use-lite': open }, { log });
  assert.deepEqual(embedders.status(), { backend: 'use-lite', dimensions: 0, state: 'cold' });
  assert.equal(embedders.of(''), undefined);
  assert.equal(embedders.status().state, 'opening');
  const ready = await embedders.ready('use-lite');
  assert.equal(ready?.name, 'model/1');
  assert.equal(opened, 1);
  assert.equal(embedders.of(''), ready);
  assert.deepEqual(embedders.status(), { backend: 'model/1', dimensions: 2, state: 'ready' });
  await ready?.embed(['who'], { priority: 'query' });
  await ready?.embed(['who'], { priority: 'query' });
  assert.equal(made.asked, 1);
  await embedders.close();
  assert.ok(made.closed);
  assert.equal(embedders.of(''), undefined);
});

test('an embedder that failed to open is retried later, and its fallback is reported', async () => {
  let now = 0;
  let fails = 1;
  const embedders = new Embedders(
    'use-lite',
    {
      'use-lite': () =>
        fails-- > 0
          ? Promise.reject(new Error('no weights'))
          : Promise.resolve({ embedder: embedder('ngram/1'), fallback: 'no model here' }),
    },
    { log, nowMs: () => now },
  );
  assert.equal(await embedders.ready(''), undefined);
  assert.deepEqual(embedders.status(), { backend: 'use-lite', dimensions: 0, state: 'failed', reason: 'no weights' });
  assert.equal(await embedders.ready(''), undefined, 'no retry before its time');
  now += EMBEDDER_REOPEN_MS;
  assert.equal((await embedders.ready(''))?.name, 'ngram/1');
  assert.equal(embedders.status().reason, 'no model here');
});

test('the embedder that made vectors is found by their name and opened, unless it is gone', async () => {
  const opened: string[] = [];
  const open = (name: string) => () => {
    opened.push(name);
    return Promise.resolve({ embedder: embedder(name) });
  };
  const openers = { 'use-lite': open('other/1'), ngram: open('ngram-hash-512/1'), remote: open('remote:new-2/1') };
  const embedders = new Embedders('use-lite', openers, { log });
  await embedders.ready('use-lite');
  assert.equal((await embedders.named('other/1'))?.backend, 'use-lite');
  assert.equal((await embedders.named('ngram-hash-512/1'))?.embedder.name, 'ngram-hash-512/1');
  assert.equal(await embedders.named('remote:old-2/1'), undefined);
  assert.equal(await embedders.named('unheard/1'), undefined);
  assert.deepEqual(opened, ['other/1', 'ngram-hash-512/1', 'remote:new-2/1']);
});

test('vectors of the encoder in bytes and in floats have different backends', async () => {
  const open = (name: string) => () => Promise.resolve({ embedder: embedder(name) });
  const openers = { 'use-lite': open(BUILTIN_NAME), 'use-lite-int8': open(BUILTIN_INT8_NAME) };
  const embedders = new Embedders('use-lite-int8', openers, { log });
  assert.equal((await embedders.named(BUILTIN_NAME))?.backend, 'use-lite');
  assert.equal((await embedders.named(BUILTIN_INT8_NAME))?.backend, 'use-lite-int8');
});

test('the names that memories may use for each embedder: earlier ones, and the empty one of the default', () => {
  const open = () => Promise.resolve({ embedder: embedder('e') });
  const embedders = new Embedders('ngram', { 'use-lite': open, ngram: open }, { log });
  const names = () => [embedders.namesOf('use-lite'), embedders.namesOf('use-lite-int8'), embedders.namesOf('ngram')];
  assert.deepEqual(names(), [
    ['use-lite', 'builtin'],
    ['use-lite-int8', 'builtin-int8'],
    ['ngram', ''],
  ]);
  embedders.reconfigure('use-lite', { 'use-lite': open }, undefined);
  assert.deepEqual(names(), [['use-lite', 'builtin', ''], ['use-lite-int8', 'builtin-int8'], ['ngram']]);
  assert.deepEqual(
    ['builtin', 'builtin-int8', ''].map((word) => embedders.nameOf(word)),
    ['use-lite', 'use-lite-int8', 'use-lite'],
  );
});

test('an embedder that is replaced is closed, and answers questions of its vectors alone', async () => {
  const made = new Map<string, ReturnType<typeof embedder>>();
  const open = (name: string) => () => {
    const one = embedder(name);
    made.set(name, one);
    return Promise.resolve({ embedder: one, destination: { external: false } });
  };
  const openEarlier = (name: string) => (name === 'remote:old-2/1' ? open(name) : undefined);
  const embedders = new Embedders('remote', { remote: open('remote:old-2/1') }, { log, openEarlier });
  await embedders.ready('');
  const old = made.get('remote:old-2/1');
  embedders.reconfigure('remote', { remote: open('remote:new-2/1') }, 'remote');
  assert.equal(old?.closed, true);
  assert.equal((await embedders.ready(''))?.name, 'remote:new-2/1');
  const earlier = await embedders.named('remote:old-2/1');
  assert.deepEqual([earlier?.embedder.name, earlier?.destination], ['remote:old-2/1', { external: false }]);
  assert.notEqual(made.get('remote:old-2/1'), old, 'it was opened again');
  assert.equal(await embedders.named('remote:older-2/1'), undefined);
  await embedders.close();
  assert.ok(made.get('remote:old-2/1')?.closed && made.get('remote:new-2/1')?.closed);
});

test('a backend must be known and configured', () => {
  const embedders = new Embedders('none', {}, { log });
  assert.equal(embedders.of(''), undefined);
  assert.deepEqual(embedders.status(), { backend: 'none', dimensions: 0, state: 'none' });
  assert.deepEqual(embedders.status('remote'), {
    backend: 'remote',
    dimensions: 0,
    state: 'failed',
    reason: 'it is not configured in this deployment',
  });
  embedders.check('none');
  embedders.check('');
  assert.throws(() => embedders.check('remote'), { code: 'VAL-E001' });
  assert.throws(() => embedders.check('pinecone'), { code: 'VAL-E001' });
});
