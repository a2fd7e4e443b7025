// Runs the suite on every transport: an engine, shards without and with threads, both HTTP listeners, gRPC.
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
import { directTarget, engineTarget, threadsTarget } from './engine-driver.ts';
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

/** The data lie in a database. */
function storedServer(): Promise<TestServer> {
  const running = SERVERS.get('store') ?? startTestServer({ shards: '4', workers: '1' }, { onPostgres: true });
  SERVERS.set('store', running);
  return running;
}

async function onPostgres(): Promise<Target> {
  const { http, grpc, key } = await storedServer();
  return grpcTarget('gRPC, on PostgreSQL', GrpcClient.open(grpc, key), new HttpClient(http, key), 2);
}

/** A node that answers by a copy of the control log, and passes on what that is not enough for. */
async function byCopy(): Promise<Target> {
  const running = startTestServer({ shards: '4', workers: '1' }, { throughCopy: true });
  SERVERS.set('copy', running);
  const { http, key } = await running;
  return httpTarget('HTTP, by a copy of the control log', new HttpClient(http, key), 1);
}

/** Each target distinguishes something. Threads with one partition are what gRPC and HTTP with one partition ask. */
const TARGETS: Readonly<Record<string, () => Promise<Target>>> = {
  engine: engineTarget,
  'direct shards': () => directTarget({ shards: 4, partitions: 3 }),
  'threads, 4 partitions': () => threadsTarget({ shards: 4, workers: 2, partitions: 4 }),
  gRPC: () => overGrpc(1),
  'gRPC without worker threads, 2 partitions': () => overGrpc(2, '0'),
  'HTTP on uWebSockets.js': () => overHttp('uws', 1),
  'HTTP on node:http, 2 partitions': () => overHttp('node', 2),
  ...(NO_POSTGRES === undefined
    ? { 'gRPC, 2 partitions, on PostgreSQL': onPostgres, 'HTTP, by a copy of the control log': byCopy }
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
