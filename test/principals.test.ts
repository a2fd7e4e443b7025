// Keys given to a person: the audit trail, records of recalls and the policy name the actor by a pseudonym, which the
// person's erasure makes anonymous.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shareServer } from './conformance/shared-server.ts';
import { ask, type HttpAnswer } from './support/server-process.ts';

const shared = shareServer();
const as =
  (key: string) =>
  (verb: string, path: string, json?: object): Promise<HttpAnswer> =>
    ask({ http: shared.server.http, key }, verb, path, json);
const M = '/memories/default';

test('the actor is the person to whom a key was given, and no name of an erased person stays', async () => {
  const root = shared.send;
  const made = await root('POST', '/auth/keys', { name: 'of ada', principal: 'user:ada' });
  const ada = as(made.body.raw_key);
  assert.equal((await ada('POST', `${M}/add`, { subject: 'tea', relation: 'is', object: 'hot' })).status, 200);
  assert.equal(
    (await ada('POST', `${M}/add`, { subject: 'a', relation: 'is', object: 'b', user_id: 'ada' })).status,
    200,
  );
  const recalled = await ada('POST', `${M}/recall`, { query: 'hot tea' });
  assert.equal((await ada('PUT', `${M}/policy`, { add_policies: ['strict_supersede'] })).status, 200);
  const restrict = { command: 'restrict', args: { user_id: 'bob', reason: 'contested' } };
  assert.equal((await ada('POST', `${M}/app/exec`, restrict)).status, 200);

  const acted = async () => (await root('GET', `${M}/audit?actor=user:ada&event_type=memory.added`)).body;
  const before = await acted();
  assert.equal(before.total, 2);
  assert.match(before.entries[0].actor, /^user:[0-9a-f]{32}$/);
  const proof = (await root('POST', `${M}/forget`, { user_id: 'ada' })).body;
  const erased = `erased:${proof.key_fingerprint}`;
  assert.equal((await acted()).entries[0].actor, erased);
  const record = await root('GET', `${M}/provenance/${recalled.body.recall_id}`);
  assert.equal(record.body.principal, erased);
  const restrictions = await root('POST', `${M}/app/exec`, { command: 'restrictions', args: {} });
  for (const answer of [await root('GET', `${M}/policy`), restrictions, await root('GET', `${M}/audit?verify=true`)])
    assert.doesNotMatch(JSON.stringify(answer.body), /user:ada|"ada"/);
});

test('no key can be named like the server itself, another key or an erased person', async () => {
  for (const principal of ['system', 'anonymous', 'key:key_x', 'erased:0123456789abcdef'])
    assert.equal((await shared.send('POST', '/auth/keys', { principal })).code, 'VAL-E001');
});
