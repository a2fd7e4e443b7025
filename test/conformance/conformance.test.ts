// Runs the suite on every transport: an engine, shards with threads, both HTTP listeners, gRPC.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { NO_POSTGRES } from '../support/postgres.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { ADD } from './cases/add.ts';
import { CAL } from './cases/cal.ts';
import { CALLERS } from './cases/callers.ts';
import type { Case } from './cases/case.ts';
import { LIST } from './cases/list.ts';
import { RECALL } from './cases/recall.ts';
import { REMOVAL } from './cases/removal.ts';
import { STAGES } from './cases/stages.ts';
import { VERSIONS } from './cases/versions.ts';
import type { Target } from './driver.ts';
import { engineTarget, threadsTarget } from './engine-driver.ts';
import { GrpcClient } from './grpc-client.ts';
import { grpcTarget } from './grpc-driver.ts';
import { HttpClient } from './http-client.ts';
import { httpTarget } from './http-driver.ts';

const CASES: readonly Case[] = [...ADD, ...LIST, ...RECALL, ...STAGES, ...VERSIONS, ...REMOVAL, ...CALLERS, ...CAL];

/** gRPC is served beside either listener. */
const SERVERS = new Map<string, Promise<TestServer>>();
function server(listener: 'uws' | 'node', workers: '0' | '1' = '1'): Promise<TestServer> {
  const name = `${listener} ${workers}`;
  const running = SERVERS.get(name) ?? startTestServer({ http: listener, shards: '4', workers });
  SERVERS.set(name, running);
  return running;
}

async function overHttp(listener: 'uws' | 'node', partitions: number): Promise<Target> {
  const { http, key } = await server(listener);
  return httpTarget(`HTTP (${listener}), ${partitions} partitions`, new HttpClient(http, key), partitions);
}

async function overGrpc(partitions: number, workers: '0' | '1' = '1'): Promise<Target> {
  const { http, grpc, key } = await server(workers === '0' ? 'node' : 'uws', workers);
  const client = GrpcClient.open(grpc, key);
  return grpcTarget(`gRPC, ${workers} workers`, client, new HttpClient(http, key), partitions);
}

/**
 * A node that answers by a copy of the control log, and passes on what that is not enough for. Its data lie in a database,
 * whose shards it shares with the node that owns the log.
 */
async function byCopy(partitions: number): Promise<Target> {
  const running = startTestServer({ shards: '4', workers: '1' }, { throughCopy: true });
  SERVERS.set('copy', running);
  const { http, key } = await running;
  return httpTarget('HTTP, by a copy of the control log', new HttpClient(http, key), partitions);
}

/**
 * Each target distinguishes something. Threads with one partition are what gRPC and HTTP with one partition ask. gRPC asks the
 * same of a database as HTTP.
 */
const TARGETS: Readonly<Record<string, () => Promise<Target>>> = {
  engine: engineTarget,
  'threads, 3 partitions': () => threadsTarget({ shards: 4, workers: 2, partitions: 3 }),
  gRPC: () => overGrpc(1),
  'gRPC without worker threads, 2 partitions': () => overGrpc(2, '0'),
  'HTTP on uWebSockets.js': () => overHttp('uws', 1),
  'HTTP on node:http, 2 partitions': () => overHttp('node', 2),
  ...(NO_POSTGRES === undefined
    ? { 'HTTP, 2 partitions, on PostgreSQL, by a copy of the control log': () => byCopy(2) }
    : {}),
};

after(async () => {
  for (const running of SERVERS.values()) {
    const { errors, close } = await running;
    await close();
    assert.deepEqual(errors, []);
  }
});

// At once, since their memories are independent: writes form groups as in production.
for (const [name, open] of Object.entries(TARGETS))
  describe(name, { concurrency: 8 }, () => {
    let target: Target;
    before(async () => {
      target = await open();
    });
    after(() => target.close());
    for (const { name: what, needs = [], options, run } of CASES)
      test(what, async (t) => {
        const missing = needs.find((feature) => !target.features.has(feature));
        if (missing !== undefined) return t.skip(`there is no "${missing}" here`);
        await run(await target.memory(options), target);
      });
  });
