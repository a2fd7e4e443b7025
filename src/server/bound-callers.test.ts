// A bound key learns nothing about the rest of its memory, and changes nothing there.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestServer, type TestServer } from '../../test/support/server.ts';

let server: TestServer;
before(async () => {
  server = await startTestServer({ shards: '3' });
});
after(() => server.close());

for (const partitions of [1, 3])
  test(`statistics and erasures of bound callers, ${partitions} partitions`, async () => {
    const id = `shared-${partitions}`;
    const call = async (path: string, json?: unknown, headers: Record<string, string> = {}) => {
      const response = await fetch(`${server.http}/api${path}`, {
        method: json === undefined ? 'GET' : 'POST',
        headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/json', ...headers },
        ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> }; // all answers are JSON objects
    };
    await call('/memories', { id, partitions });
    for (const [namespace, user] of ['ann', 'bob', 'ann'].map((name, at) => [at === 2 ? 'n2' : 'n1', name]))
      for (const session of ['s1', 's2', 's3'])
        await call(`/memories/${id}/add`, {
          subject: user,
          relation: 'said in',
          object: `${session} of ${namespace}`,
          namespace,
          user_id: user,
          session_id: session,
        });
    await call(`/memories/${id}/add`, { subject: 'x', relation: 'y', object: 'z', namespace: 'n3' });

    const seen = async (headers: Record<string, string>) => {
      const { body } = await call(`/memories/${id}/stats`, undefined, headers);
      const { belief } = body['type_counts'] as { belief: number }; // all ten types are there
      return [body['total_grains'], belief, body['triples'], body['namespaces'], body['users']];
    };
    assert.deepEqual(await seen({}), [10, 10, 10, ['n1', 'n2', 'n3'], 2]);
    assert.deepEqual(await seen({ 'x-namespace': 'n1' }), [6, 6, 6, ['n1'], 2]);
    assert.deepEqual(await seen({ 'x-namespace': 'n2' }), [3, 3, 3, ['n2'], 1]);
    assert.deepEqual(await seen({ 'x-namespace': 'n3' }), [1, 1, 1, ['n3'], 0]);
    assert.deepEqual(await seen({ 'x-user-id': 'ann' }), [6, 6, 6, ['n1', 'n2'], 1]);
    assert.deepEqual(await seen({ 'x-user-id': 'ann', 'x-namespace': 'n3' }), [0, 0, 0, [], 0]);
    assert.equal((await call(`/memories/${id}/stats/history`, undefined, { 'x-user-id': 'ann' })).status, 403);
    const tiers = await call(`/memories/${id}/tier-info`, undefined, { 'x-namespace': 'n2' });
    assert.equal((tiers.body['tiers'] as { grains: number }[])[0]?.grains, 3);

    const erase = (userId: string, headers: Record<string, string>) =>
      call(`/memories/${id}/forget`, { user_id: userId }, headers);
    assert.equal((await erase('ann', { 'x-namespace': 'n1' })).status, 403);
    assert.equal((await erase('ann', { 'x-user-id': 'bob' })).status, 403);
    assert.deepEqual(await seen({}), [10, 10, 10, ['n1', 'n2', 'n3'], 2]);
    assert.equal((await erase('ann', { 'x-user-id': 'ann' })).body['count'], 6);
    assert.deepEqual(await seen({}), [4, 4, 4, ['n1', 'n3'], 1]);
  });
