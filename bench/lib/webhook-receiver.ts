// A receiver of webhooks in a worker thread: answers 204 and counts what came, by hook. `parentPort` asks for the counts.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parentPort } from 'node:worker_threads';

/** For each hook: how many events came, and whether they came in ascending order. */
export interface Received {
  readonly [hook: string]: { count: number; last: number; inOrder: boolean };
}

const received: { [hook: string]: { count: number; last: number; inOrder: boolean } } = {};

const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    const { sequence } = JSON.parse(Buffer.concat(parts).toString('utf8')) as { readonly sequence: number };
    const hook = String(request.headers['x-memory-hook']);
    received[hook] ??= { count: 0, last: 0, inOrder: true };
    const of = received[hook];
    of.count += 1;
    if (sequence <= of.last) of.inOrder = false;
    of.last = sequence;
    response.writeHead(204).end();
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => parentPort?.postMessage({ port: (server.address() as AddressInfo).port }));
parentPort?.on('message', () => parentPort?.postMessage({ received }));
