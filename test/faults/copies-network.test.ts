// Copies of the control log when the network between two nodes is away, and when a node is stopped: a revoked key is refused by
// every node once the revocation is answered.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Database } from '../../src/engine/log/postgres/database.ts';
import { readFleet } from '../../src/engine/log/postgres/fleet.ts';
import { eventually } from '../support/eventually.ts';
import { testDatabase } from '../support/postgres.ts';
import { ask, type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const MASTER = 'c0ffee0123456789'.repeat(4);
const KEY = `gr_${randomBytes(32).toString('hex')}`;
const SHARDS = 4;
/** Any two of the shards hold some of them. */
const MEMORIES = ['m0', 'm1', 'm2', 'm3', 'm4', 'm5'];
/** An answer that does not come by then is none. */
const PATIENCE_MS = 1_500;

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Node a has the control log; b reaches it through the proxy. Each has half of the other shards. */
async function setUp(t: TestContext) {
  const found = await testDatabase(t);
  if (found === undefined) return undefined;
  const root = temporaryDirectory(t);
  const start = async (name: string, flags: readonly string[]): Promise<ServerProcess> => {
    const server = await startServerProcess({
      directory: join(root, name),
      flags: ['--shards', String(SHARDS), '--workers', '1', '--store-lease-ms', '20000', ...flags],
      env: { GRANARY_STORE: found.url, GRANARY_MASTER_KEY: MASTER, GRANARY_BOOTSTRAP_KEY: KEY },
    });
    t.after(() => server.kill());
    return { ...server, key: KEY };
  };
  const port = await freePort();
  const proxy = await TcpProxy.to(t, port);
  const a = await start('a', ['--node-listen', `127.0.0.1:${port}`, '--advertise', `127.0.0.1:${proxy.port}`]);
  for (const id of MEMORIES) assert.equal((await ask(a, 'POST', '/memories', { id })).status, 201);
  const b = await start('b', ['--node-listen', '127.0.0.1:0']);
  const database = await Database.open(found.url);
  await eventually('the shards are spread', async () => {
    const { nodes, shards } = await readFleet(database);
    const ofB = nodes.find(({ httpPort }) => httpPort === Number(new URL(b.http).port))?.id;
    return shards.filter(({ owner, leaseMs }) => owner === ofB && leaseMs > 0).length === SHARDS / 2;
  });
  await database.close();
  return { a, b, proxy };
}

async function made(server: ServerProcess): Promise<{ readonly id: string; readonly key: string }> {
  const { status, body } = await ask(server, 'POST', '/auth/keys', { scopes: ['read', 'write'] });
  assert.ok(status < 300, JSON.stringify(body));
  return { id: body.key_id, key: body.raw_key };
}

/** The status of an add by this key, 0 without an answer. */
async function add(server: ServerProcess, key: string, memory: string): Promise<number> {
  try {
    const response = await fetch(`${server.http}/api/memories/${memory}/add`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ subject: memory, relation: 'is', object: randomBytes(6).toString('hex') }),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return 0;
  }
}

const addAll = (server: ServerProcess, key: string) => Promise.all(MEMORIES.map((memory) => add(server, key, memory)));

const isGood = (status: number): boolean => status >= 200 && status < 300;

test('a revoked key is refused by a node that is cut off from the one that keeps the keys', async (t) => {
  const set = await setUp(t);
  if (set === undefined) return;
  const { a, b, proxy } = set;
  const doomed = await made(b);
  await eventually('both nodes take the key', async () => {
    const statuses = [...(await addAll(a, doomed.key)), ...(await addAll(b, doomed.key))];
    return statuses.every(isGood);
  });
  /** When each add was sent that was answered. */
  const sent: number[] = [];
  let isOver = false;
  const adding = MEMORIES.map(async (memory) => {
    while (!isOver) {
      const atMs = performance.now();
      if (isGood(await add(b, doomed.key, memory))) sent.push(atMs);
    }
  });
  await eventually('adds are answered', () => sent.length > 2 * MEMORIES.length);
  proxy.blackHole();
  const from = performance.now();
  const revoked = await ask(a, 'DELETE', `/auth/keys/${doomed.id}`);
  const answeredMs = performance.now();
  assert.ok(isGood(revoked.status), JSON.stringify(revoked.body));
  await new Promise((resolve) => setTimeout(resolve, PATIENCE_MS));
  isOver = true;
  await Promise.all(adding);
  const early = sent.filter((atMs) => atMs > from).length;
  assert.ok(early > 0, 'the copy was fresh, and node b has shards of its own');
  assert.deepEqual(
    sent.filter((atMs) => atMs > answeredMs),
    [],
    'adds that were sent after the revocation was answered',
  );
  for (let round = 0; round < 2; round++) {
    assert.deepEqual(
      (await addAll(a, doomed.key)).filter((status) => status !== 401),
      [],
    );
    assert.deepEqual((await addAll(b, doomed.key)).filter(isGood), [], 'nothing by the old copy');
    assert.deepEqual((await addAll(b, KEY)).filter(isGood), [], 'nor for a key that is live');
  }
  t.diagnostic(`revoked in ${(answeredMs - from).toFixed(0)} ms, with ${early} adds by the key in that time`);
  proxy.heal();
  await eventually('the node answers again', async () => (await addAll(b, KEY)).every(isGood));
  assert.deepEqual(
    (await addAll(b, doomed.key)).filter((status) => status !== 401),
    [],
  );
});

test('a node that was stopped answers nothing by the copy that it had', async (t) => {
  const set = await setUp(t);
  if (set === undefined) return;
  const { a, b } = set;
  for (let round = 0; round < 2; round++) {
    const doomed = await made(a);
    await eventually('both nodes take the key', async () => (await addAll(b, doomed.key)).every(isGood));
    b.child.kill('SIGSTOP');
    const revoked = await ask(a, 'DELETE', `/auth/keys/${doomed.id}`);
    assert.ok(isGood(revoked.status), JSON.stringify(revoked.body));
    // They wait in the stopped node, with connections that it has and with new ones.
    const waiting = [addAll(b, doomed.key), addAll(b, doomed.key)];
    await new Promise((resolve) => setTimeout(resolve, 100));
    b.child.kill('SIGCONT');
    const late = (await Promise.all(waiting)).flat();
    assert.deepEqual(late.filter(isGood), [], `${late}`);
    await eventually('the node answers again', async () => (await addAll(b, KEY)).every(isGood));
    assert.deepEqual(
      (await addAll(b, doomed.key)).filter((status) => status !== 401),
      [],
    );
  }
});
