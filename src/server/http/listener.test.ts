import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { HEADER_BYTES_MAX } from '../../engine/base/limits.ts';
import { refusal } from './errors.ts';
import { chooseListener } from './listen.ts';
import { conformance } from './listener.conformance.ts';
import type { Listen } from './listener.ts';
import { listenNode } from './node.ts';
import { SocketClient } from './socket-client.ts';
import { listenUws } from './uws.ts';
import { loadUws } from './uws-loader.ts';

/** A test that takes longer hangs. */
const TIMEOUT_MS = 300_000;

const found = loadUws();
const noUws = 'reason' in found ? found.reason : false;

conformance('node:http', listenNode);
conformance('node:http that knows HTTP/2 apart', (options, handler) =>
  listenNode({ ...options, http2: (connection) => void connection.destroy() }, handler),
);
if (noUws === false) conformance('uWebSockets.js', listenUws);
else test('uWebSockets.js', { skip: noUws }, () => undefined);

/** Checks the errors that a listener sends without its handler, including their body. */
async function refusals(listen: Listen, wire: Readonly<Record<string, 400 | 408 | 431>>): Promise<void> {
  let handled = 0;
  const listener = await listen({ host: '127.0.0.1', port: 0, bodyTimeoutMs: 100, refusal }, async (request) => {
    await request.body(1_000);
    handled++;
  });
  for (const [bytes, status] of Object.entries(wire)) {
    const client = await SocketClient.open(listener.port);
    client.send(bytes);
    const response = await client.response();
    await client.closed;
    assert.equal(response?.status, status);
    assert.equal(response.headers.get('content-type'), 'application/json');
    const { error } = JSON.parse(String(response.body)) as { error: Record<string, unknown> }; // an object of `refusal`
    assert.equal(error['code'], { 400: 'VAL-E002', 408: 'SYS-E005', 431: 'LIM-E003' }[status]);
    assert.equal(error['request_id'], response.headers.get('x-request-id'));
  }
  assert.equal(handled, 0);
  listener.close();
}

const STALLED = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc';

suite('errors of the listener itself have the contract’s body', () => {
  test('node:http', { timeout: TIMEOUT_MS }, () =>
    refusals(listenNode, {
      'no request\r\n\r\n': 400,
      'GET / HTTP/1.1\r\n\r\n': 400,
      [`GET / HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(HEADER_BYTES_MAX)}\r\n\r\n`]: 431,
      [STALLED]: 408,
    }),
  );
  // The library does not report requests that its parser rejects.
  test('uWebSockets.js', { timeout: TIMEOUT_MS, skip: noUws }, () => refusals(listenUws, { [STALLED]: 408 }));
});

test('the requested listener is chosen if it loads', async () => {
  assert.deepEqual(await chooseListener('node'), { kind: 'node', listen: listenNode });
  const uws = await chooseListener('uws');
  if (noUws === false) assert.deepEqual(uws, { kind: 'uws', listen: listenUws });
  else assert.deepEqual(uws, { kind: 'node', listen: listenNode, reason: noUws });
});
