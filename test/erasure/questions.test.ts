// Vectors of questions are kept in memory, because agents repeat questions. A question may have the words of a person, so an
// erasure ends them.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import { HttpClient } from '../conformance/http-client.ts';
import { eventually } from '../support/eventually.ts';
import { memoryFolder } from '../support/memory-files.ts';
import { startOpenAi } from '../support/models/openai.ts';
import { startTestServer } from '../support/server.ts';

const M = '/memories/default';
const QUESTION = 'what did ann confide';

test('no vector of a question outlives a key', async (t) => {
  const dataDir = memoryFolder();
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const models = await startOpenAi([], { dimensions: 8 });
  t.after(() => models.close());
  const server = await startTestServer({ dataDir, auth: 'none', embedder: 'ngram' });
  t.after(() => server.close());
  const http = new HttpClient(server.http, '');
  const asked = (): number =>
    models.seen.filter(({ endpoint, body }) => endpoint === 'embeddings' && body.input.includes(QUESTION)).length;
  const recall = async (): Promise<number> => {
    await http.post(`${M}/recall`, { query: QUESTION });
    return asked();
  };
  const fact = (object: string, more: object) =>
    http.post(`${M}/add`, { subject: 'it', relation: 'is', object, ...more });

  await http.call('PUT', '/settings/providers/own', { json: { kind: 'openai_compatible', base_url: models.url } });
  const embedding = { provider: 'own', model: 'embed-a' };
  await http.call('PUT', '/settings/model-assignments', { json: { assignments: { embedding } } });
  await fact('one', { user_id: 'ann' });
  await fact('two', { namespace: 'lost' });
  await eventually('vectors', async () => (await http.get(`${M}/stats`)).vectors === 2);
  await eventually('a question is embedded', async () => (await recall()) > 0);

  let before = asked();
  assert.equal(await recall(), before, 'a repeated question is not embedded again');
  const { blob_hash: gone } = await fact('three', {});
  await http.post(`${M}/forget`, { blob_hash: gone });
  assert.equal(await recall(), before, 'nor after the end of a grain without a key of its own');
  for (const erase of [
    () => http.post(`${M}/forget`, { user_id: 'ann' }),
    () => http.post(`${M}/scope-erase`, { scope_path: 'lost', reason: 'over' }),
  ]) {
    await erase();
    assert.equal(await recall(), before + 1);
    assert.equal(await recall(), before + 1);
    before += 1;
  }
});
