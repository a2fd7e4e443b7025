// Runs the suite on the transports: an engine, shards with threads, both HTTP listeners, gRPC. further-targets.test.ts has the rest.
import type { TestServer } from '../support/server.ts';
import type { Target } from './driver.ts';
import { engineTarget, threadsTarget } from './engine-driver.ts';
import { HttpClient } from './http-client.ts';
import { httpTarget } from './http-driver.ts';
import { overGrpc, runSuite, sharedServer } from './suite.ts';

const server = (listener: 'uws' | 'node'): Promise<TestServer> =>
  sharedServer(listener, { http: listener, shards: '4', workers: '1' });

async function overHttp(listener: 'uws' | 'node', partitions: number): Promise<Target> {
  const { http, key } = await server(listener);
  return httpTarget(`HTTP (${listener}), ${partitions} partitions`, new HttpClient(http, key), partitions);
}

/** Each target distinguishes something. Threads with one partition are what gRPC and HTTP with one partition ask. */
runSuite({
  engine: engineTarget,
  'threads, 3 partitions': () => threadsTarget({ shards: 4, workers: 2, partitions: 3 }),
  gRPC: () => overGrpc(server('uws'), 1),
  'HTTP on uWebSockets.js': () => overHttp('uws', 1),
  'HTTP on node:http, 2 partitions': () => overHttp('node', 2),
});
