import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EVENT_STREAMS_CALLER_MAX } from '../../engine/base/limits.ts';
import { fakeRequest } from '../http/fake-request.ts';
import { type HttpRequest, RequestAborted } from '../http/listener.ts';
import { makeParts } from '../testing/parts.ts';

test('a client that is gone before its stream is made leaves nothing behind', async (t) => {
  const parts = await makeParts();
  t.after(() => parts.close());
  const { events, memories } = parts.services;
  const principal = { actor: 'agent', scope: 'admin' } as const;
  const caller = {
    memory: memories.get('default'),
    principal,
    requestId: 'r1',
    namespace: undefined,
    userId: undefined,
  };
  const opened = await events.open(caller, { kinds: [], since: undefined });
  // It is over at once: `whenOver` says so while the stream is made.
  const request: HttpRequest = {
    ...fakeRequest({ method: 'GET' }),
    stream: () => ({ unreportedBytes: 0, write: () => Promise.reject(new RequestAborted()), end: () => undefined }),
  };
  const options = { headers: [], requestId: 'r1', timeoutMs: 1_000 };
  for (let times = 0; times <= EVENT_STREAMS_CALLER_MAX; times += 1) {
    events.stream(opened, request, options);
    events.poll(opened, request, options);
  }
  assert.equal(events.size, 0);
});
