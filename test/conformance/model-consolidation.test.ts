// Consolidation with a model, over HTTP with a model server of the test: which pairs it is shown, and what its answer merges.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { LISTENER_PARTITIONS } from '../support/listener-partitions.ts';
import { startOpenAi } from '../support/models/openai.ts';
import type { Answer } from '../support/models/script.ts';
import type { ModelServer } from '../support/models/server.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import type { ParsedJson } from './driver.ts';
import { HttpClient } from './http-client.ts';

const THEN = 1_750_000_000;

for (const [listener, partitions] of LISTENER_PARTITIONS)
  describe(`${listener}, ${partitions} partitions`, { concurrency: false }, () => {
    let answer: Answer = {};
    let models: ModelServer;
    let server: TestServer;
    let http: HttpClient;
    before(async () => {
      models = await startOpenAi(() => answer);
      server = await startTestServer({ http: listener, shards: '4' });
      http = new HttpClient(server.http, server.key);
    });
    after(async () => {
      await server.close();
      await models.close();
    });

    let memories = 0;
    /** A memory whose session says the same in words that are too different for the rules, as two users do. */
    async function place() {
      const id = `m${memories++}`;
      await http.post('/memories', { id, partitions });
      const M = `/memories/${id}`;
      const says = (content: string, more: object = {}) => ({
        grain_type: 'event',
        fields: { content, session_id: 's1', role: 'user', user_id: 'ada', created_at: THEN, ...more },
      });
      await http.post(`${M}/batch-add`, {
        grains: [
          says('The customer wants a refund for the broken lamp'),
          says('The client wants her money for that broken lamp', { created_at: THEN + 1 }),
          says('The client wants her money for that broken lamp', { user_id: 'bob' }),
          says('Deliveries to the island take a week'),
        ],
      });
      const merges = (body: object): Promise<ParsedJson> => http.post(`${M}/sessions/s1/consolidate`, body);
      return { M, merges };
    }

    test('without a model the rules alone decide, and a warning says so', async () => {
      const { merges } = await place();
      const done = await merges({ use_model: true });
      assert.deepEqual([done.merged, done.groups], [0, []]);
      assert.ok(done.warnings.includes('no model has the role consolidation'));
    });

    test('a model decides about near pairs of one user only when it is asked to', async () => {
      await http.call('PUT', '/settings/providers/own', { json: { kind: 'openai_compatible', base_url: models.url } });
      const consolidation = { provider: 'own', model: 'scripted' };
      await http.call('PUT', '/settings/model-assignments', { json: { assignments: { consolidation } } });
      const { M, merges } = await place();
      answer = { object: { same: [1, 2, 0, -1, 99] } };
      assert.equal((await merges({})).merged, 0);
      assert.equal(models.chats.length, 0);
      const proposed = await merges({ use_model: true, dry_run: true });
      assert.deepEqual([proposed.merged, proposed.groups[0].by_model, proposed.groups.length], [1, true, 1]);
      const { body } = models.chats.at(-1) ?? assert.fail('the model was asked');
      const shown = JSON.parse(body.messages.at(-1).content);
      assert.equal(shown.length, 1, 'the pair of one user alone');
      assert.equal(body.temperature, 0);
      const before = (await http.get(`${M}/grains?limit=100`)).grains.length;
      const done = await merges({ use_model: true });
      assert.deepEqual([done.merged, done.groups[0].by_model, done.refused], [1, true, []]);
      assert.equal((await http.get(`${M}/grains?limit=100`)).grains.length, before - 1);
      const { entries } = await http.get(`${M}/audit?event_type=session.consolidated`);
      assert.equal(entries[0].details.by_model, 1);
    });

    test('a model that fails, or finds nothing, merges nothing', async () => {
      const { merges } = await place();
      answer = { status: 400 };
      const failed = await merges({ use_model: true });
      assert.equal(failed.merged, 0);
      assert.match(failed.warnings.join(), /the model did not decide: LLM-E002/);
      answer = { object: { same: [] } };
      const none = await merges({ use_model: true });
      assert.equal(none.merged, 0);
    });
  });
