import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { embedAll, embedSome, LETTERS, lettersOf, nearest } from '../../../../test/support/letters.ts';
import { contextOf, openShard, settingsOf, until } from '../../../../test/support/shard.ts';
import {
  EMBED_FRESH_CHARS,
  EMBED_FRESH_GRAINS,
  EMBED_PAGE_CHARS,
  VECTORS_LOADED_AT_ONCE_MAX,
} from '../../base/limits.ts';
import type { RecallQuery } from '../../calls/recall.ts';
import type { Engine } from '../../engine.ts';
import { packVectors, unpackVectors } from '../../index/vectors/transfer.ts';

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

test('every grain of every memory is embedded once, in turn, and found by its vector', async (t) => {
  const { shard } = await open(t, 3);
  const { engine } = shard;
  const hashes = await Promise.all(['aaaa', 'bbbb', 'cccc', 'dddd', 'eeee'].map((object) => add(engine, object)));
  const other = await add(engine, 'zzzz', { memory: 2 });
  assert.deepEqual(
    (await embedAll(engine)).sort(),
    ['aaaa', 'bbbb', 'cccc', 'dddd', 'eeee', 'zzzz'].map((object) => `it is ${object}`),
  );
  assert.equal(nearest(engine, 1, 'it is dddd'), hashes[3]);
  assert.equal(nearest(engine, 2, 'it is aaaa'), other);
  assert.deepEqual(await embedAll(engine), []);
  assert.equal(engine.read('statistics', contextOf(1), {}).vectors, 5);
  await add(engine, 'ffff');
  assert.deepEqual(await embedAll(engine), ['it is ffff']);
});

test('a start with nothing to embed opens no memory and writes nothing', async (t) => {
  const { shard, reopen } = await open(t, 2);
  await add(shard.engine, 'aaaa');
  await add(shard.engine, 'bbbb', { memory: 2 });
  assert.equal((await embedAll(shard.engine)).length, 2);
  const engine = await reopen('close');
  const { vectors } = engine.store;
  const paths = vectors.paths();
  const bytes = vectors.bytes;
  assert.deepEqual(await embedAll(engine), []);
  assert.equal(vectors.bytes, bytes);
  assert.deepEqual((await reopen('close')).store.vectors.paths(), paths);
  await add(shard.engine, 'cccc');
  assert.deepEqual(await embedAll(shard.engine), ['it is cccc']);
});

test('a memory that begins to be written has its turn after one page of a long backlog', async (t) => {
  const { shard } = await open(t, 2);
  const { engine } = shard;
  await Promise.all(Array.from({ length: 30 }, (_, at) => add(engine, `aaaa ${at}`)));
  assert.equal((await embedSome(engine)).texts.length, 3);
  await add(engine, 'bbbb', { memory: 2 });
  assert.ok(!(await embedSome(engine)).texts.includes('it is bbbb'), 'the new memory has its turn after this page');
  assert.equal((await embedSome(engine)).texts[0], 'it is bbbb');
});

test('a page of long texts has fewer of them', async (t) => {
  const { shard } = await open(t);
  const { engine } = shard;
  for (let i = 0; i < 4; i++) await add(engine, `${i} ${'word '.repeat(EMBED_PAGE_CHARS / 8)}`);
  const { pages } = engine.read('embedPages', contextOf(0), { embedders: { '': LETTERS }, grainsMax: 10 });
  assert.deepEqual(
    pages.map(({ grains }) => grains.length),
    [2],
  );
  assert.equal((await embedAll(engine)).length, 4);
});

test('vectors outlive a stop; after a crash those in no file are made again, and none twice', async (t) => {
  const { shard, reopen } = await open(t);
  await add(shard.engine, 'aaaa');
  await embedAll(shard.engine);
  let engine = await reopen('close');
  assert.deepEqual(await embedAll(engine), []);
  const hash = await add(engine, 'bbbb');
  await embedAll(engine);
  engine = await reopen('abandon');
  assert.deepEqual(await embedAll(engine), ['it is bbbb']);
  assert.equal(nearest(engine, 1, 'it is bbbb'), hash);
  assert.equal(engine.read('statistics', contextOf(1), {}).vectors, 2);
});

