import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';
import { type TestContext, test } from 'node:test';
import { eventually } from '../../../test/support/eventually.ts';
import type { HostPort } from '../host-port.ts';
import { Front } from './front.ts';

const HOST = '127.0.0.1';

/** A server that answers each piece with its name and the piece. */
async function upstream(t: TestContext, name: string, port = 0): Promise<{ readonly at: HostPort; close(): void }> {
  const server: Server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => socket.write(`${name}:${bytes}`));
  });
  server.listen(port, HOST);
  await once(server, 'listening');
  t.after(() => server.close());
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return { at: { host: HOST, port: address.port }, close: () => server.close() };
}

function caller(t: TestContext, port: number) {
  const socket = connect(port, HOST);
  t.after(() => socket.destroy());
  let heard = '';
  socket.on('data', (bytes) => {
    heard += bytes;
  });
  socket.on('error', () => undefined);
  return { socket, heard: () => heard };
}

test('connections are passed on, wait while there is nowhere to go, and stay when the port is given up', async (t) => {
  let target: HostPort | undefined;
  const front = new Front(HOST, 0, () => target);
  await front.listen();
  t.after(() => front.close());
  const first = caller(t, front.port);
  first.socket.write('hello');
  await once(first.socket, 'connect');
  const a = await upstream(t, 'a');
  target = a.at;
  await eventually('it was passed on with what it sent before', () => first.heard() === 'a:hello');

  // A target that is gone: the connection waits for the next one.
  a.close();
  target = { host: HOST, port: 1 };
  const second = caller(t, front.port);
  second.socket.write('there');
  await once(second.socket, 'connect');
  const { port } = front;
  await front.stopListening();
  // This node runs the server on the same port now.
  const own = await upstream(t, 'own', port);
  target = own.at;
  await eventually('the waiting connection goes there', () => second.heard() === 'own:there');
  first.socket.write('again');
  await eventually('the first one goes on', () => first.heard() === 'a:helloa:again');

  own.close();
  second.socket.destroy();
  await front.listen();
  assert.equal(front.port, port);
  const third = caller(t, port);
  await once(third.socket, 'connect');
  await front.close();
  await once(third.socket, 'close');
});
