import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { chooseListener } from './listen.ts';
import { conformance } from './listener.conformance.ts';
import type { Listen } from './listener.ts';
import { listenNode } from './node.ts';
import { SocketClient } from './socket-client.ts';
import { listenUws } from './uws.ts';
import { loadUws } from './uws-loader.ts';

const found = loadUws();
const noUws = 'reason' in found ? found.reason : false;

conformance('node:http', listenNode);
conformance('node:http that knows HTTP/2 apart', (options, handler) =>
  listenNode({ ...options, http2: (connection) => void connection.destroy() }, handler),
);
if (noUws === false) conformance('uWebSockets.js', listenUws);
else test('uWebSockets.js', { skip: noUws }, () => undefined);

/** Connections that never become a request: silent, half-way through their headers, and one byte at a time. */
async function neverRequests(listen: Listen, bodyTimeoutMs?: number): Promise<void> {
  const listener = await listen(
    { host: '127.0.0.1', port: 0, ...(bodyTimeoutMs === undefined ? {} : { bodyTimeoutMs }) },
    (request) => request.respond(200, []),
  );
  const clients = await Promise.all([1, 2, 3].map(() => SocketClient.open(listener.port)));
  const [, half, trickling] = clients;
  half?.send('GET / HTTP/1.1\r\nHost: x\r\nX-A:');
  trickling?.send('GET / HTTP/1.1\r\nHost: x\r\nX-A: ');
  const drip = setInterval(() => trickling?.send('a'), 20);
  await Promise.all(clients.map(({ closed }) => closed));
  clearInterval(drip);
  listener.close();
}

suite('connections that never become a request are closed', () => {
  test('node:http', { timeout: 10_000 }, () => neverRequests(listenNode, 100));
  // Its time is fixed in the library.
  const slow = process.env['GRANARY_SLOW_TESTS'] === undefined && 'takes half a minute; GRANARY_SLOW_TESTS=1 runs it';
  test('uWebSockets.js', { timeout: 60_000, skip: noUws || slow }, () => neverRequests(listenUws));
});

test('the listener that is asked for is chosen where it loads', () => {
  assert.deepEqual(chooseListener('node'), { kind: 'node', listen: listenNode });
  const uws = chooseListener('uws');
  if (noUws === false) assert.deepEqual(uws, { kind: 'uws', listen: listenUws });
  else assert.deepEqual(uws, { kind: 'node', listen: listenNode, reason: noUws });
});
