// Several nodes of one store, as their users see them: processes on loopback over HTTP and gRPC.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Database } from '../src/engine/log/postgres/database.ts';
import { type Fleet, readFleet } from '../src/engine/log/postgres/fleet.ts';
import { GrpcClient } from './conformance/grpc-client.ts';
import { granary } from './support/cli.ts';
import { eventually } from './support/eventually.ts';
import { testDatabase } from './support/postgres.ts';
import { ask, type ServerProcess, startServerProcess } from './support/server-process.ts';
import { temporaryDirectory } from './support/temporary.ts';

const MASTER = 'c0ffee0123456789'.repeat(4);
const KEY = `gr_${randomBytes(32).toString('hex')}`;
const SHARDS = 4;
const LEASE_MS = 4_000;
const CONTROL = 64;

async function setUp(t: TestContext) {
  const found = await testDatabase(t);
  if (found === undefined) return undefined;
  const root = temporaryDirectory(t);
  const database = await Database.open(found.url);
  const start = async (name: string): Promise<ServerProcess> => {
    const server = await startServerProcess({
      directory: join(root, name),
      flags: ['--shards', String(SHARDS), '--workers', '1', '--node-listen', '127.0.0.1:0', '--store-lease-ms', String(LEASE_MS)], // biome-ignore format: one row
      env: { GRANARY_STORE: found.url, GRANARY_MASTER_KEY: MASTER, GRANARY_BOOTSTRAP_KEY: KEY },
    });
    t.after(() => server.kill());
    return { ...server, key: KEY };
  };
  t.after(() => database.close());
  const fleet = (): Promise<Fleet> => readFleet(database);
  /** The shards of each node, by the HTTP port that it answers at. */
  const shares = async (): Promise<Map<number, number>> => {
    const { nodes, shards } = await fleet();
    return new Map(
      nodes.map(({ id, httpPort }) => [
        httpPort,
        shards.filter(({ shard, owner, leaseMs }) => shard !== CONTROL && owner === id && leaseMs > 0).length,
      ]),
    );
  };
  const shareOf = async (server: ServerProcess): Promise<number> =>
    (await shares()).get(Number(new URL(server.http).port)) ?? 0;
  return { url: found.url, start, fleet, shareOf };
}

async function asked(server: ServerProcess, verb: string, path: string, json?: unknown) {
  const { status, body } = await ask(server, verb, path, json);
  assert.ok(status < 300, `${verb} ${path}: ${status} ${JSON.stringify(body)}`);
  return body;
}

const belief = (subject: string) => ({
  grain_type: 'belief',
  fields: { subject, relation: 'likes', object: 'smoked tea' },
});