test('forgotten grains, erased users and dropped memories lose their vectors, also those under way', async (t) => {
  const { shard } = await open(t, 2);
  const { engine } = shard;
  const doomed = await add(engine, 'aaaa');
  await add(engine, 'bbbb', { user_id: 'anna' });
  const kept = await add(engine, 'cccc');
  const { pages } = engine.read('embedPages', contextOf(0), { embedders: { '': LETTERS }, grainsMax: 10 });
  await engine.write('forget', contextOf(1), { hashes: [doomed], check: false });
  for (const page of pages) {
    const grains = page.grains.map(({ ordinal, text }) => ({ ordinal, vectors: packVectors([lettersOf(text)]) }));
    assert.deepEqual(await engine.write('keepVectors', contextOf(0), { ...page, embedder: LETTERS, grains }), {
      kept: 2,
    });
  }
  assert.equal(engine.store.vectors.count(1), 2);
  await engine.write('eraseUser', contextOf(1), { userId: 'anna' });
  assert.equal(nearest(engine, 1, 'it is bbbb'), kept);
  await engine.write('flush', contextOf(1), {});
  await until(engine, () => engine.read('statistics', contextOf(1), {}).purgePending === 0);
  assert.deepEqual([...engine.store.vectors.keysInUse(1)], [engine.store.memory(1).keyIds.index]);
  await engine.write('dropMemory', contextOf(1), {});
  assert.equal(engine.store.vectors.count(1), 0);
});

test('another embedder starts over, and a page of the previous one is discarded', async (t) => {
  const { shard } = await open(t);
  const { engine } = shard;
  await add(engine, 'aaaa');
  const late = engine.read('embedPages', contextOf(0), { embedders: { '': LETTERS }, grainsMax: 10 }).pages[0]!;
  const renewed = { name: 'letters/2', dimensions: 26 };
  assert.deepEqual(await embedAll(engine, { '': renewed }), ['it is aaaa']);
  const grains = late.grains.map(({ ordinal, text }) => ({ ordinal, vectors: packVectors([lettersOf(text)]) }));
  assert.deepEqual(await engine.write('keepVectors', contextOf(0), { ...late, embedder: LETTERS, grains }), {
    kept: 0,
  });
  assert.equal(engine.store.vectors.serving(1)?.name, 'letters/2');
});

test('memories of one shard have embedders of their own, and a memory without an embedder loses its vectors', async (t) => {
  const { shard, reopen } = await open(t, 3);
  const other = { name: 'letters/2', dimensions: 26 };
  const choose = (memory: number, vectorBackend: string) =>
    shard.engine.write('attachMemory', contextOf(memory), { settings: { ...settingsOf(memory), vectorBackend } });
  await choose(2, 'other');
  for (const memory of [1, 2, 3]) await add(shard.engine, `aaaa of ${memory}`, { memory });
  const serving = (memory: number) => shard.engine.read('vectorState', contextOf(memory), {});
  // No embedder serves memory 2: it waits and delays no other memory.
  const { pages } = shard.engine.read('embedPages', contextOf(0), { embedders: { '': LETTERS }, grainsMax: 10 });
  assert.deepEqual(pages.map(({ memory, backend }) => [memory, backend]).sort(), [
    [1, ''],
    [3, ''],
  ]);
  assert.deepEqual((await embedAll(shard.engine, { '': LETTERS, other })).length, 3);
  assert.deepEqual([1, 2, 3].map(serving), [
    { serving: [LETTERS], lag: 0 },
    { serving: [other], lag: 0 },
    { serving: [LETTERS], lag: 0 },
  ]);
  await choose(1, 'other');
  assert.deepEqual(serving(1), { serving: [LETTERS], lag: 1 }, 'the old vectors answer until there are new ones');
  await choose(3, 'none');
  assert.equal((await embedAll(shard.engine, { '': LETTERS, other })).length, 1);
  await reopen('close');
  assert.deepEqual(await embedAll(shard.engine, { '': LETTERS, other }), [], 'the old vectors stay');
  assert.deepEqual([1, 2, 3].map(serving), [
    { serving: [other], lag: 0 },
    { serving: [other], lag: 0 },
    { serving: [], lag: 0 },
  ]);
  assert.equal(shard.engine.read('statistics', contextOf(3), {}).vectors, 0);
});

