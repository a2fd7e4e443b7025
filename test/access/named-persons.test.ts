// A caller that is bound to a namespace may ask about a person by name, since its writes about that person meet what holds in the
// whole memory. Of a person whose grains it does not see, it learns that and no more.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { HttpClient } from '../conformance/http-client.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let http: HttpClient;
before(async () => {
  server = await startTestServer({ shards: '3' });
  http = new HttpClient(server.http, server.key);
});
after(() => server.close());

for (const partitions of [1, 3])
  test(`of a person without a grain in the namespace a bound caller learns the status alone, ${partitions} partitions`, async () => {
    const id = `named-${partitions}`;
    const path = `/memories/${id}`;
    await http.post('/memories', { id, partitions });
    const fact = { subject: 'the cat', relation: 'likes', object: 'tea' };
    await http.post(`${path}/add`, { ...fact, user_id: 'ann', namespace: 'n1' });
    await http.post(`${path}/add`, { ...fact, user_id: 'bob', namespace: 'n2' });
    for (const user_id of ['ann', 'bob']) {
      await http.post(`${path}/consent/grant`, { user_id, purpose: 'ads' });
      await http.post(`${path}/app/exec`, { command: 'restrict', args: { user_id, reason: 'disputes a diagnosis' } });
    }
    const { raw_key: key } = await http.post('/auth/keys', { memory_id: id, scopes: ['write'], namespace: 'n1' });
    const bound = http.with(key);
    const restriction = async (user_id: string, by = bound) =>
      (await by.post(`${path}/app/exec`, { command: 'restrictions', args: { user_id } })).result.restrictions[0];
    const consent = async (user_id: string, by = bound) =>
      (await by.get(`${path}/consent/status?user_id=${user_id}`)).users[0].purposes[0];

    assert.deepEqual(await restriction('ann'), await restriction('ann', http));
    assert.deepEqual(await consent('ann'), await consent('ann', http));
    const whole = await restriction('bob', http);
    assert.equal(whole.reason, 'disputes a diagnosis');
    assert.deepEqual(await restriction('bob'), { ...whole, reason: '', restricted_by: '' });
    const { hash, ...status } = await consent('bob', http);
    assert.match(hash, /^[0-9a-f]{64}$/);
    assert.deepEqual(await consent('bob'), status);
  });
