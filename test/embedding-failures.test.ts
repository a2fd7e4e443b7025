// Vectors through a whole server during failures of the embedder, a text or a question. A recall is still answered,
// reports what it lacked, and no grain is lost.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Embedder, EmbedError } from '../src/embed/embedder.ts';
import { openLocalEmbedder } from '../src/embed/local.ts';
import { ngramVector } from '../src/embed/ngram.ts';
import { DEFAULT_BACKEND } from '../src/server/embedding/backends.ts';
import { eventually } from './support/eventually.ts';
import { startTestServer, type TestServer } from './support/server.ts';
import { temporaryDirectory } from './support/temporary.ts';
import { add, call, objectsOf, recall } from './support/vector-calls.ts';

const POISON = 'poisonous';

type Mode = 'works' | 'fails' | 'hangs' | 'nan' | 'infinite' | 'short';

interface Fake extends Embedder {
  mode: Mode;
}

/** N-grams under a separate name, until the test sets other behaviour. One text always fails. */
function fake(name = 'fake/1'): Fake {
  const embedder: Fake = {
    name,
    dimensions: 512,
    mode: 'works',
    async embed(texts) {
      if (texts.some((text) => text.includes(POISON))) throw new EmbedError('it died', { retryable: true });
      switch (embedder.mode) {
        case 'works':
          return texts.map(ngramVector);
        case 'fails':
          throw new EmbedError('out of order', { retryable: true });
        case 'hangs':
          return new Promise(() => undefined);
        case 'nan':
          return texts.map(() => new Float32Array(512).fill(Number.NaN));
        case 'infinite':
          return texts.map(() => new Float32Array(512).fill(Number.POSITIVE_INFINITY));
        case 'short':
          return texts.map(() => Float32Array.of(1, 0));
      }
    },
    close: () => Promise.resolve(),
  };
  return embedder;
}

async function start(t: TestContext, embedder: Embedder, flags: Record<string, string> = {}): Promise<TestServer> {
  const openers = () => ({ 'use-lite-int8': () => Promise.resolve({ embedder }) });
  const server = await startTestServer({ auth: 'none', embedder: 'use-lite-int8', shards: '1', ...flags }, { openers });
  t.after(() => server.close());
  return server;
}

const warningsOf = (recalled: Record<string, unknown>): string[] => recalled['warnings'] as string[];

const statsOf = async (server: TestServer, memory: string) =>
  (await call(server, `/${memory}/stats`)) as { embedding: { backend: string }; vectors: number; index_lag: number };

/** The follower checks every second, and waits before it retries a failure. */
const hasVectors = (server: TestServer, count: number, memory = 'default') =>
  eventually(`${count} vectors`, async () => (await call(server, `/${memory}/stats`))['vectors'] === count);

test('while the embedder fails or hangs a recall uses words and warns; afterwards it uses vectors again', async (t) => {
  const embedder = fake();
  const server = await start(t, embedder);
  await add(server, ['photographers', 'carpentry']);
  await hasVectors(server, 2);
  assert.deepEqual(warningsOf(await recall(server, 'fotographer')), []);
  for (const [mode, reason] of [
    ['fails', /out of order/],
    ['hangs', /in time/],
  ] as const) {
    embedder.mode = mode;
    const found = await recall(server, `carpentry ${mode}`);
    assert.deepEqual(objectsOf(found), ['carpentry']);
    assert.equal(warningsOf(found).length, 1);
    assert.match(warningsOf(found)[0]!, reason);
  }
  embedder.mode = 'works';
  const found = await recall(server, 'fotographers');
  assert.deepEqual([objectsOf(found)[0], warningsOf(found)], ['photographers', []]);
});

for (const mode of ['fails', 'nan', 'infinite', 'short'] as const)
  test(`what an embedder that ${mode === 'fails' ? mode : `answers ${mode}`} left is embedded later, nothing is lost`, async (t) => {
    const embedder = fake();
    embedder.mode = mode;
    const server = await start(t, embedder);
    await add(server, ['photographers', 'carpentry']);
    const found = await recall(server, 'carpentry');
    assert.deepEqual(objectsOf(found), ['carpentry']);
    assert.match(warningsOf(found).join(), /found by words alone: the memory is still to be embedded/);
    assert.equal((await call(server, '/default/stats'))['vectors'], 0);
    embedder.mode = 'works';
    await hasVectors(server, 2);
    assert.deepEqual(warningsOf(await recall(server, 'fotographer')), []);
    assert.deepEqual(server.errors, []);
  });

test('a text that fails every attempt stays without vectors, the others get theirs', async (t) => {
  const server = await start(t, fake());
  await add(server, ['photographers', POISON, 'carpentry']);
  await hasVectors(server, 2);
  assert.deepEqual(objectsOf(await recall(server, 'fotographer'))[0], 'photographers');
  const words = await call(server, '/default/search', { query: POISON });
  assert.deepEqual(objectsOf(words), [POISON]);
  await add(server, ['navigation']);
  await hasVectors(server, 3);
  const metrics = await (await fetch(`${server.http}/metrics`)).text();
  assert.match(metrics, /^granary_not_embedded_grains 1$/m);
  assert.match(metrics, /^granary_embedded_grains 3$/m);
});

