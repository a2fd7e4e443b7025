// Identities of agents and their trust, over both HTTP listeners, in memories of one partition and of four.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LISTENER_PARTITIONS } from '../support/listener-partitions.ts';
import { refused } from './contract.ts';
import type { Fields, ParsedJson } from './driver.ts';
import { GrpcClient } from './grpc-client.ts';
import type { HttpClient } from './http-client.ts';
import { newMemory } from './http-driver.ts';
import { serveSuite } from './http-suite.ts';

const DID = 'did:web:example.com:planner';

for (const [listener, partitions] of LISTENER_PARTITIONS)
  describe(`over ${listener}`, () => {
    const { http, shared } = serveSuite(listener, partitions, { workers: '2' });

    describe(`${partitions} partitions`, { concurrency: 4 }, () => {
      async function open(options: Fields = {}) {
        const id = await newMemory(http, partitions, options);
        const M = `/memories/${id}`;
        const register = (body: Fields, headers = {}): Promise<ParsedJson> =>
          http.post(`${M}/agents/identities`, body, { headers });
        const show = (agent: string): Promise<ParsedJson> =>
          http.get(`${M}/agents/identities/${encodeURIComponent(agent)}`);
        const deactivate = (agent: string, body: Fields = {}, headers = {}): Promise<ParsedJson> =>
          http.post(`${M}/agents/identities/${encodeURIComponent(agent)}/deactivate`, body, { headers });
        const list = (query = ''): Promise<ParsedJson> => http.get(`${M}/agents/identities${query}`);
        return { id, M, register, show, deactivate, list };
      }
      const agentKey = async (name: string, scopes: readonly string[] = ['read', 'write']): Promise<HttpClient> =>
        http.with((await http.post('/auth/keys', { principal: `agent:${name}`, scopes })).raw_key);

      test('an agent is registered once, shown, listed and deactivated for ever', async () => {
        const { M, register, show, deactivate, list } = await open();
        const stated = {
          agent_id: 'planner',
          name: 'Planner',
          did: DID,
          public_key: 'z6Mk',
          capabilities: ['plan', 'delegate'],
          metadata: { team: { name: 'ops' } },
        };
        const reply = await http.ask('POST', `${M}/agents/identities`, { json: stated });
        assert.equal(reply.status, 201);
        const { created_at: createdAt, ...made } = reply.json;
        assert.deepEqual(made, { ...stated, status: 'active' });
        assert.ok(Math.abs(createdAt - Date.now() / 1000) < 600);
        assert.deepEqual(await show('planner'), reply.json);
        assert.deepEqual(await show('agent:planner'), reply.json, 'a principal names the same agent');
        await refused(register(stated), 'AGT-E002');
        await refused(register({ agent_id: 'agent:planner' }), 'AGT-E002');
        await refused(register({ agent_id: 'other', did: DID }), 'AGT-E002');
        await refused(show('nobody'), 'AGT-E001');
        await refused(deactivate('nobody'), 'AGT-E001');
        assert.deepEqual(await list(), { identities: [reply.json], total: 1, next_cursor: null });
        const ended = await deactivate('planner', { reason: 'replaced' });
        assert.deepEqual([ended['status'], ended['deactivation_reason']], ['deactivated', 'replaced']);
        assert.ok(ended['deactivated_at'] >= createdAt);
        assert.deepEqual(await deactivate('planner', { reason: 'again' }), ended, 'the first time stays');
        await refused(register(stated), 'AGT-E002');
        assert.equal((await list('?status=active'))['total'], 0);
        assert.deepEqual((await list('?status=deactivated'))['identities'], [ended]);
        const { entries } = await http.get(`${M}/audit?limit=500&order=asc`);
        const about = entries.filter(
          ({ event_type: event, partition }: ParsedJson) => event.startsWith('agent.') && partition === 0,
        );
        assert.deepEqual(
          about.map(({ event_type: event, details }: ParsedJson) => [event, details.agent]),
          [
            ['agent.registered', 'planner'],
            ['agent.deactivated', 'planner'],
          ],
        );
        assert.match(about[1].details.reason_hmac, /^[0-9a-f]{64}$/);
      });

      test('metadata with an integer beyond 2^53 is refused, and the shard goes on', async () => {
        const { M, register } = await open();
        for (const integer of ['9007199254740993', `-1${'0'.repeat(40)}`]) {
          const body = `{"agent_id":"a","metadata":{"of":[{"order":${integer}}]}}`;
          const headers = { 'content-type': 'application/json' };
          await refused(http.call('POST', `${M}/agents/identities`, { body, headers }), 'VAL-E001');
        }
        assert.equal((await register({ agent_id: 'a', metadata: { order: 2 ** 53 - 1 } }))['status'], 'active');
      });

      test('an id is made where none is given, and bad members are refused', async () => {
        const { register } = await open();
        assert.match((await register({}))['agent_id'], /^agt_[a-z2-7]{24}$/);
        for (const bad of [
          { agent_id: 'key:x' },
          { agent_id: 'agent:' },
          { agent_id: 'x'.repeat(257) },
          { agent_id: 'a\nb' },
          { did: 'planner' },
          { did: 'did:web:' },
          { did: 'did:WEB:x' },
          { did: `did:web:${'x'.repeat(512)}` },
          { capabilities: Array.from({ length: 65 }, () => 'x') },
          { capabilities: [''] },
          { metadata: { text: 'x'.repeat(20_000) } },
        ])
          await refused(register(bad), 'VAL-E001');
        await refused(register({ capabilities: 'plan' }), 'VAL-E003');
      });

      test('a list comes in pages, the newest first', async () => {
        const { register, list } = await open();
        for (let i = 0; i < 5; i++) await register({ agent_id: `a${i}` });
        const seen: string[] = [];
        for (let cursor = ''; ; ) {
          const page = await list(`?limit=2${cursor}`);
          assert.equal(page['total'], 5);
          seen.push(...page['identities'].map((one: ParsedJson) => one['agent_id']));
          if (page['next_cursor'] === null) break;
          cursor = `&cursor=${page['next_cursor']}`;
        }
        assert.deepEqual(seen, ['a4', 'a3', 'a2', 'a1', 'a0']);
        assert.equal((await list('?order=asc&limit=1&offset=1'))['identities'][0].agent_id, 'a1');
        await refused(list('?cursor=nonsense'), 'VAL-E004');
      });

      test('an idempotency key repeats the first answer', async () => {
        const { register, deactivate, list } = await open();
        const key = { 'idempotency-key': 'k1' };
        const first = await register({ name: 'one' }, key);
        assert.deepEqual(await register({ name: 'one' }, key), first, 'with the id that was made');
        assert.equal((await list())['total'], 1);
        await refused(register({ name: 'two' }, key), 'VAL-E005');
        const ended = await deactivate(first['agent_id'], {}, { 'idempotency-key': 'k2' });
        assert.deepEqual(await deactivate(first['agent_id'], {}, { 'idempotency-key': 'k2' }), ended);
      });

      test('a bound key learns nothing of agents, and a reader registers none', async () => {
        const { id, M, register } = await open();
        await register({ agent_id: 'planner' });
        const keyed = async (asked: Fields) => http.with((await http.post('/auth/keys', asked)).raw_key);
        const bound = await keyed({ scopes: ['read', 'write'], memory_id: id, namespace: 'n' });
        for (const path of ['agents/identities', 'agents/identities/planner'])
          await refused(bound.get(`${M}/${path}`), 'AUT-E001');
        await refused(bound.post(`${M}/agents/identities`, { agent_id: 'x' }), 'AUT-E001');
        await refused(bound.post(`${M}/agents/identities/planner/deactivate`, {}), 'AUT-E001');
        const reader = await keyed({ scopes: ['read'] });
        assert.equal((await reader.get(`${M}/agents/identities`)).total, 1);
        await refused(reader.post(`${M}/agents/identities`, { agent_id: 'x' }), 'AUT-E001');
      });

      test('where tuples decide, an agent needs editor of the memory to register others', async () => {
        const { id, M } = await open({ policies: ['soc2'] });
        const bot = http.with(
          (await http.post('/auth/keys', { principal: 'agent:bot', scopes: ['read', 'write'] })).raw_key,
        );
        await refused(bot.post(`${M}/agents/identities`, { agent_id: 'x' }), 'AUT-E001');
        await refused(bot.get(`${M}/agents/identities`), 'AUT-E001');
        await http.post(`${M}/authz/grant`, { subject: 'agent:bot', relation: 'editor', object: `memory:${id}` });
        await bot.post(`${M}/agents/identities`, { agent_id: 'x' });
        assert.equal((await bot.get(`${M}/agents/identities`)).total, 1);
      });

      test('an agent is listed with its trust, and shown with the history of it', async () => {
        const { id, M, register } = await open();
        await register({ agent_id: 'planner', did: DID });
        await register({ agent_id: 'idle' });
        const planner = await agentKey('planner');
        const hashes: string[] = [];
        for (let i = 0; i < 12; i++) {
          const fields = { tool_name: 'search', tool_call_id: `c${i}`, is_error: i % 3 === 0, session_id: `s${i}` };
          hashes.push((await planner.post(`${M}/add`, { grain_type: 'action', fields })).blob_hash);
        }
        await planner.post(`${M}/add`, { subject: 'ann', relation: 'likes', object: 'tea' });
        await http.post(`${M}/add`, { subject: 'bob', relation: 'likes', object: 'tea', author_did: DID });
        const stray = await agentKey('stray');
        await GrpcClient.open(shared.server.grpc, stray.key)
          .with({ 'x-memory-id': id })
          .call('Add', { grain_type: 'belief', fields_json: '{"subject":"a","relation":"b","object":"c"}' });
        const shown = await http.get(`${M}/agents/planner`);
        assert.deepEqual(
          [shown.status, shown.grains_written, shown.successful_actions, shown.failed_actions, shown.policy_refusals],
          ['active', 14, 8, 4, 0],
        );
        assert.ok(Math.abs(shown.trust_score - 9 / 14) < 1e-12);
        assert.equal(shown.identity.did, DID);
        const history = shown.trust_history;
        assert.equal(history.length, 12);
        assert.deepEqual(new Set(history.map((point: ParsedJson) => point['action_hash'])), new Set(hashes));
        assert.equal(history[0].score, shown.trust_score, 'the newest first');
        for (const { reason, delta, timestamp } of history) {
          assert.equal(reason, delta > 0 ? 'action_succeeded' : 'action_failed');
          assert.ok(Math.abs(timestamp - Date.now() / 1000) < 600);
        }
        const sum = history.reduce((total: number, { delta }: ParsedJson) => total + delta, 0.5);
        assert.ok(Math.abs(sum - shown.trust_score) < 1e-9);
        const cut = await http.get(`${M}/agents/planner?limit=3`);
        assert.deepEqual(cut.trust_history, history.slice(0, 3));
        const { agents, total, next_cursor: next } = await http.get(`${M}/agents`);
        assert.deepEqual([total, next], [3, null]);
        const rows = new Map<string, ParsedJson>(agents.map((one: ParsedJson) => [one['agent_id'], one]));
        assert.deepEqual(rows.get('planner'), {
          agent_id: 'planner',
          status: 'active',
          trust_score: shown.trust_score,
          grains_written: 14,
          last_seen_at: shown.last_seen_at,
        });
        assert.deepEqual(rows.get('idle'), {
          agent_id: 'idle',
          status: 'active',
          trust_score: 0.5,
          grains_written: 0,
        });
        const { last_seen_at: _, ...strayRow } = rows.get('stray')!;
        assert.deepEqual(strayRow, {
          agent_id: 'stray',
          status: 'unregistered',
          trust_score: 0.5,
          grains_written: 1,
        });
        assert.equal((await http.get(`${M}/agents?status=unregistered`)).total, 1);
        const first = await http.get(`${M}/agents?limit=2`);
        const second = await http.get(`${M}/agents?limit=2&cursor=${first.next_cursor}`);
        assert.deepEqual([...first.agents, ...second.agents], agents);
        await refused(http.get(`${M}/agents/nobody`), 'AGT-E001');
        const bound = http.with(
          (await http.post('/auth/keys', { scopes: ['read'], memory_id: id, namespace: 'n' })).raw_key,
        );
        await refused(bound.get(`${M}/agents`), 'AUT-E001');
        await refused(bound.get(`${M}/agents/planner`), 'AUT-E001');
      });

      test('refusals by the policy lower the trust, once for each request', async () => {
        const { M, register } = await open();
        await register({ agent_id: 'planner' });
        const planner = await agentKey('planner', ['read', 'write', 'admin']);
        await http.post(`${M}/app/exec`, { command: 'restrict', args: { user_id: 'ann' } });
        await refused(
          planner.post(`${M}/add`, { subject: 'a', relation: 'b', object: 'c', user_id: 'ann' }),
          'POL-E008',
        );
        await http.call('PUT', `${M}/policy`, { json: { overrides: { 'deletion.hold': true } } });
        await refused(planner.post(`${M}/app/exec`, { command: 'forget_user', args: { user_id: 'bob' } }), 'POL-E003');
        const shown = await http.get(`${M}/agents/planner`);
        assert.deepEqual([shown.policy_refusals, shown.trust_score], [2, 1 / 6]);
        assert.deepEqual(
          shown.trust_history.map(({ reason }: ParsedJson) => reason),
          ['policy_refusal', 'policy_refusal'],
        );
        const { entries } = await http.get(`${M}/audit?event_type=agent.trust_changed`);
        assert.ok(entries.every(({ actor, details }: ParsedJson) => actor === 'system' && details.agent === 'planner'));
        assert.equal(
          entries.reduce((total: number, { details }: ParsedJson) => total + details.refused, 0),
          2,
        );
      });

      test('the erasure of a person removes the identity of the agent that the person is', async () => {
        const { M, register, show, list } = await open();
        await register({ agent_id: 'user:ann', name: 'Ann', did: DID });
        await register({ agent_id: 'bot' });
        await http.post(`${M}/app/exec`, { command: 'forget_user', args: { user_id: 'ann' } });
        await refused(show('user:ann'), 'AGT-E001');
        assert.equal((await list())['total'], 1);
        const { entries } = await http.get(`${M}/audit?event_type=agent.registered`);
        assert.ok(!JSON.stringify(entries).includes('user:ann'));
        await register({ agent_id: 'user:ann', did: DID });
      });
    });
  });
