// Vectors of memories as callers see them, over both transports: the chosen embedder, the progress, and invalid
// vectors.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { GrpcClient } from './conformance/grpc-client.ts';
import { eventually } from './support/eventually.ts';
import { startTestServer, type TestServer } from './support/server.ts';

const DIMENSIONS = 512;

type Json = Record<string, unknown>;

async function start(t: TestContext, flags: Record<string, string> = {}): Promise<TestServer> {
  const server = await startTestServer({ auth: 'none', embedder: 'ngram', shards: '4', workers: '2', ...flags });
  t.after(() => server.close());
  return server;
}

async function ask(server: TestServer, path: string, body?: string | object): Promise<{ status: number; json: Json }> {
  const answer = await fetch(`${server.http}/api${path}`, {
    ...(body === undefined
      ? {}
      : {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: typeof body === 'string' ? body : JSON.stringify(body),
        }),
  });
  return { status: answer.status, json: (await answer.json()) as Json };
}

async function made(server: TestServer, id: string, more: object): Promise<string> {
  const { status, json } = await ask(server, '/memories', { id, ...more });
  assert.equal(status, 201, JSON.stringify(json));
  assert.equal(json['warnings'], undefined);
  return `/memories/${id}`;
}

async function add(server: TestServer, memory: string, objects: readonly string[]): Promise<void> {
  const grains = objects.map((object, i) => ({
    grain_type: 'belief',
    // Sessions spread the grains over partitions.
    fields: { subject: 'it', relation: 'is', object, session_id: `s${i}` },
  }));
  assert.equal((await ask(server, `${memory}/batch-add`, { grains })).json['total_added'], objects.length);
}

/** Resolves to the stats once nothing waits to be embedded: the follower checks every second. */
async function settled(server: TestServer, memory: string): Promise<Json> {
  let stats: Json = {};
  await eventually('everything is embedded', async () => {
    ({ json: stats } = await ask(server, `${memory}/stats`));
    return stats['index_lag'] === 0;
  });
  return stats;
}

function grpc(t: TestContext, server: TestServer, memory: string): GrpcClient {
  const client = GrpcClient.open(server.grpc, '').with({ 'x-memory-id': memory });
  t.after(() => client.close());
  return client;
}

const WORDS = ['photographers', 'carpentry', 'navigation', 'orchards', 'violins', 'lighthouses'];

for (const partitions of [1, 4])
  test(`stats report vectors and texts still to be embedded (${partitions} partitions)`, async (t) => {
    const server = await start(t);
    const memory = await made(server, 'm', { partitions });
    await add(server, memory, WORDS);
    const first = (await ask(server, `${memory}/stats`)).json;
    assert.equal(Number(first['vectors']) + Number(first['index_lag']), WORDS.length);
    const stats = await settled(server, memory);
    assert.equal(stats['vectors'], WORDS.length);
    const { embedding } = (await ask(server, '/config')).json;
    assert.deepEqual(stats['embedding'], embedding);
    const { backend, dimensions, state } = embedding as Json;
    assert.deepEqual([dimensions, state], [DIMENSIONS, 'ready']);
    assert.match(String(backend), /ngram/);
    const client = grpc(t, server, 'm');
    const reply = await client.call('Stats', {});
    assert.deepEqual([reply.vectors, reply.index_lag], [WORDS.length, 0]);
    const { json } = await ask(server, `${memory}/app/exec`, { command: 'rebuild_indexes', args: {} });
    assert.deepEqual([(json['result'] as Json)['grains_scanned']], [WORDS.length], JSON.stringify(json));
    assert.equal((await settled(server, memory))['vectors'], WORDS.length, 'a rebuild makes them again');
  });

test('each memory has the embedder that it chose, and one that chose none has no vectors', async (t) => {
  const server = await start(t);
  const [grams, none] = [
    await made(server, 'g', { vector_backend: 'ngram' }),
    await made(server, 'n', { vector_backend: 'none' }),
  ];
  for (const memory of [grams, none]) await add(server, memory, WORDS);
  assert.equal((await settled(server, grams))['vectors'], WORDS.length);
  const { vectors, index_lag, embedding } = (await ask(server, `${none}/stats`)).json;
  assert.deepEqual([vectors, index_lag, embedding], [0, 0, { backend: 'none', dimensions: 0, state: 'none' }]);
  const found = async (memory: string): Promise<number> => {
    const { json } = await ask(server, `${memory}/recall`, { query: 'fotographer', limit: 1 });
    assert.deepEqual(json['warnings'], []);
    return (json['results'] as unknown[]).length;
  };
  assert.deepEqual([await found(grams), await found(none)], [1, 0]);
});

test('an invalid query vector is refused by its code, over HTTP and gRPC', async (t) => {
  const server = await start(t);
  const memory = await made(server, 'm', {});
  await add(server, memory, WORDS);
  await settled(server, memory);
  const client = grpc(t, server, 'm');
  const vector = (first: number, length = DIMENSIONS): number[] => [first, ...new Array<number>(length - 1).fill(0)];
  const good = await ask(server, `${memory}/recall`, { query: 'violins', embedding: vector(3) });
  assert.equal(good.status, 200);
  assert.ok((await client.call('Recall', { query: 'violins', embedding: vector(3) })).results.length > 0);
  const bad: Readonly<Record<string, readonly number[]>> = {
    'too short': vector(1, DIMENSIONS - 1),
    'too long': vector(1, DIMENSIONS + 1),
    'of one number': [1],
    'of no direction': vector(0),
    'not a number': vector(Number.NaN),
    infinite: vector(Number.POSITIVE_INFINITY),
    'too large for a 4-byte float': vector(1e200),
  };
  for (const [what, embedding] of Object.entries(bad)) {
    await assert.rejects(client.call('Recall', { query: 'violins', embedding }), { code: 'VAL-E001' }, what);
    // JSON has no such numbers: a number past the largest reads as infinite, and anything else is of another type.
    const text = JSON.stringify({ query: 'violins', embedding }).replace(
      'null',
      what === 'infinite' ? '1e999' : '"NaN"',
    );
    const { status, json } = await ask(server, `${memory}/recall`, text);
    const code = what === 'not a number' ? 'VAL-E003' : 'VAL-E001';
    assert.deepEqual([status, (json['error'] as Json)['code']], [code === 'VAL-E003' ? 422 : 400, code], what);
  }
});