test('while a new embedder goes over a memory, a query is compared with the vectors of the one before', async (t) => {
  const { shard } = await open(t);
  const { engine } = shard;
  const meant = await add(engine, 'zwzw zwzw');
  for (let i = 0; i < 9; i++) await add(engine, `qq${'q'.repeat(i)}`);
  await embedAll(engine);
  const other = { name: 'letters/2', dimensions: 26 };
  const ask = (...embedders: string[]) => {
    const [first, ...more] = embedders.map((embedder) => ({ embedder, bytes: packVectors([lettersOf('wzwz')]) }));
    return engine.read('recall', contextOf(1), {
      query: 'wzwz',
      filter: {},
      limit: 1,
      candidateLimit: 100,
      structural: false,
      vector: { ...first!, of: 'wzwz', also: more },
    });
  };
  const found = (...embedders: string[]): boolean => ask(...embedders).hits[0]?.grain.hash === meant;
  await embedSome(engine, { '': other });
  assert.ok(engine.read('vectorState', contextOf(1), {}).lag > 0);
  assert.ok(found('letters/1') && found('letters/2', 'letters/1'), 'the old vectors answer');
  assert.ok(!found('letters/2') && ask('letters/2').vectorsBehind, 'old vectors are compared only with their own kind');
  await embedAll(engine, { '': other });
  assert.ok(found('letters/2') && found('letters/1', 'letters/2') && !found('letters/1'));
  await add(engine, 'aaaa');
  assert.equal(engine.read('statistics', contextOf(1), {}).indexLag, 1);
  await embedAll(engine, { '': other });
  assert.equal(engine.read('statistics', contextOf(1), {}).indexLag, 0);
});

test('a grain with an invalid vector is found by its words, and the shard goes on', async (t) => {
  const { shard } = await open(t);
  const { engine } = shard;
  for (const object of ['aaaa', 'bbbb', 'cccc', 'dddd', 'eeee']) await add(engine, object);
  const [page] = engine.read('embedPages', contextOf(0), { embedders: { '': LETTERS }, grainsMax: 10 }).pages;
  const bad = [
    new Uint8Array(7),
    new Uint8Array(0),
    packVectors([new Float32Array(26).fill(Number.NaN)]),
    packVectors([lettersOf('a'), new Float32Array(26).fill(Number.POSITIVE_INFINITY)]),
    packVectors([lettersOf('a')]),
  ];
  const grains = page!.grains.map(({ ordinal }, i) => ({ ordinal, vectors: bad[i]! }));
  assert.deepEqual(await engine.write('keepVectors', contextOf(0), { ...page!, embedder: LETTERS, grains }), {
    kept: 1,
  });
  assert.deepEqual(engine.read('vectorState', contextOf(1), {}), { serving: [LETTERS], lag: 0 });
  for (const dimensions of [0, 1.5, 8_193, Number.NaN])
    assert.throws(
      () => engine.read('embedPages', contextOf(0), { embedders: { '': { name: 'bad', dimensions } }, grainsMax: 10 }),
      { code: 'VAL-E001' },
    );
});

