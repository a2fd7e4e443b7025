// Vectors through a whole server: added grains are embedded after the answer, and a recall finds them by similarity.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from './support/eventually.ts';
import { startTestServer, type TestServer } from './support/server.ts';

async function post(server: TestServer, path: string, body: object): Promise<Record<string, unknown>> {
  const answer = await fetch(`${server.http}/api/memories/default/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const json = (await answer.json()) as Record<string, unknown>;
  assert.ok(answer.ok, JSON.stringify(json));
  return json;
}

async function add(server: TestServer, objects: readonly string[]): Promise<void> {
  const grains = objects.map((object) => ({ grain_type: 'belief', fields: { subject: 'it', relation: 'is', object } }));
  assert.equal((await post(server, 'batch-add', { grains }))['total_added'], objects.length);
}

async function vectors(server: TestServer): Promise<number> {
  const answer = await fetch(`${server.http}/api/memories/default/stats`);
  return ((await answer.json()) as { vectors: number }).vectors;
}

/** Resolves when the memory has that many vectors: the follower checks every second. */
const embedded = (server: TestServer, count: number): Promise<void> =>
  eventually(`${count} vectors`, async () => (await vectors(server)) === count);

const objectsOf = (recalled: Record<string, unknown>): string[] =>
  (recalled['results'] as { fields: { object: string } }[]).map(({ fields }) => fields.object);

for (const shards of ['1', '4'])
  test(`an added grain is found by similarity, and its vector is forgotten with it (${shards} shards)`, async (t) => {
    const server = await startTestServer({ auth: 'none', embedder: 'ngram', shards });
    t.after(() => server.close());
    await add(server, ['photographers', 'carpentry', 'navigation']);
    await embedded(server, 3);
    const found = await post(server, 'recall', { query: 'fotographer', limit: 1 });
    assert.deepEqual(objectsOf(found), ['photographers']);
    assert.deepEqual(found['warnings'], []);
    assert.deepEqual(objectsOf(await post(server, 'search', { query: 'fotographer' })), [], 'search uses words alone');
    const chain = await post(server, 'recall-chain', { question: 'fotographers? carpenters?', params: { limit: 2 } });
    assert.deepEqual(objectsOf(chain).sort(), ['carpentry', 'photographers']);
    assert.equal(chain['warnings'], undefined);
    const [hit] = found['results'] as { hash: string }[];
    await post(server, 'forget', { blob_hash: hit!.hash });
    assert.notDeepEqual(objectsOf(await post(server, 'recall', { query: 'fotographer', limit: 1 })), ['photographers']);
    assert.equal(await vectors(server), 2);
  });

test('a vector from the caller replaces the server’s own, and must have the same dimensions', async (t) => {
  const server = await startTestServer({ auth: 'none', embedder: 'ngram', shards: '1' });
  t.after(() => server.close());
  await add(server, ['photographers', 'carpentry']);
  await embedded(server, 2);
  const embedding = new Array<number>(512).fill(0);
  embedding[0] = 1;
  const found = await post(server, 'recall', { query: 'carpentry', embedding, score_breakdown: true });
  assert.equal(objectsOf(found)[0], 'carpentry');
  const refused = await fetch(`${server.http}/api/memories/default/recall`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: 'carpentry', embedding: [1, 0] }),
  });
  assert.equal(refused.status, 400);
  assert.equal(((await refused.json()) as { error: { code: string } }).error.code, 'VAL-E001');
});

test('without an embedder a recall uses words, without a warning', async (t) => {
  const server = await startTestServer({ auth: 'none' });
  t.after(() => server.close());
  await add(server, ['photographers']);
  const found = await post(server, 'recall', { query: 'fotographer' });
  assert.deepEqual([objectsOf(found), found['warnings']], [[], []]);
});
