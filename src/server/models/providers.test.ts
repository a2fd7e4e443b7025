import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PROVIDERS_MAX } from '../../engine/base/limits.ts';
import { testModels } from './testing/server.ts';

const KEY = 'sk-providers-0123456789';
const OWN = { id: 'own', kind: 'openai_compatible', baseUrl: 'https://models.example/v1' } as const;
const START = { modelUrl: 'https://start.example', model: 'first' };

function memberOf(details: string, name: string): unknown {
  return (JSON.parse(details) as Record<string, unknown>)[name]; // an object of our own
}

test('changes are in the trail of the deployment, without keys', async (t) => {
  const { providers, control } = testModels(t);
  await providers.put({ ...OWN, apiKey: KEY }, 'user:ada');
  await providers.put({ ...OWN, region: 'eu' }, 'user:ada');
  await providers.assign({ chat: { provider: 'own', model: 'm' }, hyde: null }, 'user:ada');
  await providers.assign({}, 'user:ada', { chat: { temperature: 0.1 } });
  await assert.rejects(
    providers.remove('own', 'user:ada'),
    /LLM-E004: the provider own has the model of the role chat/,
  );
  await providers.assign({ chat: null }, 'user:ada');
  await providers.remove('own', 'user:ada');
  const entries = [...control.auditEntries()];
  assert.deepEqual(
    entries.map(({ event, details }) => [event, memberOf(details, 'change') ?? memberOf(details, 'setting')]),
    [
      ['provider.changed', 'created'],
      ['provider.changed', 'replaced'],
      ['settings.changed', 'model_assignments'],
      ['settings.changed', 'llm'],
      ['settings.changed', 'model_assignments'],
      ['provider.changed', 'removed'],
    ],
  );
  assert.ok(!JSON.stringify(entries).includes(KEY));
  assert.equal(memberOf(entries[1]!.details, 'api_key_set'), true, 'the key was kept');
});

test('of two changes of the chat settings at once, neither takes back the other one', async (t) => {
  const { providers } = testModels(t);
  await providers.assign({}, 'test', { chat: { temperature: 0.1, enabled: false } });
  await Promise.all([
    providers.assign({}, 'test', { chat: { temperature: 0.7 } }),
    providers.assign({}, 'test', { chat: { maxTokens: 55, enabled: undefined } }),
  ]);
  assert.deepEqual(providers.chat, { temperature: 0.7, maxTokens: 55, enabled: false });
});

test('what is set wins over the start, and the same as the start follows it again', async (t) => {
  const { providers } = testModels(t, { flags: START });
  const start = { provider: 'start-model', model: 'first' };
  assert.deepEqual([providers.assignmentOf('chat'), providers.isSet('chat')], [start, false]);
  await providers.assign({ chat: null }, 'test');
  assert.deepEqual([providers.assignmentOf('chat'), providers.isSet('chat')], [null, true]);
  assert.throws(() => providers.choose('chat'), /LLM-E001: no model is assigned to the role chat/);
  await providers.assign({ chat: start }, 'test');
  assert.deepEqual([providers.assignmentOf('chat'), providers.isSet('chat')], [start, false]);
  for (const id of ['start-model', 'start-rerank', 'start-embedding'])
    await assert.rejects(providers.put({ ...OWN, id }, 'test'), /AUT-E006/);
});

test('the models for embeddings before are kept with the length of their vectors, up to four', async (t) => {
  const { providers } = testModels(t, { flags: { embeddingUrl: 'https://start.example', embeddingModel: 'm0' } });
  await providers.put(OWN, 'test');
  const assign = (model: string, vectorLength?: number) =>
    providers.assign({ embedding: { provider: 'own', model, dimensions: 8 } }, 'test', { vectorLength });
  await assign('m1', 5);
  const earlier = () => providers.earlierEmbedding.map(({ model, dimensions }) => `${model}-${dimensions}`);
  assert.deepEqual(earlier(), ['m0-5'], 'the length of the start’s model is known from its embedder');
  for (const model of ['m2', 'm3', 'm4', 'm5']) await assign(model);
  assert.deepEqual(earlier(), ['m4-8', 'm3-8', 'm2-8', 'm1-8']);
  await assign('m3');
  assert.deepEqual(earlier(), ['m5-8', 'm4-8', 'm2-8', 'm1-8'], 'the present one is not among them');
});

test('a kept key stays with its kind and host, and the number of providers is bounded', async (t) => {
  const { providers } = testModels(t);
  await providers.put({ ...OWN, apiKey: KEY }, 'test');
  for (const baseUrl of ['https://models.example/v2', 'https://models.example:443/v1'])
    assert.equal((await providers.put({ ...OWN, baseUrl }, 'test')).provider.apiKey, KEY);
  for (const more of [
    { baseUrl: 'https://models.example.evil/v1' },
    { baseUrl: 'http://models.example/v1' },
    { baseUrl: 'https://models.example:444/v1' },
    { kind: 'mock', baseUrl: '' },
    { kind: 'anthropic' },
  ] as const)
    await assert.rejects(
      providers.put({ ...OWN, ...more }, 'test'),
      /VAL-E001: the stored key of the provider own is for/,
    );
  for (let at = 1; at < PROVIDERS_MAX; at++) await providers.put({ ...OWN, id: `p${at}` }, 'test');
  await assert.rejects(providers.put({ ...OWN, id: 'more' }, 'test'), /LIM-E002/);
});
