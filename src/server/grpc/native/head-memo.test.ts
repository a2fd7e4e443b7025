// Calls with equal headers have one identity, as long as nothing has changed the table between them.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { GRPC_HEADS_KEPT_MAX } from '../../../engine/base/limits.ts';
import { ask, closeAll, frame, openSession, startFrontOn, statusOf } from '../testing/front.ts';
import { listenNative } from './front.ts';
import { HeadMemo } from './head-memo.ts';
import { RequestHead } from './request-head.ts';

after(closeAll);

test('equal headers of a connection are recognised', async () => {
  const seen: (object | undefined)[] = [];
  const { port } = await startFrontOn(listenNative)(async ({ bytes, identity }) => {
    seen.push(identity);
    return { bytes };
  });
  const session = await openSession(port);
  const call = async (headers: Record<string, string>): Promise<object | undefined> => {
    assert.equal(statusOf(await ask(session, [frame(Buffer.from('x'))], headers)), 0);
    return seen.pop();
  };
  // The first block changes the table.
  assert.equal(await call({ 'x-memory-id': 'one' }), undefined);
  const first = await call({ 'x-memory-id': 'one' });
  assert.ok(first !== undefined);
  assert.equal(await call({ 'x-memory-id': 'one' }), first);
  // Other headers enter the table: the same block means something else from now on.
  assert.equal(await call({ 'x-memory-id': 'two' }), undefined);
  const second = await call({ 'x-memory-id': 'two' });
  assert.notEqual(second, first);
  assert.notEqual(await call({ 'x-memory-id': 'one' }), first);
  assert.equal(await call({ 'x-memory-id': 'two' }), second);
});

test('a memo is bounded, and begins again with another version of the table', () => {
  const memo = new HeadMemo();
  const head = (): RequestHead => new RequestHead([], undefined);
  const first = head();
  memo.keep('0', 1, first);
  assert.equal(memo.find('0', 1), first);
  assert.equal(memo.find('0', 2), undefined);
  for (let at = 1; at < GRPC_HEADS_KEPT_MAX; at++) memo.keep(String(at), 1, head());
  assert.equal(memo.find('0', 1), first);
  memo.keep('one more', 1, head());
  assert.equal(memo.find('0', 1), undefined);
  memo.keep('new', 2, first);
  assert.equal(memo.find('one more', 1), undefined);
  assert.equal(memo.find('new', 2), first);
  memo.keep('x'.repeat(10_000), 2, first);
  assert.equal(memo.find('x'.repeat(10_000), 2), undefined);
});
