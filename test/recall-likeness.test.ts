// Uses of vectors in a recall beyond ranking, through a whole server in one partition and in four: raw cosines are
// returned, diversity and relations of new grains use them, and every account adds up.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { GrpcClient } from './conformance/grpc-client.ts';
import { eventually } from './support/eventually.ts';
import { startTestServer, type TestServer } from './support/server.ts';

type Json = Record<string, unknown>;
interface Hit {
  readonly hash: string;
  readonly score: number;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly score_breakdown: Readonly<Record<string, number>>;
}

async function post(server: TestServer, path: string, body: object): Promise<Json> {
  const answer = await fetch(`${server.http}/api${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const json = (await answer.json()) as Json;
  assert.ok(answer.ok, JSON.stringify(json));
  return json;
}

const embedded = (server: TestServer, memory: string): Promise<void> =>
  eventually('nothing waits for its vector', async () => {
    const answer = await fetch(`${server.http}/api/memories/${memory}/stats`);
    return ((await answer.json()) as Json)['index_lag'] === 0;
  });

async function withMemory(t: TestContext, partitions: number, objects: readonly string[]): Promise<TestServer> {
  const server = await startTestServer({ auth: 'none', embedder: 'ngram', shards: '4' });
  t.after(() => server.close());
  await post(server, '/memories', { id: 'm', partitions });
  const grains = objects.map((object, at) => ({
    grain_type: 'belief',
    fields: { subject: 'she', relation: 'is', object, session_id: `s${at}`, user_id: 'ada' },
  }));
  await post(server, '/memories/m/batch-add', { grains });
  await embedded(server, 'm');
  return server;
}

const recalled = async (server: TestServer, body: object): Promise<readonly Hit[]> =>
  (await post(server, '/memories/m/recall', body))['results'] as Hit[];
const objectsOf = (hits: readonly Hit[]): string[] => hits.map(({ fields }) => String(fields['object']));
const TERMS = ['bm25', 'phrase', 'vector', 'near', 'answer', 'session', 'pooled', 'role', 'speaker', 'time', 'self'];

/** Long enough that another word at its end changes little. */
const WORK = 'a photographer of wild birds, small animals, old trees and the people who live among them';

for (const partitions of [1, 4]) {
  test(`cosines are returned unchanged, over HTTP and gRPC, and accounts add up (${partitions} partitions)`, async (t) => {
    const server = await withMemory(t, partitions, ['a photographer', 'a carpenter', 'a navigator']);
    const client = GrpcClient.open(server.grpc, '');
    t.after(() => client.close());
    const query = { query: 'fotographer she', score_breakdown: true, explanation: true };
    const hits = await recalled(server, query);
    assert.equal(objectsOf(hits)[0], 'a photographer');
    const { results } = await client.call('Recall', query, { 'x-memory-id': 'm' });
    for (const [at, { score, score_breakdown: account }] of hits.entries()) {
      assert.ok(account['vector_score']! > 0 && account['vector_score']! < 1, `${account['vector_score']}`);
      const sum = TERMS.reduce((total, term) => total + (account[term] ?? 0), 0);
      assert.ok(Math.abs(sum - score) < 1e-9, `${sum} is ${score}`);
      const other = results[at].score_breakdown;
      for (const name of ['vector_score', 'bm25_rank', 'final_score', ...TERMS])
        assert.equal(other[name] ?? 0, account[name] ?? 0, name);
      assert.match(results[at].explanation, /cosine 0\.\d{3} with the query/);
    }
    const best = Math.max(...hits.map(({ score_breakdown: account }) => account['vector_score']!));
    assert.equal(hits[0]!.score_breakdown['vector_score'], best);
  });

  test(`diversity_lambda compares by meaning where there are vectors (${partitions} partitions)`, async (t) => {
    // No common word, but nearly all letters: by words, all three are equally unlike.
    const server = await withMemory(t, partitions, ['photographing', 'photographers', 'winemaker']);
    const query = { query: 'she photography', limit: 2 };
    assert.deepEqual(objectsOf(await recalled(server, query)).sort(), ['photographers', 'photographing']);
    const diverse = objectsOf(await recalled(server, { ...query, diversity_lambda: 0.15 }));
    assert.ok(diverse.includes('winemaker'), diverse.join());
  });

  test(`auto_relate names the most similar grains of the same user and namespace, once (${partitions} partitions)`, async (t) => {
    const server = await withMemory(t, partitions, [WORK, 'a carpenter']);
    const fields = { subject: 'she', relation: 'is', object: `${WORK} now`, user_id: 'ada' };
    const [liked] = await recalled(server, { query: 'photographer of birds', object_contains: 'birds' });
    const added = await post(server, '/memories/m/add', { ...fields, options: { auto_relate: true } });
    assert.equal(added['warnings'], undefined);
    const get = async (hash: unknown): Promise<Json> => {
      const answer = await fetch(`${server.http}/api/memories/m/grains/${hash}`);
      return ((await answer.json()) as { fields: Json }).fields;
    };
    const related = (await get(added['blob_hash']))['related_to'] as {
      hash: string;
      relation_type: string;
      weight: number;
    }[];
    assert.deepEqual(
      related.map(({ hash, relation_type: type }) => [hash, type]),
      [[liked!.hash, 'similar']],
    );
    assert.ok(related[0]!.weight >= 0.8 && related[0]!.weight <= 1);
    await embedded(server, 'm');
    const again = await post(server, '/memories/m/add', { ...fields, options: { auto_relate: true } });
    assert.deepEqual([again['duplicate'], again['blob_hash']], [true, added['blob_hash']]);
    const foreign = { ...fields, user_id: 'bob' };
    const { added: batch } = (await post(server, '/memories/m/batch-add', {
      grains: [{ grain_type: 'belief', fields: foreign }],
      options: { auto_relate: true },
    })) as { added: { blob_hash: string }[] };
    assert.deepEqual((await get(batch[0]!.blob_hash))['related_to'] ?? [], [], 'grains of another user are not named');
    const text = `she is ${WORK}`;
    await embedded(server, 'm');
    const remembered = await post(server, '/memories/m/remember', { text, user_id: 'ada', auto_relate: true });
    const named = (await get(remembered['source_hash']))['related_to'] as { hash: string }[];
    assert.ok(named.some(({ hash }) => hash === liked!.hash));
  });
}
