// A port that answers no attempt to connect, as behind a network that drops packets: its queue of connections is full, and its
// thread never takes one.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { Worker } from 'node:worker_threads';

const HOST = '127.0.0.1';
/** More connections than the queue of the system takes. */
const FILLING = 8;
/** After so long, an attempt that was not answered waits for an answer that does not come. */
const UNANSWERED_MS = 300;

const LISTENER = `
const { createServer } = require('node:net');
const { parentPort } = require('node:worker_threads');
const server = createServer();
server.listen({ port: 0, host: '${HOST}', backlog: 1 }, () => {
  parentPort.postMessage(server.address().port);
  // After the message was sent; nothing in this thread runs any more.
  setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
});
`;

/** Undefined where the system answers nevertheless: the test is marked as skipped. */
export async function deafPort(t: TestContext): Promise<number | undefined> {
  const worker = new Worker(LISTENER, { eval: true });
  t.after(() => worker.terminate());
  const [port] = (await once(worker, 'message')) as [number];
  for (let filled = 0; filled < FILLING; filled++) {
    const socket = connect(port, HOST);
    socket.on('error', () => undefined);
    t.after(() => socket.destroy());
    if (!(await isAnswered(socket))) return port;
  }
  t.skip('this system answers connections that nobody takes');
  return undefined;
}

function isAnswered(socket: Socket): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), UNANSWERED_MS);
    const settle = (): void => {
      clearTimeout(timer);
      resolve(true);
    };
    socket.once('connect', settle).once('error', settle);
  });
}
