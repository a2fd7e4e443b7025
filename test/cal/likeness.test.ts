// CAL searches use vectors too, where the server computes them: in memories of one and of several partitions.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HttpClient } from '../conformance/http-client.ts';
import { eventually } from '../support/eventually.ts';
import { startTestServer } from '../support/server.ts';

for (const partitions of [1, 2])
  test(`LIKE and sources of ASSEMBLE find by meaning, ABOUT by words, ${partitions} partitions`, async (t) => {
    const server = await startTestServer({ auth: 'none', embedder: 'ngram', shards: '2' });
    t.after(() => server.close());
    const client = new HttpClient(server.http, '');
    await client.post('/memories', { id: 'm', partitions });
    const grains = ['photographers', 'carpentry', 'navigation'].map((object) => ({
      grain_type: 'belief',
      fields: { subject: 'it', relation: 'is', object },
    }));
    await client.post('/memories/m/batch-add', { grains });
    await eventually(
      'the grains are embedded',
      async () => (await client.get('/memories/m/stats')).vectors === grains.length,
    );
    const ask = async (query: string) =>
      (await client.post('/memories/m/app/exec', { command: 'cal', args: { query } })).result;
    const { result, warnings } = await ask('RECALL beliefs LIKE "fotographer" LIMIT 1 WITH score_breakdown');
    assert.equal(result.grains[0].fields.object, 'photographers');
    assert.ok(result.grains[0].score_breakdown.vector > 0);
    assert.deepEqual(warnings, []);
    const about = await ask('RECALL beliefs ABOUT "fotographer" LIMIT 1');
    // A name that occurs nowhere has no similar grains.
    assert.deepEqual([about.result._cal.about, about.result.grains], ['fallback', []]);
    assert.match(about.warnings[0], /^CAL-W010: /);
    const named = await ask('RECALL beliefs ABOUT "it" COUNT');
    assert.deepEqual([named.result._cal.about, named.result.count], ['subject', 3]);
    const nested = await ask('ASSEMBLE FROM (RECALL beliefs LIKE "carpenters" LIMIT 1) FORMAT text');
    assert.match(nested.result.content, /carpentry/);
  });
