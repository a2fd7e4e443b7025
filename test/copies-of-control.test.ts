// Any node of a store answers, by its copy of the control log: processes on loopback with a real database.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Client, credentials, Metadata, status } from '@grpc/grpc-js';
import { freePort } from '../bench/lib/peers/child-server.ts';
import { Database } from '../src/engine/log/postgres/database.ts';
import { readFleet } from '../src/engine/log/postgres/fleet.ts';
import { CONTROL_SHARD } from '../src/server/control/open.ts';
import { GrpcClient } from './conformance/grpc-client.ts';
import { answered } from './support/answered.ts';
import { EventClient } from './support/event-stream.ts';
import { eventually } from './support/eventually.ts';
import { testDatabase } from './support/postgres.ts';
import { ask, type ServerProcess, startServerProcess } from './support/server-process.ts';
import { TcpProxy } from './support/tcp-proxy.ts';
import { temporaryDirectory } from './support/temporary.ts';

const MASTER = 'c0ffee0123456789'.repeat(4);
const KEY = `gr_${randomBytes(32).toString('hex')}`;
const LEASE_MS = 6_000;

async function setUp(t: TestContext) {
  const found = await testDatabase(t);
  if (found === undefined) return undefined;
  const root = temporaryDirectory(t);
  const database = await Database.open(found.url);
  t.after(() => database.close());
  const start = async (
    name: string,
    flags: readonly string[] = [],
    nodeListen = '127.0.0.1:0',
  ): Promise<ServerProcess> => {
    const server = await startServerProcess({
      directory: join(root, name),
      flags: ['--shards', '4', '--workers', '1', '--node-listen', nodeListen, '--store-lease-ms', String(LEASE_MS), ...flags], // biome-ignore format: one row
      env: { GRANARY_STORE: found.url, GRANARY_MASTER_KEY: MASTER, GRANARY_BOOTSTRAP_KEY: KEY },
    });
    t.after(() => server.kill());
    return { ...server, key: KEY };
  };
  const fleet = () => readFleet(database);
  const idOf = async (server: ServerProcess): Promise<string> =>
    (await fleet()).nodes.find(({ httpPort }) => httpPort === Number(new URL(server.http).port))!.id;
  const haveShards = (...servers: readonly ServerProcess[]) =>
    eventually('each node has shards', async () => {
      const { shards } = await fleet();
      const owners = new Set(shards.filter(({ shard, leaseMs }) => shard !== CONTROL_SHARD && leaseMs > 0).map(({ owner }) => owner)); // biome-ignore format: one row
      for (const server of servers) if (!owners.has(await idOf(server))) return false;
      return shards.length > 4;
    });
  return { start, fleet, idOf, haveShards };
}