test('a recall with a vector finds grains without a word of the query, and reports their similarity', async (t) => {
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
  assert.equal(ask({ bytes, embedder: LETTERS.name }).hits[0]?.grain.hash, meant);
  assert.equal(ask({ bytes }).hits[0]?.grain.hash, meant);
  assert.deepEqual(ask({ bytes, embedder: 'another/1' }).hits, [], 'vectors of another embedder do not count');
  assert.deepEqual(ask({ bytes }, 'another text').hits, [], 'vectors of another text do not count');
  for (let i = 0; i < 9; i++) await add(engine, `wxwx ${'x'.repeat(i + 1)}`);
  assert.deepEqual(ask({ bytes }).hits, [], 'words alone while most grains wait to be embedded');
  await embedAll(engine);
  assert.equal(ask({ bytes }).hits[0]?.grain.hash, meant);
  assert.throws(() => ask({ bytes: packVectors([Float32Array.of(1, 0)]) }), { code: 'VAL-E001' });
  assert.throws(() => ask({ bytes: packVectors([new Float32Array(26).fill(Number.NaN)]) }), { code: 'VAL-E001' });
});

test('a question without a word to search for is compared with the vectors that are there', async (t) => {
  const { shard } = await open(t);
  const { engine } = shard;
  const meant = await add(engine, 'zwzw zwzw');
  await embedAll(engine);
  for (let i = 0; i < 9; i++) await add(engine, `wxwx ${'x'.repeat(i + 1)}`);
  const ask = (query: string, more: Partial<RecallQuery> = {}) =>
    engine.read('recall', contextOf(1), {
      ...{ query, filter: {}, limit: 5, candidateLimit: 100, structural: false },
      vector: { bytes: packVectors([lettersOf('wzwz')]), of: query },
      ...more,
    });
  const { hits, vectorsBehind } = ask('of the');
  assert.equal(hits[0]?.grain.hash, meant);
  assert.equal(vectorsBehind, 'partly');
  assert.deepEqual([ask('of the wzwz').hits, ask('of the wzwz').vectorsBehind], [[], true]);
  assert.deepEqual(ask('of the', { wordsOnly: true }).hits, []);
});

test('many vectors are loaded while recalls answer by words and say so', async (t) => {
  const { shard, reopen } = await open(t);
  const meant = await add(shard.engine, 'zwzw zwzw');
  for (const object of ['qqqq', 'rrrr']) await add(shard.engine, object);
  await keepMany(shard.engine);
  const engine = await reopen('close');
  await embedAll(engine);
  const vector = { bytes: packVectors([lettersOf('wzwz')]), of: 'wzwz' };
  const ask = () =>
    engine.read('recall', contextOf(1), {
      query: 'wzwz',
      filter: {},
      limit: 1,
      candidateLimit: 100,
      structural: false,
      vector,
    });
  assert.deepEqual([ask().hits, ask().vectorsBehind], [[], true]);
  assert.equal(engine.read('vectorState', contextOf(1), {}).loading, true);
  await until(engine, () => engine.store.vectors.rowsToLoad(1) === 0);
  assert.deepEqual([ask().hits[0]?.grain.hash, ask().vectorsBehind], [meant, undefined]);
  assert.equal(engine.read('vectorState', contextOf(1), {}).loading, undefined);
});

test('a memory with many vectors is embedded once they are loaded, without delaying its neighbours', async (t) => {
  const { shard, reopen } = await open(t, 2);
  for (const object of ['zwzw', 'qqqq', 'rrrr']) await add(shard.engine, object);
  await keepMany(shard.engine);
  const engine = await reopen('close');
  await add(engine, 'wwww');
  await add(engine, 'vvvv', { memory: 2 });
  const { vectors } = engine.store;
  const toLoad = vectors.rowsToLoad(1);
  assert.ok(toLoad > VECTORS_LOADED_AT_ONCE_MAX);
  assert.deepEqual((await embedSome(engine, undefined, 10)).texts, ['it is vvvv']);
  assert.equal(vectors.rowsToLoad(1), toLoad, 'nothing is loaded at once');
  await until(engine, () => vectors.rowsToAdd(1) === 0);
  assert.deepEqual(await embedAll(engine), ['it is wwww']);
});

