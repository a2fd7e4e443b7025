// Recalls that wait for models, through a whole server and a fake service: their effect, and that a failing service
// causes only a warning.
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { GrpcClient } from './conformance/grpc-client.ts';
import { eventually } from './support/eventually.ts';
import { startTestServer, type TestServer } from './support/server.ts';

type Json = Record<string, unknown>;

interface Service {
  readonly url: string;
  /** Received requests, by path. */
  readonly asked: { readonly path: string; readonly key: string | undefined; readonly body: Json }[];
  /** Its answers from now on; undefined: status 500. */
  answer: ((path: string, body: Json) => unknown) | 'never' | undefined;
}

async function service(t: TestContext): Promise<Service> {
  const made: Service = { url: '', asked: [], answer: undefined };
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer); // bodies come as buffers
    const body = JSON.parse(Buffer.concat(pieces).toString()) as Json;
    const path = request.url ?? '';
    made.asked.push({ path, key: request.headers.authorization, body });
    if (made.answer === 'never') return;
    response.writeHead(made.answer === undefined ? 500 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(made.answer?.(path, body) ?? {}));
  };
  const server = createServer((request, response) => void respond(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return Object.assign(made, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}

async function post(server: TestServer, memory: string, path: string, body: object): Promise<Json> {
  const answer = await fetch(`${server.http}/api/memories/${memory}/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const json = (await answer.json()) as Json;
  assert.ok(answer.ok, JSON.stringify(json));
  return json;
}

async function memoryOf(server: TestServer, partitions: number, objects: readonly string[]): Promise<string> {
  const id = `m${partitions}`;
  const answer = await fetch(`${server.http}/api/memories`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ id, partitions }),
  });
  assert.ok(answer.ok, await answer.text());
  const grains = objects.map((object, at) => ({
    grain_type: 'belief',
    fields: { subject: 'Ada', relation: 'drinks', object, session_id: `s${at}` },
  }));
  await post(server, id, 'batch-add', { grains });
  return id;
}

const objectsOf = (recalled: Json): string[] =>
  (recalled['results'] as { fields: { object: string } }[]).map(({ fields }) => fields.object);
const scoresOf = (recalled: Json): number[] => (recalled['results'] as { score: number }[]).map(({ score }) => score);

/** The reranker prefers milk; the language model returns the numbers that the test sets. */
function helpful(order: string): Service['answer'] {
  return (path, body) =>
    path === '/v1/rerank'
      ? {
          results: (body['documents'] as string[]).map((text, index) => ({
            index,
            relevance_score: text.includes('milk') ? 1 : 0.1 / (index + 1),
          })),
        }
      : { choices: [{ message: { content: order } }] };
}

const DRINKS = ['tea with a spoon of honey', 'coffee', 'milk'];

test('rerank and llm_rerank put hits in the order of their models, over one partition and four, over HTTP and gRPC', async (t) => {
  const models = await service(t);
  models.answer = helpful('[3, 2, 1]');
  const flags = { modelUrl: models.url, model: 'chatty', rerankModel: 'orderly', shards: '4' };
  const server = await startTestServer({ auth: 'none', ...flags });
  t.after(() => server.close());
  const client = GrpcClient.open(server.grpc, '');
  t.after(() => client.close());
  for (const partitions of [1, 4]) {
    const memory = await memoryOf(server, partitions, DRINKS);
    const query = { query: 'Ada drinks tea', score_breakdown: true };
    const plain = await post(server, memory, 'recall', query);
    assert.equal(objectsOf(plain)[0], DRINKS[0]);
    assert.equal(models.asked.length, 0, 'only requested models are called');
    const judged = await post(server, memory, 'recall', { ...query, rerank: true });
    assert.equal(objectsOf(judged)[0], 'milk');
    assert.deepEqual(judged['warnings'], []);
    const rounded = (json: Json) => scoresOf(json).map((score) => score.toFixed(7));
    assert.deepEqual(rounded(judged), rounded(plain), 'scores belong to places; models only order');
    for (const hit of judged['results'] as { score: number; score_breakdown: Record<string, number> }[])
      assert.equal(hit.score_breakdown['final_score'], hit.score);
    const [first] = judged['results'] as { score: number; score_breakdown: Record<string, number> }[];
    assert.equal(first!.score_breakdown['rrf_score'], first!.score, 'the account names the place');
    const listed = await post(server, memory, 'recall', { ...query, llm_rerank: true, limit: 2, explanation: true });
    assert.deepEqual(objectsOf(listed), objectsOf(plain).toReversed().slice(0, 2));
    assert.match(String((listed['results'] as Json[])[0]!['explanation']), /the place that the model gave it/);
    const message = await client.call('Recall', { query: 'Ada drinks tea', rerank: true }, { 'x-memory-id': memory });
    assert.deepEqual(
      message.results.map(({ hash }: { hash: string }) => hash),
      (judged['results'] as { hash: string }[]).map(({ hash }) => hash),
    );
    models.asked.length = 0;
  }
});

test('hyde searches by similarity to a hypothetical answer', async (t) => {
  const models = await service(t);
  models.answer = helpful('photographers');
  const server = await startTestServer({ auth: 'none', embedder: 'ngram', modelUrl: models.url, model: 'chatty' });
  t.after(() => server.close());
  const memory = await memoryOf(server, 1, ['photographers', 'carpenters']);
  const embedded = async (): Promise<number> => {
    const answer = await fetch(`${server.http}/api/memories/${memory}/stats`);
    return ((await answer.json()) as { vectors: number }).vectors;
  };
  await eventually('two vectors', async () => (await embedded()) === 2);
  const question = { query: 'who takes pictures for a living', score_breakdown: true };
  const plain = await post(server, memory, 'recall', question);
  const imagined = await post(server, memory, 'recall', { ...question, hyde: true });
  assert.equal(objectsOf(imagined)[0], 'photographers');
  const cosine = (recalled: Json) =>
    (recalled['results'] as { fields: Json; score_breakdown: { vector_score: number } }[]).find(
      ({ fields }) => fields['object'] === 'photographers',
    )!.score_breakdown.vector_score;
  assert.ok(cosine(imagined) > cosine(plain) + 0.1, `${cosine(imagined)} over ${cosine(plain)}`);
  assert.deepEqual(imagined['warnings'], []);
  assert.equal(models.asked.length, 1);
  models.answer = undefined;
  const failed = await post(server, memory, 'recall', { ...question, hyde: true });
  assert.deepEqual(failed['warnings'], ['hyde was ignored: the provider start-model failed (500)']);
  assert.deepEqual(failed['results'], plain['results']);
});

test('models that fail leave the ranking as it is, with a warning each', async (t) => {
  const models = await service(t);
  const server = await startTestServer({
    auth: 'none',
    modelUrl: models.url,
    model: 'chatty',
    rerankModel: 'orderly',
  });
  t.after(() => server.close());
  const memory = await memoryOf(server, 1, DRINKS);
  const plain = await post(server, memory, 'recall', { query: 'Ada drinks' });
  const asked = await post(server, memory, 'recall', {
    query: 'Ada drinks',
    rerank: true,
    llm_rerank: true,
    hyde: true,
  });
  assert.deepEqual(objectsOf(asked), objectsOf(plain));
  assert.deepEqual(scoresOf(asked), scoresOf(plain));
  assert.deepEqual(asked['warnings'], [
    'hyde was ignored: there are no vectors',
    'rerank was ignored: the provider start-rerank answered 500',
    'llm_rerank was ignored: the provider start-model failed (500)',
  ]);
  models.answer = () => ({ results: 'none', choices: [] });
  const nonsense = await post(server, memory, 'recall', { query: 'Ada drinks', rerank: true, llm_rerank: true });
  assert.equal((nonsense['warnings'] as string[]).length, 2);
  assert.deepEqual(objectsOf(nonsense), objectsOf(plain));
});

test('without a query no model is called', async (t) => {
  const models = await service(t);
  const server = await startTestServer({ auth: 'none', modelUrl: models.url, model: 'chatty' });
  t.after(() => server.close());
  const memory = await memoryOf(server, 1, DRINKS);
  const { warnings } = await post(server, memory, 'recall', { subject: 'Ada', llm_rerank: true, hyde: true });
  assert.deepEqual(warnings, ['hyde was ignored: it needs query', 'llm_rerank was ignored: it needs query']);
  assert.equal(models.asked.length, 0);
});

test('a model that never answers is abandoned in time for the ranking without it', async (t) => {
  const models = await service(t);
  models.answer = 'never';
  // The model gets the rest of the recall's time: three seconds, so that a slow machine still asks it.
  const flags = { modelUrl: models.url, model: 'chatty', rerankModel: 'orderly', requestTimeoutMs: '5000' };
  const server = await startTestServer({ auth: 'none', ...flags });
  t.after(() => server.close());
  const memory = await memoryOf(server, 1, DRINKS);
  const plain = await post(server, memory, 'recall', { query: 'Ada drinks' });
  const asked = await post(server, memory, 'recall', { query: 'Ada drinks', rerank: true });
  assert.deepEqual(objectsOf(asked), objectsOf(plain));
  assert.match(
    String(asked['warnings']),
    /^rerank was ignored: the provider start-rerank did not answer within \d+ ms$/,
  );
});
