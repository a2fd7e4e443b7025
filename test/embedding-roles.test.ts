// The role embedding, assigned while the server runs: memories are embedded again in the background, old vectors answer
// until then, and what a provider must not see is not sent.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import { refused } from './conformance/contract.ts';
import { HttpClient } from './conformance/http-client.ts';
import { eventually } from './support/eventually.ts';
import { memoryFolder } from './support/memory-files.ts';
import { startOpenAi } from './support/models/openai.ts';
import type { Seen } from './support/models/seen.ts';
import type { ModelServer } from './support/models/server.ts';
import { startTestServer } from './support/server.ts';

const M = '/memories/default';

/** Makes a provider and gives its model the role embedding. */
async function assign(http: HttpClient, id: string, url: string, model: string): Promise<void> {
  await http.call('PUT', `/settings/providers/${id}`, { json: { kind: 'openai_compatible', base_url: url } });
  await embedBy(http, { provider: id, model });
}

const embedBy = (http: HttpClient, embedding: object | null) =>
  http.call('PUT', '/settings/model-assignments', { json: { assignments: { embedding } } });

const add = (http: HttpClient, object: string) => http.post(`${M}/add`, { subject: 'Ada', relation: 'drinks', object });

async function warningsOf(http: HttpClient, query: string): Promise<readonly string[]> {
  return (await http.post(`${M}/recall`, { query })).warnings;
}

const embedded = (http: HttpClient, backend: string, count: number) =>
  eventually(`${count} vectors of ${backend}`, async () => {
    const { vectors, embedding } = await http.get(`${M}/stats`);
    return vectors === count && embedding.backend === backend;
  });

/** Waits until every question goes to `to`, whose vectors then answer alone. */
let asked = 0;
async function answersBy(http: HttpClient, to: ModelServer): Promise<void> {
  await eventually('answers by the new vectors', async () => {
    const question = `which drink ${asked++}`;
    const warnings = await warningsOf(http, question);
    return warnings.length === 0 && textsOf(to.seen).includes(question);
  });
}

const textsOf = (seen: readonly Seen[]): string[] =>
  seen.filter(({ endpoint }) => endpoint === 'embeddings').flatMap(({ body }) => body.input as string[]);

test('an assignment embeds memories again, and the vectors of the model before answer until then', async (t) => {
  const dataDir = memoryFolder();
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const flags = { dataDir, auth: 'none', embedder: 'ngram' };
  const started = async () => {
    const server = await startTestServer(flags);
    return { server, http: new HttpClient(server.http, '') };
  };
  const first = await started();
  for (const object of ['tea', 'coffee']) await add(first.http, object);
  await embedded(first.http, 'ngram-hash-512/1', 2);

  const one = await startOpenAi([], { dimensions: 8 });
  t.after(() => one.close());
  await assign(first.http, 'one', one.url, 'embed-a');
  await answersBy(first.http, one);
  assert.ok(textsOf(one.seen).includes('Ada drinks tea'));

  // The next one does not answer to backlogs for now: the vectors of the first answer questions.
  const release = Promise.withResolvers<void>();
  const two = await startOpenAi([], {
    embeddings: async ({ body }) => {
      const input = body.input as string[];
      if (input.some((text) => text.startsWith('Ada'))) await release.promise;
      return { vectors: input.map((_, at) => Array.from({ length: 6 }, (__, i) => (i === at % 6 ? 1 : 0.1))) };
    },
  });
  t.after(() => two.close());
  await assign(first.http, 'two', two.url, 'embed-b');
  const before = textsOf(one.seen).length;
  assert.deepEqual(await warningsOf(first.http, 'what does Ada have'), []);
  assert.deepEqual(textsOf(one.seen).slice(before), ['what does Ada have']);
  await first.server.close();

  // Also after a restart.
  const second = await started();
  t.after(() => second.server.close());
  assert.deepEqual(await warningsOf(second.http, 'what does Ada order'), []);
  assert.deepEqual(textsOf(one.seen).slice(before + 1), ['what does Ada order']);
  release.resolve();
  await answersBy(second.http, two);
  await add(second.http, 'milk');
  await embedded(second.http, 'remote:embed-b-6/1', 3);
  assert.ok(!textsOf(one.seen).includes('Ada drinks milk'));

  // Without a model, the start options say again who embeds.
  await embedBy(second.http, null);
  await embedded(second.http, 'ngram-hash-512/1', 3);
  await eventually('answers by n-grams alone', async () => {
    const known = textsOf(two.seen).length;
    return (await warningsOf(second.http, `which drink ${asked++}`)).length === 0 && textsOf(two.seen).length === known;
  });
});

test('a model that gives no vectors, or of another length than before, is an error that says so', async (t) => {
  let length = 8;
  const models = await startOpenAi([], {
    embeddings: ({ body }) =>
      length === 0
        ? { status: 400, message: 'no such model' }
        : { vectors: (body.input as string[]).map(() => Array.from({ length }, (_, i) => i + 1)) },
  });
  t.after(() => models.close());
  const server = await startTestServer({ auth: 'none', embedder: 'ngram' });
  t.after(() => server.close());
  const http = new HttpClient(server.http, '');
  length = 0;
  const error = await refused(assign(http, 'own', models.url, 'embed'), 'LLM-E002');
  assert.match(error.message, /the provider own gave no vector of embed/);
  length = 9_000;
  await refused(embedBy(http, { provider: 'own', model: 'embed' }), 'LLM-E003');
  length = 8;
  await embedBy(http, { provider: 'own', model: 'embed' });
  await add(http, 'tea');
  await answersBy(http, models);
  length = 7;
  await http.call('POST', '/settings/providers/own/test', { json: { model: 'embed' } });
  await eventually('a warning', async () =>
    (await warningsOf(http, `tea ${asked++}`)).some((text) => text.startsWith('found by words alone')),
  );
});