/** Makes more vectors for memory 1 than are loaded at once: long texts with many vectors each. */
async function keepMany(engine: Engine): Promise<void> {
  const [page] = engine.read('embedPages', contextOf(0), { embedders: { '': LETTERS }, grainsMax: 10 }).pages;
  const { backend: _, ...kept } = page!; // its grains wait
  const chunks = Math.ceil(VECTORS_LOADED_AT_ONCE_MAX / kept.grains.length) + 1;
  const grains = kept.grains.map(({ ordinal, text }) => ({
    ordinal,
    vectors: packVectors(new Array<Float32Array>(chunks).fill(lettersOf(text))),
  }));
  await engine.write('keepVectors', contextOf(0), { ...kept, embedder: LETTERS, grains });
}

test('vectors of unused memories leave a full heap, and are loaded again at the next use', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'granary-embed-'));
  let engine = await openShard(root);
  t.after(async () => {
    await engine.close();
    rmSync(root, { recursive: true });
  });
  for (const memory of [1, 2]) {
    await engine.write('attachMemory', contextOf(memory), { settings: settingsOf(memory) });
    await add(engine, 'zwzw', { memory });
  }
  await embedAll(engine);
  await engine.close();
  engine = await openShard(root, { vectorHeapBytes: 1 });
  const { vectors } = engine.store;
  vectors.bring(1);
  assert.equal(vectors.rowsToLoad(1), 0);
  vectors.bring(2);
  assert.deepEqual([vectors.rowsToLoad(1), vectors.rowsToLoad(2)], [1, 0]);
  assert.ok(nearest(engine, 1, 'it is zwzw') !== undefined);
});

