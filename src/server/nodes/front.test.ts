import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';
import { type TestContext, test } from 'node:test';
import { deafPort } from '../../../test/support/deaf-port.ts';
import { eventually } from '../../../test/support/eventually.ts';
import type { HostPort } from '../host-port.ts';
import { Front, type FrontOptions } from './front.ts';

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

/** A front whose connections go to what `set` was given last. */
async function fronted(t: TestContext, options: FrontOptions = {}) {
  let target: HostPort | undefined;
  const front = new Front(HOST, 0, () => target, options);
  await front.listen();
  t.after(() => front.close());
  return {
    front,
    set: (to: HostPort | undefined): void => {
      target = to;
    },
  };
}

test('a node that does not answer holds no connection once another one runs the server', async (t) => {
  const deaf = await deafPort(t);
  if (deaf === undefined) return;
  const { front, set } = await fronted(t, { connectMs: 200 });
  set({ host: HOST, port: deaf });
  const waiting = caller(t, front.port);
  waiting.socket.write('hello');
  await eventually('it is tried', () => front.attempts > 0);
  set((await upstream(t, 'a')).at);
  await eventually('it is passed on to the next node', () => waiting.heard() === 'a:hello');

  // Not even a front that ends waits for such a node.
  set({ host: HOST, port: deaf });
  const last = caller(t, front.port);
  await once(last.socket, 'connect');
  await eventually('it is tried', () => front.attempts > 0);
  await front.close();
  await once(last.socket, 'close');
  await eventually('the attempt has ended', () => front.attempts === 0);
});

test('connections of a caller count once', async (t) => {
  const { front, set } = await fronted(t, { connectionsMax: 2 });
  set((await upstream(t, 'a')).at);
  const callers = [caller(t, front.port), caller(t, front.port)];
  for (const { socket } of callers) socket.write('x');
  await eventually('two are passed on', () => callers.every(({ heard }) => heard() === 'a:x'));
  const third = caller(t, front.port);
  await once(third.socket, 'close');
  callers[0]!.socket.destroy();
  await eventually('there is room for another one', async () => {
    const next = caller(t, front.port);
    next.socket.write('y');
    await Promise.race([once(next.socket, 'data'), once(next.socket, 'close')]);
    return next.heard() === 'a:y';
  });
});

test('connections to a node that does not run the server any more are ended', async (t) => {
  const { front, set } = await fronted(t);
  // A stopped process keeps its connections, and says nothing.
  set((await upstream(t, 'stopped')).at);
  const held = caller(t, front.port);
  held.socket.write('x');
  await eventually('it is passed on', () => held.heard() === 'stopped:x');
  front.endFormer();
  set(undefined);
  front.endFormer();
  const next = (await upstream(t, 'b')).at;
  held.socket.write('y');
  await eventually('it lasts while no other node runs the server', () => held.heard() === 'stopped:xstopped:y');
  set(next);
  front.endFormer();
  await once(held.socket, 'close');
  const again = caller(t, front.port);
  again.socket.write('z');
  await eventually('the next one goes to that node', () => again.heard() === 'b:z');
  front.endFormer();
  again.socket.write('!');
  await eventually('it stays there', () => again.heard() === 'b:zb:!');
});
