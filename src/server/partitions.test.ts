// Memories of several partitions must behave like those of one, over HTTP.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestServer } from '../../test/support/server.ts';

test('idempotency keys and user counts are independent of partitions', async () => {
  const server = await startTestServer({ shards: '4' });
  const call = async (path: string, json?: unknown, idempotencyKey?: string) => {
    const response = await fetch(`${server.http}/api${path}`, {
      method: json === undefined ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${server.key}`,
        'content-type': 'application/json',
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }; // all are JSON objects
  };
  try {
    await call('/memories', { id: 'wide', partitions: 4 });
    const belief = (subject: string, more = {}) => ({ subject, relation: 'likes', object: 'tea', ...more });
    for (let i = 0; i < 6; i++) {
      const first = await call('/memories/wide/add', belief('ann'), `key ${i}`);
      assert.deepEqual(await call('/memories/wide/add', belief('ann'), `key ${i}`), first);
      const other = await call('/memories/wide/add', belief(`bob ${i}`), `key ${i}`);
      assert.deepEqual([other.status, (other.body['error'] as { code: string }).code], [409, 'VAL-E005']);
    }
    assert.equal((await call('/memories/wide/add', { subject: 'ann' }, 'refused')).status, 422);
    const gone = { blob_hash: 'a'.repeat(64), fields: { object: 'x' } };
    assert.equal((await call('/memories/wide/supersede', gone, 'refused')).status, 404);
    assert.equal((await call('/memories/wide/add', belief('eve'), 'refused')).status, 200);
    assert.equal((await call('/memories/wide/grains')).body['total'], 2);

    for (let i = 0; i < 8; i++)
      await call('/memories/wide/add', belief(`s${i}`, { session_id: `s${i}`, user_id: i % 2 === 0 ? 'u' : 'v' }));
    assert.equal((await call('/memories/wide/stats')).body['users'], 2);
    await call('/memories/wide/forget', { user_id: 'u' });
    assert.equal((await call('/memories/wide/stats')).body['users'], 1);
  } finally {
    await server.close();
  }
});