/** A metric without labels, or the sum of those with the given text in their labels. */
async function metric(server: ServerProcess, name: string, labels = ''): Promise<number> {
  const text = await (await fetch(`${server.http}/metrics`, { headers: { authorization: `Bearer ${KEY}` } })).text();
  return text
    .split('\n')
    .filter((line) => line.startsWith(name) && line.includes(labels))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

const copies = (server: ServerProcess) =>
  eventually('the node answers by its copy', async () => (await metric(server, 'granary_control_copy_up')) === 1);

async function asked(server: ServerProcess, verb: string, path: string, json?: unknown, headers = {}) {
  const { status, body } = await ask(server, verb, path, json, headers);
  assert.ok(status < 300, `${verb} ${path}: ${status} ${JSON.stringify(body)}`);
  return body;
}

const belief = (subject: string) => ({ subject, relation: 'likes', object: 'smoked tea' });

test('a node answers by its copy what needs no change of the control log, and passes the rest on', async (t) => {
  const set = await setUp(t);
  if (set === undefined) return;
  const a = await set.start('a');
  const b = await set.start('b');
  await set.haveShards(a, b);
  await copies(b);

  // A memory that is made through a node is there on every node, for a caller that waited.
  for (let i = 0; i < 8; i++) {
    await asked(b, 'POST', '/memories', { id: `m${i}` });
    for (const server of [b, a]) await asked(server, 'POST', `/memories/m${i}/add`, belief(`${server.http} ${i}`));
  }
  const passed = await metric(b, 'granary_requests_passed_total');
  assert.ok(passed >= 8, String(passed));
  const before = await metric(a, 'granary_requests_total', 'operation="add"');
  const own = await metric(b, 'granary_requests_total', 'operation="add"');
  for (let i = 0; i < 8; i++) await asked(b, 'POST', `/memories/m${i}/add`, belief(`by b ${i}`));
  assert.equal(await metric(a, 'granary_requests_total', 'operation="add"'), before, 'the server was not asked');
  assert.equal(await metric(b, 'granary_requests_passed_total'), passed);
  assert.equal(await metric(b, 'granary_requests_total', 'operation="add"'), own + 8);

  // A revoked key is refused by every node when the revocation is answered, whichever was asked.
  for (const server of [a, b]) {
    const made = await asked(server, 'POST', '/auth/keys', { name: 'k', scopes: ['write'] });
    const headers = { authorization: `Bearer ${made.raw_key}` };
    for (const node of [b, a])
      await asked(node, 'POST', '/memories/m1/add', belief(`${made.key_id} ${node.http}`), headers);
    await asked(server, 'DELETE', `/auth/keys/${made.key_id}`);
    for (const node of [b, a]) {
      const { status, code } = await ask(node, 'POST', '/memories/m1/add', belief('late'), headers);
      assert.deepEqual([status, code], [401, 'AUT-E004']);
    }
  }

  const grpc = GrpcClient.open(b.grpc, KEY).with({ 'x-memory-id': 'm2' });
  t.after(() => grpc.close());
  const added = await grpc.call('Add', { grain_type: 'belief', fields_json: JSON.stringify(belief('by grpc')) });
  assert.equal((await grpc.call('Get', { hash: added.hash })).hash, added.hash);
  await assert.rejects(grpc.call('Get', { hash: '0'.repeat(64) }), /MEM-E001/);
  // The server of the deployment answers it.
  await grpc.call('Forget', { hash: added.hash });
  await assert.rejects(grpc.call('Get', { hash: added.hash }), /MEM-E001/);
  assert.equal((await fetch(`${b.http}/health/live`)).status, 200);
  assert.equal((await fetch(`${b.http}/health`)).status, 200);

  // Streams and long bodies go through the node, and changes of several partitions to the server.
  const stream = await EventClient.open(`${b.http}/api/memories/m3/events`, { authorization: `Bearer ${KEY}` });
  t.after(() => stream.close());
  await asked(b, 'POST', '/memories/m3/add', belief('an event'));
  await eventually('the stream has it', () => stream.frames.some(({ event }) => event !== 'ready'));
  const text = `# Notes\n\n${'Ada drinks smoked tea. '.repeat(40_000)}`;
  const form = new FormData();
  form.append('file', new File([text], 'notes.md', { type: 'text/markdown' }));
  const uploaded = await fetch(`${b.http}/api/memories/m4/extract-document`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}` },
    body: form,
  });
  assert.equal(uploaded.status, 200);
  assert.ok((await uploaded.text()).length > 400_000);
  await asked(b, 'POST', '/memories', { id: 'parts', partitions: 2 });
  const known = await metric(a, 'granary_requests_total', 'operation="add"');
  await asked(b, 'POST', '/memories/parts/add', belief('of two partitions'));
  assert.equal(await metric(a, 'granary_requests_total', 'operation="add"'), known + 1);
  const found = await asked(b, 'POST', '/memories/parts/recall', { query: 'partitions', limit: 3 });
  assert.equal(found.count, 1);

  // The server learns which keys are used elsewhere.
  const made = await asked(a, 'POST', '/auth/keys', { name: 'used', scopes: ['read', 'write'] });
  await asked(b, 'POST', '/memories/m5/add', belief('used'), { authorization: `Bearer ${made.raw_key}` });
  await eventually('the use is known', async () => {
    const { keys } = await asked(a, 'GET', '/auth/keys');
    return keys.some(
      (key: { key_id: string; last_used_at?: number }) => key.key_id === made.key_id && key.last_used_at,
    );
  });
});

/** The status of a question for the services of a node by gRPC reflection. */
function reflected(server: ServerProcess): Promise<status> {
  const client = new Client(server.grpc, credentials.createInsecure());
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${KEY}`);
  const asIs = (bytes: Buffer): Buffer => bytes;
  const path = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo';
  const stream = client.makeBidiStreamRequest(path, asIs, asIs, metadata);
  stream.on('data', () => undefined).on('error', () => undefined);
  // Field 7, list_services: any text.
  stream.write(Buffer.from([0x3a, 1, 0x2a]));
  stream.end();
  return new Promise((resolve) =>
    stream.on('status', ({ code }) => {
      client.close();
      resolve(code);
    }),
  );
}

test('a node tells of itself, and shows nothing to a key by a copy that is too old', async (t) => {
  const set = await setUp(t);
  if (set === undefined) return;
  const a = await set.start('a');
  const b = await set.start('b');
  await copies(b);
  const portOf = (address: string): string => address.slice(address.lastIndexOf(':') + 1);
  const grpc = GrpcClient.open(b.grpc, KEY);
  t.after(() => grpc.close());
  const { trailers } = await grpc.ask('Health', {});
  assert.deepEqual(trailers.get('x-http-port'), [portOf(b.http)], 'callers look for HTTP on the host that they asked');
  const config = async () =>
    (await (await fetch(`${b.http}/api/config`)).json()) as { features: { grpc_port: number } };
  assert.equal(String((await config()).features.grpc_port), portOf(b.grpc));
  assert.equal(await reflected(b), status.OK);

  a.child.kill('SIGSTOP');
  const scraped = () => fetch(`${b.http}/metrics`, { headers: { authorization: `Bearer ${KEY}` } });
  let answer = await scraped();
  await eventually('the copy is too old', async () => {
    answer = await scraped();
    return answer.status !== 200;
  });
  // Neither the counters of another node, nor a wait for one.
  assert.match(await answer.text(), /STO-E002.*no other node/);
  assert.equal(answer.status, 503);
  await eventually('the services are not told to a key', async () => (await reflected(b)) === status.UNAVAILABLE);
  assert.equal(String((await config()).features.grpc_port), portOf(b.grpc));
  a.child.kill('SIGCONT');
  await eventually('the node answers again', async () => (await scraped()).status === 200);
});

test('a node takes messages of MCP that are for its own name, and no others', async (t) => {
  const set = await setUp(t);
  if (set === undefined) return;
  const a = await set.start('a', ['--allowed-hosts', 'a.example']);
  const b = await set.start('b', ['--allowed-hosts', 'b.example']);
  await copies(b);
  const message = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  const headers = {
    authorization: `Bearer ${KEY}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const statusOf = (server: ServerProcess, host: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const sent = request(`${server.http}/mcp`, { method: 'POST', headers: { ...headers, host } }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      });
      sent.on('error', reject);
      sent.end(message);
    });
  // The owner of the control log has a name of its own.
  for (const server of [a, b])
    assert.deepEqual(
      [await statusOf(server, 'rebound.example'), await statusOf(server, '127.0.0.1')],
      [403, 200],
      server.http,
    );
  assert.deepEqual([await statusOf(a, 'a.example'), await statusOf(a, 'b.example')], [200, 403]);
  assert.equal(await statusOf(b, 'b.example'), 200);
});

test('requests wait for the node that takes the control log over, also at that node itself', async (t) => {
  const set = await setUp(t);
  if (set === undefined) return;
  const a = await set.start('a');
  const b = await set.start('b', ['--single-port']);
  await set.haveShards(a, b);
  await copies(b);
  await asked(b, 'POST', '/memories', { id: 'before' });
  // They wait for the next owner, unless they leave on a connection whose other end has just gone.
  const killed = a.kill();
  const waiting = Array.from({ length: 8 }, (_, i) =>
    answered('a memory is made', (headers) => ask(b, 'POST', '/memories', { id: `later-${i}` }, headers)),
  );
  const statuses = (await Promise.all(waiting)).map(({ status }) => status);
  assert.deepEqual([...new Set(statuses)], [201], `${statuses}`);
  await killed;
  await eventually('all shards are served', async () => {
    const answers = await Promise.all(statuses.map((_, i) => ask(b, 'POST', `/memories/later-${i}/add`, belief('x'))));
    return answers.every(({ status }) => status < 300);
  });
  assert.equal(await b.stop(), 0);
});

test('a link that breaks under a read or a keyed change costs its caller nothing, and the change is applied once', async (t) => {
  const set = await setUp(t);
  if (set === undefined) return;
  const port = await freePort();
  const proxy = await TcpProxy.to(t, port);
  const a = await set.start('a', ['--advertise', `127.0.0.1:${proxy.port}`], `127.0.0.1:${port}`);
  const b = await set.start('b');
  await set.haveShards(a, b);
  await copies(b);
  const grpc = GrpcClient.open(b.grpc, KEY);
  t.after(() => grpc.close());
  const memories = ['m0', 'm1', 'm2', 'm3'];
  for (const id of memories) await asked(b, 'POST', '/memories', { id });
  const subjects = async (id: string): Promise<string[]> => {
    const { grains } = await asked(a, 'GET', `/memories/${id}/grains?limit=50`);
    return grains.map(({ fields }: { fields: { subject: string } }) => fields.subject).sort();
  };
  /** The answer of `act`, which comes while the answers of node a are lost, and after its connections are cut. */
  const acrossCut = async <T>(act: () => Promise<T>, hasRun: () => Promise<boolean>): Promise<T> => {
    await copies(b);
    const cut = proxy.loseTheirAnswers();
    const answer = act();
    // It may be answered at once: node b has shards of its own.
    answer.catch(() => undefined);
    await eventually('it has run', hasRun);
    cut();
    return answer;
  };
  for (const id of memories) {
    const keyed = { 'idempotency-key': `over http ${id}` };
    const added = await acrossCut(
      () => asked(b, 'POST', `/memories/${id}/add`, belief('http'), keyed),
      async () => (await subjects(id)).includes('http'),
    );
    const again = await asked(b, 'POST', `/memories/${id}/add`, belief('http'), keyed);
    assert.equal(added.blob_hash, again.blob_hash);
    const message = { grain_type: 'belief', fields_json: JSON.stringify(belief('grpc')) };
    const { hash } = await acrossCut(
      () => grpc.call('Add', message, { 'x-memory-id': id, 'idempotency-key': `over grpc ${id}` }),
      async () => (await subjects(id)).includes('grpc'),
    );
    // A read, which leaves nothing that shows that it has run.
    const read = await acrossCut(
      () => asked(b, 'GET', `/memories/${id}/grains/${added.blob_hash}`),
      async () => true,
    );
    assert.equal(read.hash, added.blob_hash);
    assert.equal((await grpc.call('Get', { hash }, { 'x-memory-id': id })).hash, hash);
    assert.deepEqual(await subjects(id), ['grpc', 'http']);
  }

  // The server of the deployment answers these.
  const made = await acrossCut(
    () => asked(b, 'POST', '/memories', { id: 'late' }, { 'idempotency-key': 'a memory' }),
    async () => JSON.stringify(await asked(a, 'GET', '/memories')).includes('"late"'),
  );
  assert.equal(made.id, 'late');
  const list = await acrossCut(
    () => asked(b, 'GET', '/memories'),
    async () => true,
  );
  assert.ok(JSON.stringify(list).includes('"late"'));
  const { blob_hash: hash } = await asked(b, 'POST', '/memories/late/add', belief('to forget'));
  await acrossCut(
    () => grpc.call('Forget', { hash }, { 'x-memory-id': 'late', 'idempotency-key': 'forget' }),
    async () => (await ask(a, 'GET', `/memories/late/grains/${hash}`)).status === 404,
  );
});
