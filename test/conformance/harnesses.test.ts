// Definitions of harnesses over HTTP: they are grains, they are provisioned again without change, and access tuples decide.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestServer, type TestServer } from '../support/server.ts';
import { refused } from './contract.ts';
import { HttpClient } from './http-client.ts';
import { newMemory } from './http-driver.ts';

for (const [listener, partitions] of [
  ['uws', 1],
  ['uws', 4],
  ['node', 1],
] as const)
  describe(`${listener}, ${partitions} partitions`, { concurrency: 4 }, () => {
    let server: TestServer;
    let http: HttpClient;
    before(async () => {
      server = await startTestServer({ http: listener, shards: '4', workers: '1' });
      http = new HttpClient(server.http, server.key);
    });
    after(async () => {
      await server.close();
      assert.deepEqual(server.errors, []);
    });

    const memory = async (): Promise<string> => `/memories/${await newMemory(http, partitions, {})}`;

    test('H118, H119: a harness is made as a draft, and shown', async () => {
      const M = await memory();
      const made = await http.ask('POST', `${M}/harnesses`, {
        json: { slug: 'support', name: 'Support', description: 'Answers customers', template: 'blank' },
      });
      assert.equal(made.status, 201);
      const { created_at, updated_at, goal_hash, ...shown } = made.json;
      assert.deepEqual(shown, {
        slug: 'support',
        name: 'Support',
        description: 'Answers customers',
        template: 'blank',
        goal: null,
        system_prompt: '',
        assemble_query: 'agent_context',
        model: null,
        provider: null,
        max_iterations: 8,
        status: 'draft',
        def_namespace: 'harnesses/support/def',
        workflow_hash: null,
        tools: [],
      });
      assert.ok(updated_at >= created_at);
      assert.deepEqual(await http.get(`${M}/harnesses/support`), made.json);
      const grain = await http.get(`${M}/grains/${goal_hash}`);
      assert.deepEqual([grain.grain_type, grain.namespace], ['goal', 'harnesses/support/def']);

      await refused(http.post(`${M}/harnesses`, { slug: 'support', name: 'Again' }), 'HRN-E008');
      await refused(http.post(`${M}/harnesses`, { slug: 'other', name: 'x', template: 'none' }), 'HRN-E009');
      for (const slug of ['', '-a', 'a-', 'A', 'a b', 'ä', 'a'.repeat(64)])
        await refused(http.post(`${M}/harnesses`, { slug, name: 'x' }), 'HRN-E001');
      await refused(http.get(`${M}/harnesses/none`), 'HRN-E002');
      await refused(http.get(`${M}/harnesses/-a`), 'HRN-E001');
      await refused(http.post(`${M}/harnesses`, { slug: 'x' }), 'VAL-E003');
    });

    test('H118: the same Idempotency-Key makes one harness; two at once make one', async () => {
      const M = await memory();
      const json = { slug: 'once', name: 'Once' };
      const headers = { 'idempotency-key': 'k1' };
      const [first, again] = [
        await http.post(`${M}/harnesses`, json, { headers }),
        await http.post(`${M}/harnesses`, json, { headers }),
      ];
      assert.deepEqual(again, first);
      const both = await Promise.all(
        [1, 2].map((at) => http.ask('POST', `${M}/harnesses`, { json: { slug: 'twice', name: `${at}` } })),
      );
      assert.deepEqual(both.map(({ status }) => status).sort(), [201, 409]);
    });

    test('a bound caller manages no harness', async () => {
      const M = await memory();
      await http.post(`${M}/harnesses`, { slug: 'support', name: 'Support' });
      const headers = { 'x-user-id': 'ann' };
      await refused(http.get(`${M}/harnesses/support`, { headers }), 'AUT-E001');
      await refused(http.post(`${M}/harnesses`, { slug: 'mine', name: 'Mine' }, { headers }), 'AUT-E001');
    });
  });
