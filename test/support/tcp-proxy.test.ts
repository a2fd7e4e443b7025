import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { eventually } from './eventually.ts';
import { TcpProxy } from './tcp-proxy.ts';

/** A server that answers each piece with itself, behind a proxy. */
async function echo(t: TestContext) {
  const received: string[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      received.push(String(bytes));
      socket.write(bytes);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const proxy = await TcpProxy.to(t, address.port);
  const open = async () => {
    const socket = connect(proxy.port, '127.0.0.1');
    t.after(() => socket.destroy());
    await once(socket, 'connect');
    let heard = '';
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      heard += bytes;
    });
    return { socket, heard: () => heard };
  };
  return { proxy, open, received };
}

test('a proxy holds everything in a black hole, and passes it in its order afterwards', async (t) => {
  const { proxy, open, received } = await echo(t);
  const { socket, heard } = await open();
  socket.write('a');
  await eventually('it passes', () => heard() === 'a');
  proxy.blackHole();
  for (const piece of ['b', 'c', 'd']) socket.write(piece);
  const other = await open();
  other.socket.write('x');
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.deepEqual([received, heard(), other.heard()], [['a'], 'a', '']);
  proxy.heal();
  await eventually('all has come', () => heard() === 'abcd' && other.heard() === 'x');
  socket.write('e');
  await eventually('it passes again', () => heard() === 'abcde');
});

test('a proxy delays by connection, so that connections overtake one another, and loses or cuts', async (t) => {
  const { proxy, open, received } = await echo(t);
  const times = [120, 0];
  proxy.delay(() => times.shift() ?? 0);
  const slow = await open();
  slow.socket.write('s');
  const quick = await open();
  quick.socket.write('q');
  await eventually('both have come', () => received.length === 2);
  assert.deepEqual(received, ['q', 's']);
  await eventually('both are answered', () => slow.heard() === 's' && quick.heard() === 'q');
  proxy.loseAnswers();
  quick.socket.write('r');
  await eventually('it came', () => received.includes('r'));
  const closed = once(quick.socket, 'close');
  proxy.cut();
  await closed;
  assert.equal(quick.heard(), 'q');
});
