// A record of a recall concerns a person, or a namespace. A caller that is bound to it sees the record, whoever made it, and
// nothing of the grains outside the binding that the record names and counts.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { HttpClient } from '../conformance/http-client.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

type Named = readonly { readonly hash: string }[];

let server: TestServer;
let http: HttpClient;
before(async () => {
  server = await startTestServer({ shards: '3' });
  http = new HttpClient(server.http, server.key);
});
after(() => server.close());

const TELLING = { explanation: true, record_provenance: true, exclude_superseded: false };

for (const partitions of [1, 3])
  describe(`${partitions} partitions`, () => {
    const id = `records-${partitions}`;
    const path = `/memories/${id}`;
    const own: string[] = [];
    const others: string[] = [];
    let ada: HttpClient;
    let n1: HttpClient;

    before(async () => {
      await http.post('/memories', { id, partitions });
      await http.call('PUT', `${path}/policy`, { json: { overrides: { 'audit.reads': true } } });
      const add = async (fields: object): Promise<string> =>
        (await http.post(`${path}/add`, { relation: 'likes', ...fields })).blob_hash;
      const place = { user_id: 'ada', namespace: 'n1' };
      for (const object of ['green tea', 'black tea']) own.push(await add({ subject: 'the cat', object, ...place }));
      for (const i of [1, 2, 3])
        others.push(await add({ subject: 'ada', object: `tea ${i}`, user_id: 'bob', namespace: 'n2' }));
      others.push(await add({ subject: 'ada', object: 'tea of nobody', namespace: 'n2' }));
      const keyFor = async (binding: object): Promise<HttpClient> =>
        http.with((await http.post('/auth/keys', { memory_id: id, scopes: ['admin'], ...binding })).raw_key);
      ada = await keyFor({ user_id: 'ada' });
      n1 = await keyFor({ namespace: 'n1' });
    });

    const hashesIn = ({ results, excluded }: { results: Named; excluded: Named }): string[] =>
      [...results, ...excluded].map(({ hash }) => hash);

    const recorded = async (asked: object, by = http): Promise<string> =>
      (await by.post(`${path}/recall`, { ...asked, ...TELLING })).recall_id;

    for (const [what, asked, binding] of [
      ['of the person', { query: 'tea', user_id: 'ada' }, 'user'],
      ['about the name', { subject: 'ada' }, 'user'],
      ['of the namespace', { query: 'tea', namespace: 'n1' }, 'namespace'],
    ] as const)
      test(`a recall ${what} by a caller that sees more`, async () => {
        const recallId = await recorded(asked);
        const whole = await http.get(`${path}/provenance/${recallId}`);
        assert.ok(
          hashesIn(whole).some((hash) => others.includes(hash)),
          'the record names grains of others',
        );
        const bound = binding === 'user' ? ada : n1;
        const seen = await bound.get(`${path}/provenance/${recallId}?explain=true`);
        const shown = hashesIn(seen);
        assert.deepEqual(
          shown.filter((hash) => !own.includes(hash)),
          [],
        );
        assert.deepEqual(new Set(shown), what === 'about the name' ? new Set() : new Set(own));
        assert.equal(seen.excluded_total, seen.excluded.length);
        assert.deepEqual(
          seen.results.map(({ rank }: { rank: number }) => rank),
          seen.results.map((_: object, i: number) => i + 1),
        );
        const count = what === 'about the name' ? 0 : own.length;
        assert.deepEqual([seen.candidate_count, seen.result_count], [count, count]);
        // The numbers of the lists count no others either.
        const { records } = await bound.get(`${path}/provenance`);
        const listed = records.find(({ recall_id: one }: { recall_id: string }) => one === recallId);
        assert.deepEqual([listed.candidate_count, listed.result_count], [count, count]);
        const { by_exclusion: byExclusion } = await bound.get(`${path}/provenance/summary`);
        assert.deepEqual(byExclusion, {});
      });

    test('a record of its own is whole', async () => {
      const recallId = await recorded({ query: 'tea', limit: 1 }, ada);
      const seen = await ada.get(`${path}/provenance/${recallId}?explain=true`);
      assert.deepEqual([seen.candidate_count, seen.result_count, seen.excluded_counts], [2, 1, { limit_exceeded: 1 }]);
      assert.ok(seen.results[0].score_breakdown.final_score > 0 && seen.results[0].explanation !== undefined);
      const { by_exclusion: byExclusion } = await ada.get(`${path}/provenance/summary`);
      assert.deepEqual(byExclusion, { limit_exceeded: 1 });
      // The namespace of the person is not the whole binding of the key for it.
      const ofBoth = { 'x-namespace': 'n1' };
      const narrowed = await ada.post(`${path}/recall`, { query: 'tea', ...TELLING }, { headers: ofBoth });
      assert.equal((await n1.get(`${path}/provenance/${narrowed.recall_id}`)).result_count, 2);
    });

    test('entries of the trail about recalls have no counts of others', async () => {
      await recorded({ subject: 'ada' });
      await http.post(`${path}/flush`, {});
      const { entries } = await ada.get(`${path}/audit?event_type=memory.recalled`);
      assert.ok(entries.length > 0);
      for (const { details } of entries) assert.deepEqual(Object.keys(details), ['recall_id']);
    });
  });