test('questions of every kind are answered', async (t) => {
  const server = await start(t, fake());
  await add(server, ['photographers', 'שלום עולם', 'مرحبا بالعالم', '😀😀']);
  await hasVectors(server, 4);
  for (const query of [
    'the of and',
    '😀',
    '👩‍👩‍👧‍👦 ‮‭',
    'שלום',
    'مرحبا',
    '"a phrase" +must -not subject:it',
    '…',
    ' \n ',
    '\u0300\u0301',
    'x'.repeat(10_000),
  ]) {
    const found = await recall(server, query);
    assert.ok(Array.isArray(found['results']), query);
    const cut =
      query.length > 8_000
        ? ['the query is too long to embed as a whole: its vector covers about its first 100 words']
        : [];
    const others = warningsOf(found).filter((warning) => !warning.startsWith('0 of the 3 hits meet the operators'));
    assert.equal(others.length < warningsOf(found).length, query.startsWith('"a phrase"'), query);
    assert.deepEqual(others, cut, query);
  }
  assert.deepEqual(objectsOf(await recall(server, 'שלום'))[0], 'שלום עולם');
  const long = await fetch(`${server.http}/api/memories/default/recall`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: 'photographers and carpenters '.repeat(9_000) }),
  });
  const answered = (await long.json()) as Record<string, unknown>;
  assert.ok(
    long.ok || (long.status === 400 && JSON.stringify(answered).includes('VAL-E001')),
    JSON.stringify(answered),
  );
  assert.deepEqual(server.errors, []);
});

test('a memory has vectors of the embedder that it chose', async (t) => {
  const server = await startTestServer({ auth: 'none', embedder: 'none', shards: '1' });
  t.after(() => server.close());
  assert.equal((await call(server, '', { id: 'grams', vector_backend: 'ngram' }))['vector_backend'], 'ngram');
  await add(server, ['photographers', 'carpentry'], 'grams');
  await add(server, ['photographers']);
  await hasVectors(server, 2, 'grams');
  assert.deepEqual(objectsOf(await recall(server, 'fotographer', 'grams'))[0], 'photographers');
  assert.deepEqual(await recall(server, 'fotographer').then((found) => [objectsOf(found), warningsOf(found)]), [
    [],
    [],
  ]);
  assert.equal((await call(server, '/default'))['vector_backend'], 'none');
});

const has = (texts: readonly string[], part: string): boolean => texts.some((text) => text.includes(part));
const PEANUTS = 'The user is allergic to peanuts';

test('memories can have vectors of the encoder in bytes and in floats, also by their earlier names', async (t) => {
  const server = await startTestServer({ auth: 'none', embedder: 'none', shards: '1' });
  t.after(() => server.close());
  const backends = { bytes: 'use-lite-int8', floats: 'use-lite', 'old-bytes': 'builtin-int8', 'old-floats': 'builtin' };
  for (const [id, vector_backend] of Object.entries(backends)) {
    const made = await call(server, '', { id, vector_backend });
    assert.equal(made['vector_backend'], id.endsWith('bytes') ? 'use-lite-int8' : 'use-lite');
    await add(server, [PEANUTS, 'The kitchen was painted blue'], id);
  }
  for (const id of Object.keys(backends)) {
    await hasVectors(server, 2, id);
    assert.equal(objectsOf(await recall(server, 'food intolerance', id))[0], PEANUTS);
    assert.match(
      (await statsOf(server, id)).embedding.backend,
      id.endsWith('bytes') ? /^use-lite-int8-512\// : /^use-lite-512\//,
    );
  }
});

