import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError } from '../../../engine/base/errors.ts';
import { ADMIN, ask, makeParts } from '../../testing/parts.ts';

const M = '/memories/default';

test('an error after a person or a scope was erased says so, and a repeat answers with the proof', async (t) => {
  const parts = await makeParts();
  t.after(() => parts.close());
  const post = (path: string, json: Record<string, unknown>) =>
    ask(parts, 'POST', `${M}/${path}`, { key: ADMIN, json });
  const add = (userId: string) =>
    post('add', {
      grain_type: 'belief',
      fields: { subject: userId, relation: 'likes', object: 'tea', user_id: userId, namespace: 'acme' },
    });
  const { control, proofKeys } = parts.services;
  const failOnce = (object: object, method: string, calls: number): void => {
    const mock = t.mock.method(object as Record<string, () => unknown>, method);
    mock.mock.mockImplementationOnce(() => {
      throw new EngineError('STO-E001', 'the disk failed');
    }, calls);
  };
  const says = /^STO-E001: the data are erased.* repeat .*the disk failed$/;

  await add('ann');
  // After the intent.
  failOnce(control, 'commit', 1);
  assert.match(String((await post('forget', { user_id: 'ann' })).body['message']), says);
  const again = await post('forget', { user_id: 'ann' });
  assert.deepEqual([again.status, again.body['count']], [200, 0]);
  assert.match(String(again.body['key_fingerprint']), /^[0-9a-f]{16}$/);

  await add('bob');
  failOnce(proofKeys, 'sign', 0);
  assert.match(String((await post('scope-erase', { scope_path: 'acme' })).body['message']), says);
  assert.equal((await post('scope-erase', { scope_path: 'acme' })).status, 200);

  await add('eve');
  const made = await post('subject-requests', { user_id: 'eve', kind: 'erasure', requester: 'eve' });
  const id = String(made.body['request_id']);
  const erase = () => post(`subject-requests/${id}/erase`, { confirm: 'eve' });
  t.mock.restoreAll();
  failOnce(proofKeys, 'sign', 0);
  assert.match(String((await erase()).body['message']), says);
  const { status, body } = await erase();
  assert.deepEqual(
    [status, (body['proof'] as Record<string, unknown>)['result']],
    [200, 'erased'],
    JSON.stringify(body),
  );
});
