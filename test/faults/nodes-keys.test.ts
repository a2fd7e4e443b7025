// API keys over several nodes: every node knows a new key at once, and none accepts a revoked one, whatever happened to the node that
// keeps the keys.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Database } from '../../src/engine/log/postgres/database.ts';
import { readFleet } from '../../src/engine/log/postgres/fleet.ts';
import { EventClient } from '../support/event-stream.ts';
import { eventually } from '../support/eventually.ts';
import { testDatabase } from '../support/postgres.ts';
import { ask, type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const MASTER = 'c0ffee0123456789'.repeat(4);
const KEY = `gr_${randomBytes(32).toString('hex')}`;
const CONTROL = 64;
const MEMORIES = ['m1', 'm2', 'm3', 'm4', 'm5', 'm6'];

interface Member extends ServerProcess {
  readonly proxy: TcpProxy;
}

/** So many answers in a row are refusals of the key, and they come before so many. */
const LAST = 8;
const ANSWERS_MAX = 200;

async function setUp(t: TestContext) {
  const found = await testDatabase(t);
  if (found === undefined) return undefined;
  const root = temporaryDirectory(t);
  const database = await Database.open(found.url);
  t.after(() => database.close());
  const start = async (name: string): Promise<Member> => {
    const through = new URL(found.url);
    const proxy = await TcpProxy.to(t, Number(through.port));
    through.port = String(proxy.port);
    const server = await startServerProcess({
      directory: join(root, name),
      flags: ['--shards', '4', '--workers', '1', '--node-listen', '127.0.0.1:0', '--store-lease-ms', '3000'],
      env: { GRANARY_STORE: through.href, GRANARY_MASTER_KEY: MASTER, GRANARY_BOOTSTRAP_KEY: KEY },
    });
    t.after(() => server.kill());
    return { ...server, key: KEY, proxy };
  };
  const members = [await start('a'), await start('b'), await start('c')];
  const portOf = (server: Member): number => Number(new URL(server.http).port);
  const ownerOf = async (shard: number): Promise<number | undefined> => {
    const { nodes, shards } = await readFleet(database);
    const held = shards.find((row) => row.shard === shard && row.leaseMs > 0);
    return nodes.find(({ id }) => id === held?.owner)?.httpPort;
  };
  /** The one that has the control log. */
  const leader = async (): Promise<Member | undefined> => {
    const port = await ownerOf(CONTROL);
    return members.find((server) => portOf(server) === port);
  };
  const hasShards = async (server: Member): Promise<boolean> =>
    (await Promise.all([0, 1, 2, 3].map(ownerOf))).includes(portOf(server));
  return { members, leader, hasShards };
}

async function made(server: Member): Promise<{ readonly id: string; readonly key: string }> {
  const { status, body } = await ask(server, 'POST', '/auth/keys', { scopes: ['read', 'write'] });
  assert.ok(status < 300, JSON.stringify(body));
  return { id: body.key_id, key: body.raw_key };
}

const statusBy = async (server: Member, key: string): Promise<number> =>
  (await ask({ http: server.http, key }, 'GET', '/memories/m1/stats')).status;

test('a key is known to every node at once, and a revoked one to none, also while the node that keeps the keys is cut off', async (t) => {
  const set = await setUp(t);
  if (set === undefined) return;
  const { members, leader, hasShards } = set;
  const [a, b, c] = members as [Member, Member, Member];
  for (const id of MEMORIES) assert.equal((await ask(b, 'POST', '/memories', { id })).status, 201);
  await eventually('each node has shards', async () => (await Promise.all(members.map(hasShards))).every(Boolean));
  assert.equal(await leader(), a);

  for (const [maker, revoker] of [
    [b, c],
    [c, a],
    [a, b],
  ] as const) {
    const { id, key } = await made(maker);
    for (const server of members) assert.equal(await statusBy(server, key), 200);
    assert.ok((await ask(revoker, 'DELETE', `/auth/keys/${id}`)).status < 300);
    for (const server of members) assert.equal(await statusBy(server, key), 401);
  }

  // The node that keeps the keys does not reach the database any more; the others reach it, and it reaches them.
  const doomed = await made(b);
  const kept = await made(b);
  const streams = await Promise.all(
    MEMORIES.map((memory) =>
      EventClient.open(`${a.http}/api/memories/${memory}/events`, { authorization: `Bearer ${doomed.key}` }),
    ),
  );
  const add = (server: Member, memory: string, subject: string) =>
    ask(server, 'POST', `/memories/${memory}/add`, {
      grain_type: 'belief',
      fields: { subject, relation: 'is', object: 'new' },
    });
  for (const memory of MEMORIES) assert.ok((await add(b, memory, 'before')).status < 300);
  await eventually('the streams have it', () =>
    streams.every(({ frames }) => frames.some(({ event }) => event !== 'ready')),
  );
  a.proxy.blackHole();
  await eventually('another node keeps the keys', async () => {
    const now = await leader();
    return now !== undefined && now !== a;
  });
  await eventually(
    'it answers',
    async () => (await ask(b, 'GET', '/memories/m1/stats').catch(() => undefined))?.status === 200,
  );
  await eventually('the key is revoked', async () => {
    const answer = await ask(b, 'DELETE', `/auth/keys/${doomed.id}`).catch(() => undefined);
    return answer !== undefined && answer.status < 300;
  });
  const lengths = streams.map(({ frames }) => frames.length);
  // Every memory gets events that a stream of the revoked key must not show.
  await eventually('all memories are written to', async () => {
    const statuses = await Promise.all(
      MEMORIES.map(
        async (memory) => (await add(b, memory, `after ${Math.random()}`).catch(() => undefined))?.status ?? 0,
      ),
    );
    return statuses.every((status) => status > 0 && status < 300);
  });
  // A connection that was passed on before still leads to the node that is cut off. It says so, and closes the connection.
  const statuses: number[] = [];
  const untilMs = performance.now() + 3_000;
  while (performance.now() < untilMs || statuses.slice(-LAST).some((status) => status !== 401)) {
    for (const server of [b, c]) statuses.push(await statusBy(server, doomed.key));
    assert.ok(
      statuses.every((status) => status === 401 || status === 503) && statuses.length < ANSWERS_MAX,
      `${statuses}`,
    );
    const response = await fetch(`${a.http}/api/memories/m1/stats`, {
      headers: { authorization: `Bearer ${doomed.key}` },
    });
    assert.deepEqual([response.status, /STO-E002/.test(await response.text())], [503, true]);
    assert.match(response.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  const shown = streams.map(({ frames }, at) => frames.slice(lengths[at]).filter(({ event }) => event !== 'end'));
  assert.deepEqual(shown.flat(), [], 'a stream of the revoked key shows nothing that came after');

  // It finds out when it reaches the database again.
  a.proxy.heal();
  await eventually('the node passes requests on', async () => (await statusBy(a, doomed.key).catch(() => 0)) === 401);
  assert.equal(await statusBy(a, kept.key), 200);

  // The node that keeps the keys is stopped, and then killed.
  const second = (await leader())!;
  const third = members.find((server) => server !== second && server !== a)!;
  second.child.kill('SIGSTOP');
  await eventually('the key is revoked', async () => {
    const answer = await ask(third, 'DELETE', `/auth/keys/${kept.id}`).catch(() => undefined);
    return answer !== undefined && answer.status < 300;
  });
  const asked = Array.from({ length: 8 }, () => statusBy(second, kept.key).catch(() => 0));
  second.child.kill('SIGCONT');
  for (const status of await Promise.all(asked)) assert.ok([0, 401, 503].includes(status), String(status));
  for (const server of [a, third])
    await eventually('the key is refused', async () => {
      const status = await statusBy(server, kept.key).catch(() => 0);
      assert.ok([0, 401, 503].includes(status), String(status));
      return status === 401;
    });
});
