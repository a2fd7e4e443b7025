// Vectors through a whole server during failures of the embedder, a text or a question. A recall is still answered,
// reports what it lacked, and no grain is lost.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Embedder, EmbedError } from '../src/embed/embedder.ts';
import { ngramVector } from '../src/embed/ngram.ts';
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
  const openers = { builtin: () => Promise.resolve({ embedder }) };
  const server = await startTestServer({ auth: 'none', embedder: 'builtin', shards: '1', ...flags }, { openers });
  t.after(() => server.close());
  return server;
}

const warningsOf = (recalled: Record<string, unknown>): string[] => recalled['warnings'] as string[];

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
    const cut = query.length > 8_000 ? ['the vector of the query is of its beginning, about 100 words'] : [];
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

test('a memory can have vectors of the encoder in bytes', async (t) => {
  const server = await startTestServer({ auth: 'none', embedder: 'none', shards: '1' });
  t.after(() => server.close());
  await call(server, '', { id: 'bytes', vector_backend: 'builtin-int8' });
  await add(server, ['The user is allergic to peanuts', 'The kitchen was painted blue'], 'bytes');
  await hasVectors(server, 2, 'bytes');
  assert.equal(objectsOf(await recall(server, 'food intolerance', 'bytes'))[0], 'The user is allergic to peanuts');
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
    builtin: () =>
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
  const server = await startTestServer({ auth: 'none', embedder: 'builtin', shards: '1', dataDir }, { openers });
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
