// Providers, their models and the models of the roles over HTTP, with model servers of the test.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { memoryFolder } from '../support/memory-files.ts';
import { startAnthropic } from '../support/models/anthropic.ts';
import { startOpenAi } from '../support/models/openai.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { refused } from './contract.ts';
import { HttpClient } from './http-client.ts';

const KEY = 'sk-test-0123456789abcdef-LAST';
const NOTHING = { chat: null, extraction: null, embedding: null, rerank: null, hyde: null, consolidation: null };

for (const listener of ['uws', 'node'])
  describe(`${listener}`, { concurrency: false }, () => {
    let server: TestServer;
    let http: HttpClient;
    before(async () => {
      server = await startTestServer({ http: listener });
      http = new HttpClient(server.http, server.key);
    });
    after(() => server.close());

    test('without providers every role is empty', async () => {
      assert.deepEqual(await http.get('/settings/providers'), { providers: [], total: 0, next_cursor: null });
      assert.deepEqual(await http.get('/models'), { models: [], total: 0, next_cursor: null });
      assert.deepEqual(await http.get('/settings/model-assignments'), { assignments: NOTHING, read_only: false });
      assert.deepEqual(await http.get('/settings/llm'), {
        provider: null,
        model: null,
        temperature: null,
        max_tokens: null,
        enabled: false,
        read_only: false,
      });
    });

    test('a provider is made, replaced, tested and deleted; its key is never shown', async (t) => {
      const models = await startOpenAi([{ answer: { text: 'ok' } }], {
        owner: t,
        key: KEY,
        models: ['gpt-test', 'text-embedding-test', 'rerank-test'],
      });
      const path = '/settings/providers/own';
      const made = await http.ask('PUT', path, {
        json: { kind: 'openai_compatible', base_url: models.url, api_key: KEY, region: 'eu' },
      });
      assert.equal(made.status, 201);
      const view = {
        id: 'own',
        kind: 'openai_compatible',
        base_url: models.url,
        region: 'eu',
        api_key_set: true,
        api_key_last4: 'LAST',
        enabled: true,
        models_cached_at: null,
        read_only: false,
      };
      assert.deepEqual(made.json, { ...view, created: true });
      // A blank key, and none, keep the old one.
      for (const more of [{ api_key: '  ' }, {}]) {
        const again = await http.ask('PUT', path, {
          json: { kind: 'openai_compatible', base_url: models.url, ...more },
        });
        assert.deepEqual([again.status, again.json], [200, { ...view, created: false }]);
      }
      const { models: listed, total } = await http.get(`${path}/models`);
      assert.deepEqual(
        listed.map(({ id, provider, capabilities }: Record<string, unknown>) => [id, provider, capabilities]),
        [
          ['gpt-test', 'own', ['chat', 'extraction']],
          ['rerank-test', 'own', ['rerank']],
          ['text-embedding-test', 'own', ['embedding']],
        ],
      );
      assert.equal(total, 3);
      const { models: chats } = await http.get('/models?capability=chat');
      assert.deepEqual(
        chats.map(({ id }: { id: string }) => id),
        ['gpt-test'],
      );
      assert.equal((await http.get('/models?capability=ner')).total, 0);
      assert.deepEqual((await http.get('/models?limit=1&offset=1')).models[0].id, 'rerank-test');
      await refused(http.get('/models?capability=singing'), 'VAL-E001');
      const lists = models.seen.filter(({ endpoint }) => endpoint === 'models');
      assert.equal(lists.length, 1, 'the list is kept');
      assert.equal(lists[0]?.headers.authorization, `Bearer ${KEY}`);
      const [shown] = (await http.get('/settings/providers')).providers;
      assert.ok(Math.abs(shown.models_cached_at - Date.now() / 1000) < 600);

      assert.equal((await http.post(`${path}/test`, {})).ok, true);
      for (const model of ['gpt-test', 'text-embedding-test', 'rerank-test']) {
        const { ok, latency_ms: ms } = await http.post(`${path}/test`, { model });
        assert.ok(ok && ms >= 0, model);
      }
      await http.call('DELETE', path);
      await refused(http.call('DELETE', path), 'LLM-E003');
      await refused(http.get(`${path}/models`), 'LLM-E003');
      await refused(http.post(`${path}/test`, {}), 'LLM-E003');
    });

    test('a provider of Anthropic’s interface lists its models and answers', async (t) => {
      const models = await startAnthropic([{ answer: { text: 'ok' } }], { owner: t, key: KEY });
      const path = '/settings/providers/claude';
      await http.call('PUT', path, { json: { kind: 'anthropic', base_url: models.url, api_key: KEY } });
      assert.ok((await http.get(`${path}/models`)).total > 0);
      const [{ id }] = (await http.get(`${path}/models`)).models;
      assert.deepEqual((await http.post(`${path}/test`, { model: id })).ok, true);
      await refused(
        http.call('PUT', '/settings/model-assignments', {
          json: { assignments: { embedding: { provider: 'claude', model: id } } },
        }),
        'LLM-E003',
      );
      await http.call('DELETE', path);
    });

    test('a provider that does not answer has the models of its kind, and its test says why', async () => {
      const path = '/settings/providers/dead';
      await http.call('PUT', path, { json: { kind: 'openai', base_url: 'http://127.0.0.1:1/v1', api_key: KEY } });
      const { models } = await http.get(`${path}/models`);
      assert.ok(models.some(({ id }: { id: string }) => id === 'gpt-4o-mini'));
      const { ok, error } = await http.post(`${path}/test`, {});
      assert.equal(ok, false);
      assert.match(error, /^LLM-E002: the provider dead cannot be reached \(ECONNREFUSED\)$/);
      assert.equal((await http.get('/settings/providers')).providers[0].models_cached_at, null);
      await http.call('DELETE', path);
    });

    test('addresses that a client must not choose are refused', async () => {
      const put = (json: object) =>
        http.call('PUT', '/settings/providers/bad', { json: { kind: 'openai_compatible', ...json } });
      for (const url of [
        'http://169.254.169.254/latest',
        'http://10.0.0.7:8000/v1',
        'http://[fd00::1]/v1',
        'http://2852039166/',
        'file:///etc/passwd',
        'http://user:pass@example.com/v1',
        'https://example.com/v1?key=1',
        'nonsense',
      ])
        await refused(put({ base_url: url }), 'VAL-E001');
      await refused(put({}), 'VAL-E001');
      await refused(put({ base_url: 'http://127.0.0.1:1', api_key: 'with space' }), 'VAL-E001');
      await refused(http.call('PUT', '/settings/providers/bad', { json: {} }), 'VAL-E003');
      await refused(http.call('PUT', '/settings/providers/bad', { json: { kind: 'guess' } }), 'VAL-E001');
      await refused(http.call('PUT', '/settings/providers/bad%20id', { json: { kind: 'mock' } }), 'VAL-E001');
      assert.equal((await http.get('/settings/providers')).total, 0);
    });

    test('a kept key goes to no other host', async () => {
      const path = '/settings/providers/moved';
      const put = (json: object) => http.call('PUT', path, { json: { kind: 'openai_compatible', ...json } });
      await put({ base_url: 'http://127.0.0.1:1', api_key: KEY });
      await refused(put({ base_url: 'http://127.0.0.1:2' }), 'VAL-E001');
      await refused(http.call('PUT', path, { json: { kind: 'mock' } }), 'VAL-E001');
      assert.equal((await put({ base_url: 'http://127.0.0.1:1/v2' })).base_url, 'http://127.0.0.1:1/v2');
      assert.equal((await put({ base_url: 'http://127.0.0.1:2', api_key: `${KEY}9` })).api_key_last4, 'AST9');
      await http.call('DELETE', path);
    });

    test('roles get models while the server runs, and a provider in use is kept', async () => {
      await http.call('PUT', '/settings/providers/test', { json: { kind: 'mock' } });
      const echo = { provider: 'test', model: 'echo' };
      const set = (json: object) => http.call('PUT', '/settings/model-assignments', { json: { assignments: json } });
      assert.deepEqual((await set({ chat: echo, hyde: echo })).assignments, { ...NOTHING, chat: echo, hyde: echo });
      assert.deepEqual((await set({ hyde: null })).assignments, { ...NOTHING, chat: echo });
      await refused(set({ chat: { provider: 'test', model: 'parrot' } }), 'LLM-E003');
      await refused(set({ chat: { provider: 'nobody', model: 'echo' } }), 'LLM-E003');
      await refused(set({ embedding: echo }), 'LLM-E003');
      await refused(set({ poetry: echo }), 'VAL-E001');
      await refused(http.call('DELETE', '/settings/providers/test'), 'LLM-E004');

      const llm = await http.call('PUT', '/settings/llm', { json: { ...echo, temperature: 0.5, max_tokens: 99 } });
      assert.deepEqual(llm, { ...echo, temperature: 0.5, max_tokens: 99, enabled: true, read_only: false });
      assert.equal((await http.call('PUT', '/settings/llm', { json: { ...echo, enabled: false } })).enabled, false);
      assert.equal((await http.get('/settings/llm')).temperature, 0.5);
      await refused(http.call('PUT', '/settings/llm', { json: { provider: 'x', model: 'y' } }), 'LLM-E003');
      await refused(http.call('PUT', '/settings/llm', { json: { ...echo, temperature: 3 } }), 'VAL-E001');

      await set({ chat: null });
      await http.call('DELETE', '/settings/providers/test');
    });

    test('readers see models and assignments; providers and changes need more', async () => {
      const { raw_key: reader } = await http.post('/auth/keys', { scopes: ['read'] });
      const { raw_key: bound } = await http.post('/auth/keys', {
        scopes: ['read', 'write', 'admin'],
        memory_id: 'default',
      });
      for (const path of ['/models', '/settings/model-assignments', '/settings/llm', '/settings/providers'])
        await http.with(reader).get(path);
      await http.with(bound).get('/models');
      await refused(http.with(bound).get('/settings/providers'), 'AUT-E001');
      for (const key of [reader, bound])
        for (const [verb, path, json] of [
          ['PUT', '/settings/llm', { provider: 'a', model: 'b' }],
          ['PUT', '/settings/providers/a', { kind: 'mock' }],
          ['DELETE', '/settings/providers/a', undefined],
          ['POST', '/settings/providers/a/test', {}],
          ['PUT', '/settings/model-assignments', { assignments: {} }],
        ] as const)
          await refused(http.with(key).call(verb, path, { json }), 'AUT-E001');
    });
  });

