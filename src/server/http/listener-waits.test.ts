// Connections that send nothing, or nothing for a long time: what a listener closes, and what it waits for. Half a minute of
// waiting, so all run at once.
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Listen, ListenOptions } from './listener.ts';
import { listenNode } from './node.ts';
import { SocketClient } from './socket-client.ts';
import { listenUws } from './uws.ts';
import { loadUws } from './uws-loader.ts';

/** A test that takes longer hangs. */
const TIMEOUT_MS = 300_000;
/** Longer than a connection without a request may idle. */
const STALL_MS = 40_000;

const found = loadUws();
const noUws = 'reason' in found ? found.reason : false;

/** Connections that never complete a request: silent, halfway through their headers, or one byte at a time. */
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

/** A body that stalls for longer than its connection may idle arrives. */
async function stallingBody(listen: Listen): Promise<void> {
  const listener = await listen({ host: '127.0.0.1', port: 0 }, async (request) =>
    request.respond(200, [], await request.body(1_000)),
  );
  const client = await SocketClient.open(listener.port);
  client.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\nabc');
  await delay(STALL_MS);
  client.send('def');
  assert.equal(String((await client.response())?.body), 'abcdef');
  client.close();
  listener.close();
}

/** A connection that asks for nothing more after its answer is closed; one that waits for its answer is not. */
async function nothingMore(
  listen: Listen,
  times: Pick<ListenOptions, 'bodyTimeoutMs' | 'idleTimeoutMs'>,
): Promise<void> {
  let answer = (): void => undefined;
  const listener = await listen({ host: '127.0.0.1', port: 0, ...times }, (request) => {
    if (request.path !== '/late') return request.respond(200, []);
    answer = () => request.respond(200, [], 'late');
  });
  const [idle, waiting] = [await SocketClient.open(listener.port), await SocketClient.open(listener.port)];
  waiting.request('GET', '/late');
  assert.equal((await idle.exchange('GET', '/'))?.status, 200);
  await idle.closed;
  answer();
  assert.equal(String((await waiting.response())?.body), 'late');
  waiting.close();
  listener.close();
}

suite('connections without a request are closed, and a body that stalls arrives', { concurrency: 6 }, () => {
  test('node:http: never a request', { timeout: TIMEOUT_MS }, () => neverRequests(listenNode, 100));
  // The library's timeout is fixed.
  test('uWebSockets.js: never a request', { timeout: TIMEOUT_MS, skip: noUws }, () => neverRequests(listenUws, 100));
  test('node:http: a stalling body', { timeout: TIMEOUT_MS }, () => stallingBody(listenNode));
  test('uWebSockets.js: a stalling body', { timeout: TIMEOUT_MS, skip: noUws }, () => stallingBody(listenUws));
  test('node:http: nothing more', { timeout: TIMEOUT_MS }, () => nothingMore(listenNode, { idleTimeoutMs: 100 }));
  test('uWebSockets.js: nothing more', { timeout: TIMEOUT_MS, skip: noUws }, () =>
    nothingMore(listenUws, { bodyTimeoutMs: 100 }),
  );
});
