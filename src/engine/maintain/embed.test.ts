import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { contextOf, openShard, settingsOf } from '../../../test/support/shard.ts';
import type { EmbedderStamp } from '../calls.ts';
import type { Engine } from '../engine.ts';
import { packVectors, unpackVectors } from '../index/vectors/transfer.ts';

const EMBEDDER: EmbedderStamp = { name: 'letters/1', dimensions: 26 };

/** How often each letter occurs, as a unit vector. */
function lettersOf(text: string): Float32Array {
  const vector = new Float32Array(26);
  for (const letter of text.toLowerCase()) {
    const place = letter.charCodeAt(0) - 97;
    if (place >= 0 && place < 26) vector[place]! += 1;
  }
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

async function open(t: TestContext, memories = 1) {
  const root = mkdtempSync(join(tmpdir(), 'granary-embed-'));
  const shard = { engine: await openShard(root) };
  t.after(async () => {
    await shard.engine.close();
    rmSync(root, { recursive: true });
  });
  for (let number = 1; number <= memories; number++)
    await shard.engine.write('attachMemory', contextOf(number), { settings: settingsOf(number) });
  const reopen = async (how: 'close' | 'abandon'): Promise<Engine> => {
    await shard.engine[how]();
    shard.engine = await openShard(root);
    return shard.engine;
  };
  return { shard, reopen };
}

async function add(engine: Engine, object: string, more: { memory?: number; user_id?: string } = {}): Promise<string> {
  const { memory = 1, ...fields } = more;
  const item = { grainType: 'belief', fields: { subject: 'it', relation: 'is', object, ...fields }, sync: false };
  return (await engine.write('add', contextOf(memory), item)).hash;
}

/** Embeds what waits, page by page; the texts that were embedded. */
async function embedAll(engine: Engine, embedder = EMBEDDER, grainsMax = 3): Promise<string[]> {
  const texts: string[] = [];
  for (let rounds = 0; rounds < 1_000; rounds++) {
    const { pages, waiting } = engine.read('embedPages', contextOf(0), { embedders: { '': embedder }, grainsMax });
    if (waiting === 0) return texts;
    for (const page of pages) {
      texts.push(...page.grains.map(({ text }) => text));
      const grains = page.grains.map(({ ordinal, text }) => ({ ordinal, vectors: packVectors([lettersOf(text)]) }));
      await engine.write('keepVectors', contextOf(0), { ...page, embedder, grains });
    }
  }
  assert.fail('embedding comes to an end');
}

const near = (engine: Engine, text: string, memory = 1) =>
  engine.store.vectors
    .search(memory, lettersOf(text), { limit: 1 })
    .map(({ ordinal }) => engine.store.addressAt(ordinal));

test('every grain of every memory is embedded once, in turn, and found by its vector', async (t) => {
  const { shard } = await open(t, 3);
  const { engine } = shard;
  const hashes = await Promise.all(['aaaa', 'bbbb', 'cccc', 'dddd', 'eeee'].map((object) => add(engine, object)));
  const other = await add(engine, 'zzzz', { memory: 2 });
  assert.deepEqual(
    (await embedAll(engine)).sort(),
    ['aaaa', 'bbbb', 'cccc', 'dddd', 'eeee', 'zzzz'].map((object) => `it is ${object}`),
  );
  assert.deepEqual(near(engine, 'it is dddd'), [hashes[3]]);
  assert.deepEqual(near(engine, 'it is aaaa', 2), [other]);
  assert.deepEqual(await embedAll(engine), []);
  assert.equal(engine.read('statistics', contextOf(1), {}).vectors, 5);
  await add(engine, 'ffff');
  assert.deepEqual(await embedAll(engine), ['it is ffff']);
});

test('vectors outlive a stop; after a crash what was in no file is embedded again, and none twice', async (t) => {
  const { shard, reopen } = await open(t);
  await add(shard.engine, 'aaaa');
  await embedAll(shard.engine);
  let engine = await reopen('close');
  assert.deepEqual(await embedAll(engine), []);
  const hash = await add(engine, 'bbbb');
  await embedAll(engine);
  engine = await reopen('abandon');
  assert.deepEqual(await embedAll(engine), ['it is bbbb']);
  assert.deepEqual(near(engine, 'it is bbbb'), [hash]);
  assert.equal(engine.read('statistics', contextOf(1), {}).vectors, 2);
});

test('forgotten grains, erased users and dropped memories lose their vectors, also those under way', async (t) => {
  const { shard } = await open(t, 2);
  const { engine } = shard;
  const doomed = await add(engine, 'aaaa');
  await add(engine, 'bbbb', { user_id: 'anna' });
  const kept = await add(engine, 'cccc');
  const { pages } = engine.read('embedPages', contextOf(0), { embedders: { '': EMBEDDER }, grainsMax: 10 });
  await engine.write('forget', contextOf(1), { hashes: [doomed], check: false });
  for (const page of pages) {
    const grains = page.grains.map(({ ordinal, text }) => ({ ordinal, vectors: packVectors([lettersOf(text)]) }));
    assert.deepEqual(await engine.write('keepVectors', contextOf(0), { ...page, embedder: EMBEDDER, grains }), {
      kept: 2,
    });
  }
  assert.equal(engine.store.vectors.count(1), 2);
  await engine.write('eraseUser', contextOf(1), { userId: 'anna' });
  assert.deepEqual(near(engine, 'it is bbbb'), [kept]);
  await engine.write('flush', contextOf(1), {});
  for (let turn = 0; turn < 10_000 && engine.read('statistics', contextOf(1), {}).purgePending > 0; turn++) {
    engine.maintain(5);
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.equal(engine.read('statistics', contextOf(1), {}).purgePending, 0);
  assert.deepEqual([...engine.store.vectors.keysInUse(1)], [engine.store.memory(1).keyIds.index]);
  await engine.write('dropMemory', contextOf(1), {});
  assert.equal(engine.store.vectors.count(1), 0);
});

test('another embedder begins anew, and a page of the one before is not kept', async (t) => {
  const { shard } = await open(t);
  const { engine } = shard;
  await add(engine, 'aaaa');
  const late = engine.read('embedPages', contextOf(0), { embedders: { '': EMBEDDER }, grainsMax: 10 }).pages[0]!;
  const renewed = { name: 'letters/2', dimensions: 26 };
  assert.deepEqual(await embedAll(engine, renewed), ['it is aaaa']);
  const grains = late.grains.map(({ ordinal, text }) => ({ ordinal, vectors: packVectors([lettersOf(text)]) }));
  assert.deepEqual(await engine.write('keepVectors', contextOf(0), { ...late, embedder: EMBEDDER, grains }), {
    kept: 0,
  });
  assert.equal(engine.store.vectors.serving(1)?.name, 'letters/2');
});

test('a recall with a vector finds what has no word of the query, and tells how near it is', async (t) => {
  const { shard } = await open(t);
  const { engine } = shard;
  await add(engine, 'qqqq qqqq');
  const meant = await add(engine, 'zwzw zwzw');
  await embedAll(engine);
  const ask = (vector?: { bytes: Uint8Array; embedder?: string }, of = 'wzwz') =>
    engine.read('recall', contextOf(1), {
      query: 'wzwz',
      filter: {},
      limit: 5,
      candidateLimit: 100,
      structural: false,
      ...(vector === undefined ? {} : { vector: { ...vector, of } }),
    });
  const bytes = packVectors([lettersOf('wzwz')]);
  assert.deepEqual(ask().hits, []);
  assert.equal(ask({ bytes, embedder: EMBEDDER.name }).hits[0]?.grain.hash, meant);
  assert.equal(ask({ bytes }).hits[0]?.grain.hash, meant);
  assert.deepEqual(ask({ bytes, embedder: 'another/1' }).hits, [], 'vectors of another embedder say nothing');
  assert.deepEqual(ask({ bytes }, 'another text').hits, [], 'nor do those of another text');
  await add(engine, 'wxwx wxwx');
  assert.deepEqual(ask({ bytes }).hits, [], 'words alone while a good part is still to be embedded');
  await embedAll(engine);
  assert.equal(ask({ bytes }).hits[0]?.grain.hash, meant);
  assert.throws(() => ask({ bytes: packVectors([Float32Array.of(1, 0)]) }), { code: 'VAL-E001' });
  assert.throws(() => ask({ bytes: packVectors([new Float32Array(26).fill(Number.NaN)]) }), { code: 'VAL-E001' });
});

test('vectors cross threads as they are', () => {
  const vectors = [lettersOf('abc'), lettersOf('xyz')];
  const bytes = packVectors(vectors);
  const shifted = new Uint8Array(bytes.length + 3);
  shifted.set(bytes, 3);
  assert.deepEqual(unpackVectors(shifted.subarray(3), 26), vectors);
  assert.deepEqual(unpackVectors(Buffer.from(shifted.buffer, 3), 26), vectors);
  assert.deepEqual(unpackVectors(packVectors([]), 26), []);
});