test('a data directory with vectors in floats is embedded again in bytes by itself', async (t) => {
  const dataDir = temporaryDirectory(t);
  const models = join(dataDir, 'models');
  const before = await startTestServer({ auth: 'none', embedder: 'use-lite', shards: '1', dataDir });
  await add(before, [PEANUTS, 'The kitchen was painted blue']);
  await call(before, '', { id: 'floats', vector_backend: 'builtin' });
  await add(before, [PEANUTS], 'floats');
  await hasVectors(before, 2);
  await hasVectors(before, 1, 'floats');
  await before.close();

  // Texts by the encoder that took them, and its questions.
  const taken = { bytes: [] as string[], floats: [] as string[] };
  const mayEmbed = Promise.withResolvers<void>();
  const open = async (precision: 'int8' | 'fp32', texts: string[]) => {
    const { embedder } = await openLocalEmbedder({ cacheFolder: models, precision });
    const embed: Embedder['embed'] = async (given, options) => {
      if (options?.priority !== 'query') await mayEmbed.promise;
      texts.push(...given);
      return embedder.embed(given, options);
    };
    return { embedder: { name: embedder.name, dimensions: embedder.dimensions, embed, close: () => embedder.close() } };
  };
  const openers = { 'use-lite-int8': () => open('int8', taken.bytes), 'use-lite': () => open('fp32', taken.floats) };
  const server = await startTestServer(
    { auth: 'none', shards: '1', dataDir, embedder: DEFAULT_BACKEND },
    { openers: () => openers },
  );
  t.after(() => server.close());

  // The vectors in floats answer, once their encoder is loaded, and it reads the question.
  await eventually('an answer by the old vectors', async () => {
    const early = await recall(server, 'food intolerance');
    return warningsOf(early).length === 0 && objectsOf(early)[0] === PEANUTS;
  });
  assert.deepEqual([taken.bytes.length, new Set(taken.floats)], [0, new Set(['food intolerance'])]);
  const { embedding, index_lag } = await statsOf(server, 'default');
  assert.match(embedding.backend, /^use-lite-int8/);
  assert.equal(index_lag, 2);

  mayEmbed.resolve();
  await eventually('every grain is embedded again', async () => (await statsOf(server, 'default')).index_lag === 0);
  assert.ok(has(taken.bytes, PEANUTS));
  await eventually('a question for the new vectors', async () => {
    const found = await recall(server, 'what must not be eaten');
    return taken.bytes.includes('what must not be eaten') && objectsOf(found)[0] === PEANUTS;
  });
  // A memory that names the encoder in floats keeps its vectors.
  const kept = await recall(server, 'intolerance', 'floats');
  assert.deepEqual([objectsOf(kept)[0], warningsOf(kept)], [PEANUTS, []]);
  assert.ok(has(taken.floats, 'intolerance') && !has(taken.floats, PEANUTS));
});

test('a passage that repeats is embedded once, until something is removed from the memory', async (t) => {
  const taken: string[] = [];
  const plain = fake();
  const embed: Embedder['embed'] = (texts, options) => {
    if (options?.priority === 'backlog') taken.push(...texts);
    return plain.embed(texts, options);
  };
  const server = await start(t, { ...plain, embed });
  // The first window of each text is the quotation alone.
  const quotation = Array.from({ length: 120 }, (_, i) => `word${i}`).join(' ');
  const times = (): number => taken.filter((text) => text.includes('word5 ')).length;
  await add(
    server,
    ['one', 'two', 'three'].map((end) => `${quotation} and ${end}`),
  );
  await eventually('all are embedded', async () => (await statsOf(server, 'default')).index_lag === 0);
  assert.equal(times(), 1);
  assert.ok(has(taken, 'and three'));
  await call(server, '/default/forget', { user_id: 'nobody' });
  await add(server, [`${quotation} and four`]);
  await eventually('the fourth is embedded', () => has(taken, 'and four'));
  assert.equal(times(), 2);
});

test('while another embedder processes a memory the old vectors answer', async (t) => {
  const dataDir = temporaryDirectory(t);
  const before = await startTestServer({ auth: 'none', embedder: 'ngram', shards: '1', dataDir });
  await add(before, ['photographers', 'carpentry']);
  await hasVectors(before, 2);
  await before.close();
  // The next embedder has n-grams too, whose vectors exist, but it is a different one and makes none at first.
  const renewed = fake('renewed/1');
  renewed.mode = 'hangs';
  const made: string[] = [];
  const ngram = { ...fake('ngram-hash-512/1'), embed: async (texts: readonly string[]) => texts.map(ngramVector) };
  const openers = {
    ngram: () => Promise.resolve({ embedder: ngram }),
    'use-lite-int8': () =>
      Promise.resolve({
        embedder: {
          ...renewed,
          embed: async (texts: readonly string[]) => {
            if (renewed.mode === 'hangs') throw new EmbedError('not yet', { retryable: true });
            made.push(...texts);
            return texts.map(ngramVector);
          },
        },
      }),
  };
  const server = await startTestServer(
    { auth: 'none', embedder: 'use-lite-int8', shards: '1', dataDir },
    { openers: () => openers },
  );
  t.after(() => server.close());
  const meanwhile = await recall(server, 'fotographer');
  assert.deepEqual([objectsOf(meanwhile)[0], warningsOf(meanwhile)], ['photographers', []]);
  renewed.mode = 'works';
  let between = 0;
  await eventually('a query by the new embedder', async () => {
    const found = await recall(server, 'fotographer at last');
    // The vector was made by the previous embedder and compared with those of the new one, which had just taken over:
    // once at most.
    if (warningsOf(found).length > 0) {
      assert.equal(++between, 1, 'the second answer used words alone');
      return false;
    }
    assert.equal(objectsOf(found)[0], 'photographers');
    return made.includes('fotographer at last');
  });
});
