// The ids of threads that are made with an idempotency key.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IDEMPOTENCY_KEEP_MS } from '../../engine/base/limits.ts';
import { ADMIN, ask, makeParts } from '../testing/parts.ts';

test('a key makes one thread while it is kept, and another one after that', async (t) => {
  const parts = await makeParts();
  t.after(() => parts.close());
  const made = async (json: object): Promise<unknown> => {
    const headers = { 'idempotency-key': 'a new conversation' };
    const asked = await ask(parts, 'POST', '/memories/default/chat/threads', { json, key: ADMIN, headers });
    assert.equal(asked.error, undefined);
    return asked.body['thread_id'];
  };
  const first = await made({ user_id: 'ada' });
  assert.equal(await made({ user_id: 'ada' }), first);
  parts.clock.step(IDEMPOTENCY_KEEP_MS + 1_000);
  const second = await made({ user_id: 'bob' });
  assert.notEqual(second, first, 'its messages would be among those of the first one');
  assert.equal(await made({ user_id: 'bob' }), second);
  parts.clock.step(IDEMPOTENCY_KEEP_MS + 1_000);
  const third = await made({ user_id: 'ada' });
  assert.ok(third !== first && third !== second);
});