test('any node answers for any memory, shards move without a failed request, and others take over from a killed node', async (t) => {
  const set = await setUp(t);
  if (set === undefined) return;
  const { url, start, fleet, shareOf } = set;
  const a = await start('a');
  const memories = ['default', 'm1', 'm2', 'm3', 'm4', 'm5'];
  for (const id of memories.slice(1)) await asked(a, 'POST', '/memories', { id });
  const b = await start('b');
  const c = await start('c');
  await eventually('each node has shards', async () => (await shareOf(a)) > 0 && (await shareOf(b)) > 0 && (await shareOf(c)) > 0); // biome-ignore format: one row

  const added: { readonly memory: string; readonly hash: string }[] = [];
  let count = 0;
  let isOver = false;
  let mayFail = false;
  let failed = 0;
  const load = async (server: ServerProcess): Promise<void> => {
    while (!isOver) {
      const memory = memories[count % memories.length]!;
      try {
        const { status, body } = await ask(server, 'POST', `/memories/${memory}/add`, belief(`s${count++}`));
        if (status < 300) added.push({ memory, hash: body.blob_hash });
        else {
          failed += 1;
          if (!mayFail) assert.fail(`${status} ${JSON.stringify(body)}`);
          assert.ok(status === 503 || status === 504, `${status} ${JSON.stringify(body)}`);
        }
      } catch (error) {
        if (!mayFail || error instanceof assert.AssertionError) throw error;
        failed += 1;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  };
  const loads = [load(a), load(b), load(c)];
  const goOn = async (): Promise<void> => {
    const before = added.length;
    await eventually('requests are answered', () => added.length > before + 30);
  };
  await goOn();
  // The same over gRPC, by each node.
  for (const [at, server] of [a, b, c].entries())
    for (const memory of memories) {
      const grpc = GrpcClient.open(server.grpc, KEY).with({ 'x-memory-id': memory });
      const message = await grpc.call('Add', {
        grain_type: 'belief',
        fields_json: JSON.stringify(belief(`g${at}`).fields),
      });
      added.push({ memory, hash: message.hash });
      grpc.close();
    }
  // A planned hand-over of all shards of a node that does not run the server.
  const idOf = async (server: ServerProcess): Promise<string> =>
    (await fleet()).nodes.find(({ httpPort }) => httpPort === Number(new URL(server.http).port))!.id;
  const command = async (...words: readonly string[]) => {
    const { code, stdout, stderr } = await granary([...words, '--json'], { env: { GRANARY_STORE: url } });
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout);
  };
  // Nodes tell how far their copies are when they say that they live.
  await eventually(
    'all nodes have told of their copies',
    async () =>
    (await fleet()).nodes.every(({ copies }) => copies !== undefined && (copies.controlMs !== null || Object.keys(copies.shardsMs).length > 0)), // biome-ignore format: one row
  );
  const listed = (await command('nodes')).nodes as readonly {
    readonly segments_not_uploaded: number;
    readonly runs_server: boolean;
    readonly shards: number[];
    readonly control_copy_lag_seconds: number | null;
    readonly leases: readonly Record<string, number | null>[];
  }[];
  assert.deepEqual(listed.flatMap(({ shards }) => shards).sort(), [0, 1, 2, 3]);
  assert.equal(listed.filter((node) => node.runs_server).length, 1);
  for (const { segments_not_uploaded: count } of listed) assert.ok(Number.isInteger(count) && count >= 0);
  for (const { runs_server, control_copy_lag_seconds: lag } of listed)
    assert.ok(runs_server ? lag === null : lag !== null && lag >= 0, `the copy of the control log lags by ${lag} s`);
  const leases = listed.flatMap((node) => node.leases);
  assert.deepEqual(leases.map(({ shard }) => shard).sort(), [0, 1, 2, 3, null]);
  for (const { shard, lease_seconds: rest, held_seconds: held, copy_lag_seconds: lag } of leases) {
    assert.ok(rest !== null && rest! > 0 && held !== null && held! >= 0, JSON.stringify({ shard, rest, held }));
    assert.ok(shard === null ? lag === null : lag !== null && lag! >= 0, `the copy of shard ${shard} lags by ${lag} s`);
  }
  const metrics = await (await fetch(`${c.http}/metrics`, { headers: { authorization: `Bearer ${KEY}` } })).text();
  assert.equal(metrics.match(/^granary_node_up\{node="[^"]+"\} 1$/gm)?.length, 3, 'any node tells of all nodes');
  assert.equal(metrics.match(/^granary_shard_lease_seconds\{/gm)?.length, SHARDS);
  assert.match(metrics, /^granary_unowned_shards 0$/m);
  const none = await granary(['node', 'drain', 'nobody'], { env: { GRANARY_STORE: url } });
  assert.deepEqual([none.code, /no node nobody/.test(none.stderr)], [2, true]);

  await command('node', 'drain', await idOf(b));
  await eventually('the drained node has no shard', async () => (await shareOf(b)) === 0);
  await goOn();
  await command('node', 'resume', await idOf(b));
  await eventually('it has shards again', async () => (await shareOf(b)) > 0);
  await goOn();
  assert.equal(failed, 0);
  t.diagnostic(`${added.length} added while shards moved, 0 failed`);

  mayFail = true;
  const killed = performance.now();
  await b.kill();
  await eventually('the others have its shards', async () => (await shareOf(a)) + (await shareOf(c)) === SHARDS);
  const isServed = async (memory: string): Promise<boolean> =>
    (await ask(a, 'GET', `/memories/${memory}/grains/${added.find((one) => one.memory === memory)!.hash}`)).status ===
    200;
  await eventually('all memories are served', async () => (await Promise.all(memories.map(isServed))).every(Boolean));
  const tookMs = performance.now() - killed;
  t.diagnostic(
    `all memories were served ${Math.round(tookMs)} ms after a node was killed, with a lease of ${LEASE_MS} ms`,
  );
  isOver = true;
  await Promise.allSettled(loads);
  for (const server of [a, c]) {
    for (const { memory, hash } of added) {
      const { status } = await ask(server, 'GET', `/memories/${memory}/grains/${hash}`);
      assert.equal(status, 200, `${memory} ${hash}`);
    }
  }
  t.diagnostic(`${added.length} acknowledged, 0 lost`);

  // The node that runs the server ends: the other one runs it.
  await a.kill();
  await eventually('the other node answers for all memories', async () => {
    const answers = memories.map((id) => ask(c, 'POST', `/memories/${id}/add`, belief('after')).catch(() => undefined));
    return (await Promise.all(answers)).every((answer) => answer !== undefined && answer.status < 300);
  });
  // A change of the control log needs the node that runs the server.
  assert.equal((await ask(c, 'POST', '/memories', { id: 'later' })).status, 201);
  for (const { memory, hash } of added.slice(-20))
    assert.equal((await ask(c, 'GET', `/memories/${memory}/grains/${hash}`)).status, 200);
  assert.equal(await c.stop(), 0);
});
