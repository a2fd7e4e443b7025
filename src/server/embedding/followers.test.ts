import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Embedder } from '../../embed/embedder.ts';
import type { Backlog, StampOf } from './backlog.ts';
import { Embedders } from './embedders.ts';
import { Followers } from './followers.ts';

const log = { warn: () => undefined, info: () => undefined };

const embedder = (name: string, embed: Embedder['embed']): Embedder => ({
  name,
  dimensions: 2,
  embed,
  close: () => Promise.resolve(),
});

/** One grain per backend, each in its own memory, pending until stored. */
class Shard implements Backlog {
  readonly waiting = new Map([
    ['', 1],
    ['ngram', 2],
    ['use-lite', 3],
  ]);
  readonly stored: (readonly [memory: number, embedder: string])[] = [];

  async pages(stampOf: StampOf) {
    return [...this.waiting]
      .filter(([backend]) => stampOf(backend) !== undefined)
      .map(([backend, memory]) => ({ memory, backend, after: 0, upTo: 1, grains: [{ ordinal: 1, text: 'word' }] }));
  }

  async store({ memory, embedder: { name } }: Parameters<Backlog['store']>[0]) {
    for (const [backend, waiting] of this.waiting) if (waiting === memory) this.waiting.delete(backend);
    this.stored.push([memory, name]);
  }
}

test('an embedder that hangs delays only the memories that chose it, and an unused one is not opened', async () => {
  const opened: string[] = [];
  const open = (name: string, embed: Embedder['embed']) => () => {
    opened.push(name);
    return Promise.resolve({ embedder: embedder(name, embed) });
  };
  const hangs: Embedder['embed'] = (_texts, options) =>
    new Promise((_, reject) => options?.signal?.addEventListener('abort', () => reject(options.signal?.reason)));
  const works: Embedder['embed'] = async (texts) => texts.map(() => Float32Array.of(1, 0));
  const embedders = new Embedders(
    'use-lite',
    { 'use-lite': open('model/1', hangs), ngram: open('grams/1', works), remote: open('service/1', works) },
    { log },
  );
  await embedders.ready('use-lite');
  await embedders.ready('ngram');
  const shard = new Shard();
  const followers = new Followers({
    backlogs: [shard],
    embedders,
    isChosen: (name) => name !== 'remote',
    mayLeave: () => true,
    log,
  });
  followers.start();
  for (let turn = 0; turn < 1_000 && shard.stored.length === 0; turn++) await new Promise(setImmediate);
  await followers.close();
  assert.deepEqual(shard.stored, [[2, 'grams/1']]);
  assert.equal(followers.embedded, 1);
  assert.equal(followers.passedOver, 0);
  assert.deepEqual(opened, ['model/1', 'grams/1']);
});

test('a memory’s texts go to the service if they may be sent, and wait otherwise', async () => {
  const sent: string[] = [];
  const service = embedder('service/1', async (texts) => {
    sent.push(...texts);
    return texts.map(() => Float32Array.of(1, 0));
  });
  const embedders = new Embedders('remote', { remote: () => Promise.resolve({ embedder: service }) }, { log });
  await embedders.ready('remote');
  const stored: number[] = [];
  const shard: Backlog = {
    pages: async () =>
      [1, 2]
        .filter((memory) => !stored.includes(memory))
        .map((memory) => ({ memory, backend: '', after: 0, upTo: 1, grains: [{ ordinal: 1, text: `of ${memory}` }] })),
    store: async ({ memory }) => {
      stored.push(memory);
    },
  };
  const mayLeave = (memory: number): boolean => memory === 2;
  const followers = new Followers({ backlogs: [shard], embedders, isChosen: () => true, mayLeave, log });
  followers.start();
  for (let turn = 0; turn < 1_000 && stored.length === 0; turn++) await new Promise(setImmediate);
  await followers.close();
  assert.deepEqual([stored, sent], [[2], ['of 2']]);
});
