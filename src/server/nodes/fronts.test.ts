import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { test } from 'node:test';
import { Fronts } from './fronts.ts';

const HOST = '127.0.0.1';

test('ports that cannot all be listened on are given up, and listened on later', async (t) => {
  const other = createServer();
  other.listen(0, HOST);
  await once(other, 'listening');
  t.after(() => other.close());
  const address = other.address();
  assert.ok(typeof address === 'object' && address !== null);
  const config = { host: HOST, httpPort: 0, grpcPort: address.port, singlePort: false };
  const fronts = new Fronts(config, 'a', () => undefined);
  t.after(() => fronts.close());
  const isReached = async (port: number): Promise<boolean> => {
    const socket = connect(port, HOST);
    const reached = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'close').then(() => false),
    ]).catch(() => false);
    socket.destroy();
    return reached;
  };
  await assert.rejects(fronts.listen(), { code: 'EADDRINUSE' });
  assert.equal(await isReached(fronts.ports.http), false);
  other.close();
  await once(other, 'close');
  await fronts.listen();
  assert.deepEqual([await isReached(fronts.ports.http), await isReached(fronts.ports.grpc)], [true, true]);
});