test("a caller's own vector must fit the memory's present or future vectors, even while words alone answer", async (t) => {
  const { shard, reopen } = await open(t);
  const ask = (dimensions: number, embedder?: string) =>
    shard.engine.read('recall', contextOf(1), {
      query: 'wzwz',
      filter: {},
      limit: 1,
      candidateLimit: 100,
      structural: false,
      vector: {
        bytes: packVectors([new Float32Array(dimensions).fill(1)]),
        of: 'wzwz',
        ...(embedder === undefined ? {} : { embedder }),
      },
    });
  assert.deepEqual(ask(2).hits, [], 'the dimensions are unknown');
  await embedAll(shard.engine);
  assert.throws(() => ask(2), { code: 'VAL-E001' }, 'an empty memory whose embedder is known');
  await add(shard.engine, 'wzwz');
  assert.throws(() => ask(2), { code: 'VAL-E001' }, 'before the first vector');
  assert.equal(ask(LETTERS.dimensions).hits.length, 1);
  assert.equal(ask(2, 'other/1').hits.length, 1, 'a vector of another embedder is not the caller’s mistake');
  await embedAll(shard.engine);
  await reopen('close');
  assert.throws(() => ask(2), { code: 'VAL-E001' }, 'stored vectors answer before an embedder is open');
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

/** Embeds and stores the fresh grains. Returns their texts. */
async function embedFresh(engine: Engine): Promise<string[]> {
  const embedders = { '': LETTERS };
  const { pages } = engine.read('embedPages', contextOf(0), { embedders, grainsMax: 128, fresh: true });
  const texts: string[] = [];
  for (const { backend: _, ...page } of pages) {
    texts.push(...page.grains.map(({ text }) => text));
    const grains = page.grains.map(({ ordinal, text }) => ({ ordinal, vectors: packVectors([lettersOf(text)]) }));
    await engine.write('keepVectors', contextOf(0), { ...page, embedder: LETTERS, grains });
  }
  return texts;
}

const lagOf = (engine: Engine, memory: number) =>
  engine.read('vectorLag', contextOf(memory), { upTo: [engine.store.index.publishedSequence] }).waiting;

test('a short note is embedded before the backlog of its memory and of others, and nothing is embedded twice', async (t) => {
  const { shard, reopen } = await open(t, 2);
  let { engine } = shard;
  for (let at = 0; at < 40; at++) await add(engine, `aaaa ${at} ${'word '.repeat(100)}`);
  await embedSome(engine);
  const own = await add(engine, 'qqqq');
  const other = await add(engine, 'zzzz', { memory: 2 });
  const fresh = await embedFresh(engine);
  // With it come notes that are as new and still short enough.
  assert.ok(fresh.includes('it is qqqq') && fresh.includes('it is zzzz'), fresh.join());
  assert.ok(fresh.length <= EMBED_FRESH_GRAINS * 2 && fresh.join('').length <= EMBED_FRESH_CHARS * 2);
  assert.deepEqual([nearest(engine, 1, 'qqqq'), nearest(engine, 2, 'zzzz')], [own, other]);
  assert.deepEqual(await embedFresh(engine), [], 'nothing was written since');
  assert.equal(lagOf(engine, 1), 41 - 3 - (fresh.length - 1));
  // Fresh grains keep their vectors after a stop, and are not embedded again in their turn.
  engine = await reopen('close');
  assert.equal(nearest(engine, 1, 'qqqq'), own);
  const rest = await embedAll(engine);
  assert.equal(rest.length, 41 - 3 - (fresh.length - 1));
  assert.ok(!rest.includes('it is qqqq'));
  assert.deepEqual([lagOf(engine, 1), lagOf(engine, 2)], [0, 0]);
  assert.equal(engine.read('statistics', contextOf(1), {}).vectors, 41);
});

test('a new long text waits for its turn', async (t) => {
  const { shard } = await open(t);
  const { engine } = shard;
  await add(engine, 'aaaa');
  await add(engine, `b${'b'.repeat(EMBED_FRESH_CHARS)}`);
  assert.deepEqual(await embedFresh(engine), []);
  assert.equal((await embedAll(engine)).length, 2);
});

test('a running page of the backlog loses nothing when a note is embedded before it', async (t) => {
  const { shard } = await open(t);
  const { engine } = shard;
  for (let at = 0; at < 6; at++) await add(engine, `${'abcdef'[at]?.repeat(4)}`);
  const { pages } = engine.read('embedPages', contextOf(0), { embedders: { '': LETTERS }, grainsMax: 4 });
  await add(engine, 'zzzz');
  await embedFresh(engine);
  for (const { backend: _, ...page } of pages) {
    const grains = page.grains.map(({ ordinal, text }) => ({ ordinal, vectors: packVectors([lettersOf(text)]) }));
    await engine.write('keepVectors', contextOf(0), { ...page, embedder: LETTERS, grains });
  }
  await embedAll(engine);
  assert.deepEqual([lagOf(engine, 1), engine.read('statistics', contextOf(1), {}).vectors], [0, 7]);
});

test('a note that was taken before its memory started over is discarded', async (t) => {
  const { shard } = await open(t);
  const { engine } = shard;
  await add(engine, 'aaaa');
  await embedAll(engine);
  await add(engine, 'bbbb');
  const embedders = { '': LETTERS };
  const [late] = engine.read('embedPages', contextOf(0), { embedders, grainsMax: 9, fresh: true }).pages;
  assert.ok(late !== undefined);
  await engine.write('rebuildIndexes', contextOf(1), {});
  const grains = late.grains.map(({ ordinal, text }) => ({ ordinal, vectors: packVectors([lettersOf(text)]) }));
  assert.deepEqual(await engine.write('keepVectors', contextOf(0), { ...late, embedder: LETTERS, grains }), {
    kept: 0,
  });
  assert.equal((await embedAll(engine)).length, 2);
});
