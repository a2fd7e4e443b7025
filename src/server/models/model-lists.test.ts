import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError } from '../../engine/base/errors.ts';
import { ModelLists } from './model-lists.ts';
import { providerServer, testModels } from './testing/server.ts';

const MINUTE_MS = 60_000;

test('a list is asked once for all who wait, kept for ten minutes, and replaced by what is known when none comes', async (t) => {
  let status = 200;
  let data: unknown = [{ id: 'big', max_model_len: 8_192 }, { id: 7 }, 'x', { id: 'x'.repeat(300) }, { id: 'embed-1' }];
  const { url, asked } = await providerServer(t, (response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ data }));
  });
  const { providers, outgoing, clock } = testModels(t);
  await providers.put({ id: 'own', kind: 'openai_compatible', baseUrl: `${url}/v1`, apiKey: 'k'.repeat(20) }, 'test');
  await providers.assign({ chat: { provider: 'own', model: 'assigned' } }, 'test');
  const lists = new ModelLists({ providers, outgoing, nowMs: () => clock.nowMs() });
  const own = providers.get('own');
  const idsNow = async () => (await lists.of(own)).models.map(({ id }) => id);
  assert.equal(lists.keptAtMs(own), undefined);
  const [one, other] = await Promise.all([lists.of(own), lists.of(own)]);
  assert.deepEqual(one, other);
  assert.deepEqual(
    one.models.map(({ id, capabilities, contextWindow }) => [id, capabilities[0], contextWindow]),
    [
      ['big', 'chat', 8_192],
      ['embed-1', 'embedding', undefined],
    ],
  );
  assert.deepEqual([asked.length, lists.keptAtMs(own)], [1, one.askedAtMs]);
  clock.step(9 * MINUTE_MS);
  await lists.of(own);
  assert.equal(asked.length, 1);
  clock.step(MINUTE_MS);
  status = 401;
  assert.deepEqual(await idsNow(), ['assigned']);
  assert.deepEqual([asked.length, lists.keptAtMs(own)], [2, undefined]);
  await idsNow();
  assert.equal(asked.length, 2, 'a failure is kept for a moment, too');
  clock.step(MINUTE_MS / 2);
  [status, data] = [200, 'none'];
  assert.deepEqual(await idsNow(), ['assigned']);
  assert.equal(asked.length, 3);
  // A provider that is switched off is not asked.
  await providers.put({ id: 'own', kind: 'openai_compatible', baseUrl: `${url}/v1`, enabled: false }, 'test');
  assert.deepEqual(
    (await lists.of(providers.get('own'))).models.map(({ id }) => id),
    ['assigned'],
  );
  assert.equal(asked.length, 3);
});

test('an address that is no model service is an error that names it', async (t) => {
  let answer = { status: 200, type: 'text/html', body: '<html></html>' };
  const { url } = await providerServer(t, (response) => {
    response.writeHead(answer.status, { 'content-type': answer.type }).end(answer.body);
  });
  const { providers, outgoing, clock } = testModels(t);
  await providers.put({ id: 'own', kind: 'openai_compatible', baseUrl: `${url}/v1` }, 'test');
  const lists = new ModelLists({ providers, outgoing, nowMs: () => clock.nowMs() });
  const asked = () => lists.ask(providers.get('own'), new AbortController().signal);
  const wrong = (words: RegExp) => (error: unknown) =>
    error instanceof EngineError && error.code === 'LLM-E002' && words.test(error.message);
  await assert.rejects(asked, wrong(/the provider own answered with a page \(text\/html\).* base_url/));
  answer = { status: 200, type: 'application/json', body: '{"hello"' };
  await assert.rejects(asked, wrong(/the provider own gave no list of models: check its base_url/));
  answer = { ...answer, body: '{"hello": 1}' };
  await assert.rejects(asked, wrong(/the provider own gave no list of models: check its base_url/));
  answer = { ...answer, status: 404 };
  await assert.rejects(asked, wrong(/the provider own has nothing at \/v1\/models \(404\): check its base_url/));
});