test('a hosted deployment shows its settings and changes none', async (t) => {
  const server = await startTestServer({ deployment: 'hosted' });
  t.after(() => server.close());
  const http = new HttpClient(server.http, server.key);
  assert.equal((await http.get('/settings/model-assignments')).read_only, true);
  assert.equal((await http.get('/settings/llm')).read_only, true);
  for (const [verb, path, json] of [
    ['PUT', '/settings/llm', { provider: 'a', model: 'b' }],
    ['PUT', '/settings/providers/a', { kind: 'mock' }],
    ['DELETE', '/settings/providers/a', undefined],
    ['POST', '/settings/providers/a/test', {}],
    ['PUT', '/settings/model-assignments', { assignments: {} }],
  ] as const)
    await refused(http.call(verb, path, { json }), 'AUT-E006');
});

test('start options are the first assignment, and what was set while the server ran wins after a restart', async (t) => {
  const dataDir = memoryFolder();
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const key = `gr_${'b'.repeat(64)}`;
  const flags = {
    dataDir,
    bootstrapKey: key,
    modelUrl: 'http://127.0.0.1:1',
    model: 'old',
    rerankUrl: 'http://127.0.0.1:2/v2',
    rerankModel: 'orders',
  };
  const started = async (more: Record<string, string> = {}) => {
    const server = await startTestServer({ ...flags, ...more });
    return { server, http: new HttpClient(server.http, server.key === '' ? key : server.key) };
  };
  const first = await started();
  const chat = { provider: 'start-model', model: 'old' };
  const rerank = { provider: 'start-rerank', model: 'orders' };
  const { providers } = await first.http.get('/settings/providers');
  assert.deepEqual(
    providers.map(({ id, base_url: url, read_only: fixed }: Record<string, unknown>) => [id, url, fixed]),
    [
      ['start-model', 'http://127.0.0.1:1/v1', true],
      ['start-rerank', 'http://127.0.0.1:2/v2', true],
    ],
  );
  assert.deepEqual((await first.http.get('/settings/model-assignments')).assignments, {
    ...NOTHING,
    chat,
    hyde: chat,
    rerank,
  });
  await refused(first.http.call('PUT', '/settings/providers/start-model', { json: { kind: 'mock' } }), 'AUT-E006');
  await refused(first.http.call('DELETE', '/settings/providers/start-model'), 'AUT-E006');
  await first.http.call('PUT', '/settings/providers/own', {
    json: { kind: 'openai_compatible', base_url: 'http://127.0.0.1:3', api_key: KEY },
  });
  const own = { provider: 'own', model: 'new' };
  const set = (http: HttpClient, json: object) =>
    http.call('PUT', '/settings/model-assignments', { json: { assignments: json } });
  await set(first.http, { chat: own, rerank: null });
  const logged = first.server.errors.join('\n');
  const firstKey = first.http.key;
  await close(first.server);

  const second = await startTestServer({ ...flags, model: 'newer' });
  t.after(() => close(second));
  const http = new HttpClient(second.http, firstKey);
  const { assignments } = await http.get('/settings/model-assignments');
  assert.deepEqual(assignments, { ...NOTHING, chat: own, hyde: { ...chat, model: 'newer' } });
  assert.equal((await http.get('/settings/providers')).providers[2].api_key_last4, 'LAST');
  // A role that is set to what the start names follows the start again.
  await set(http, { chat: { ...chat, model: 'newer' } });
  await http.call('DELETE', '/settings/providers/own');
  for (const file of readdirSync(dataDir, { recursive: true, encoding: 'utf8' })) {
    const bytes = fileBytes(join(dataDir, file));
    assert.ok(!bytes.includes(KEY), file);
  }
  assert.ok(!`${logged}${second.errors.join('\n')}`.includes(KEY));
});

/** Ends a server and leaves its folder. */
function close(server: TestServer): Promise<void> {
  return server.close();
}

function fileBytes(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    return Buffer.alloc(0); // a folder
  }
}
