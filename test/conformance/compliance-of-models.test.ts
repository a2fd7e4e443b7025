// The checks that look at chats and harnesses, on a memory that has both: none waits for a feature.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { LISTENER_PARTITIONS } from '../support/listener-partitions.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import type { ParsedJson } from './driver.ts';
import { HttpClient } from './http-client.ts';

const DELETE_TOOL = {
  tool_name: 'close_account',
  description: 'Closes the account of a customer.',
  input_schema: { type: 'object', properties: { account: { type: 'string' } }, required: ['account'] },
  annotations: { destructive: true },
};

for (const [listener, partitions] of LISTENER_PARTITIONS)
  describe(`${listener}, ${partitions} partitions`, { concurrency: false }, () => {
    let server: TestServer;
    let http: HttpClient;
    before(async () => {
      server = await startTestServer({ http: listener, shards: '4' });
      http = new HttpClient(server.http, server.key);
      await http.call('PUT', '/settings/providers/mock', { json: { kind: 'mock' } });
      const chat = { provider: 'mock', model: 'echo' };
      await http.call('PUT', '/settings/model-assignments', { json: { assignments: { chat } } });
    });
    after(() => server.close());

    let memories = 0;
    async function place(): Promise<string> {
      const id = `m${memories++}`;
      await http.post('/memories', { id, partitions, policies: ['eu_ai_act'] });
      return `/memories/${id}`;
    }

    async function verdict(M: string, id: string): Promise<ParsedJson> {
      const { checks } = await http.post(`${M}/verify/run`, {});
      const found = checks.find((check: ParsedJson) => check.id === id);
      assert.ok(found !== undefined, id);
      return found;
    }

    test('answers of chats say that a machine wrote them', async () => {
      const M = await place();
      assert.equal((await verdict(M, 'euai_ai_disclosure')).status, 'warn');
      const { thread_id } = await http.post(`${M}/chat/threads`, {});
      const said = await http.ask('POST', `${M}/chat/stream`, {
        json: { thread_id, messages: [{ role: 'user', content: 'hello there' }] },
      });
      assert.deepEqual([said.status, said.headers.get('x-ai-disclosure')], [200, 'ai-generated']);
      const passed = await verdict(M, 'euai_ai_disclosure');
      assert.equal(passed.status, 'pass', passed.detail);
      await http.post(`${M}/batch-add`, {
        grains: [{ grain_type: 'event', fields: { content: 'unsigned', role: 'assistant', source_type: 'user' } }],
      });
      const failed = await verdict(M, 'euai_ai_disclosure');
      assert.equal(failed.status, 'fail', failed.detail);
    });

    test('destructive tools are run by clients, and a person is in charge', async () => {
      const M = await place();
      assert.equal((await verdict(M, 'euai_human_oversight')).status, 'fail');
      await http.post('/auth/keys', { name: 'ada', principal: 'user:ada', scopes: ['read', 'write', 'admin'] });
      assert.equal((await verdict(M, 'euai_human_oversight')).status, 'warn');
      await http.post(`${M}/harnesses`, { slug: 'desk', name: 'Desk' });
      await http.post(`${M}/harnesses/desk/bind-tool`, { ...DELETE_TOOL, location: 'client://desk' });
      const passed = await verdict(M, 'euai_human_oversight');
      assert.equal(passed.status, 'pass', passed.detail);
      await http.post(`${M}/harnesses/desk/bind-tool`, {
        ...DELETE_TOOL,
        tool_name: 'purge',
        location: 'http://127.0.0.1:9/purge',
      });
      const warned = await verdict(M, 'euai_human_oversight');
      assert.equal(warned.status, 'warn', warned.detail);
    });

    test('no check of an unfiltered run names a missing feature', async () => {
      const M = await place();
      const { checks, total } = await http.post(`${M}/verify/run`, {});
      assert.equal(total, 88);
      for (const { id, detail } of checks) assert.doesNotMatch(detail, /not part of this build|not implemented/, id);
      const tiers = checks.filter(({ id }: ParsedJson) => id.startsWith('tier_'));
      assert.deepEqual(
        tiers.map(({ status, detail }: ParsedJson) => `${status}: ${detail}`),
        Array.from({ length: 4 }, () => 'skip: hot tier only'),
      );
    });
  });
