// Faults between a node and its database, under load: callers wait and send again, and in the end every acknowledged write is there,
// once, and every history is one of a single store.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import postgres from 'postgres';
import { CONTROL_SHARD } from '../../src/server/control/open.ts';
import { Callers } from '../crash/nodes/caller.ts';
import { Load } from '../crash/nodes/load.ts';
import { verdictOn } from '../crash/nodes/verdict.ts';
import { eventually } from '../support/eventually.ts';
import { NO_POSTGRES, PostgresInstance } from '../support/postgres.ts';
import { Random } from '../support/random.ts';
import { ask, type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const MASTER = 'c0ffee0123456789'.repeat(4);
/** A connection through a slow network opens within it. */
const LEASE_MS = 4_000;
/** How long nothing passes between node and database. GRANARY_TEST_BLACK_HOLE_SECONDS=60 in the environment makes it a minute. */
const BLACK_HOLE_MS = Number(process.env['GRANARY_TEST_BLACK_HOLE_SECONDS'] ?? 7) * 1_000;
const SLOW_MS = 200;
const SOME = 100;

test('whatever happens between a node and its database, nothing is lost or written twice', {
  skip: NO_POSTGRES,
}, async (t) => {
  const instance = await PostgresInstance.start({ isDurable: true });
  const { url } = await instance.database();
  const proxy = await TcpProxy.to(t, Number(new URL(url).port));
  const through = new URL(url);
  through.port = String(proxy.port);
  const sql = postgres(url, { max: 1, onnotice: () => undefined });
  t.after(() => sql.end({ timeout: 0 }));
  const server = await startServerProcess({
    directory: join(temporaryDirectory(t), 'data'),
    flags: ['--shards', '2', '--workers', '1', '--store-lease-ms', String(LEASE_MS)],
    env: { GRANARY_STORE: through.href, GRANARY_MASTER_KEY: MASTER },
  });
  t.after(() => server.kill());
  const random = new Random(1);
  const callers = new Callers({ key: server.key, addresses: [server.http] }, random);
  t.after(() => callers.end());
  const load = new Load(callers, random);
  await load.start();
  await load.go(SOME);

  await t.test('a slow database: nothing fails', async () => {
    proxy.delay(() => SLOW_MS);
    proxy.cut();
    await load.go(SOME);
    const failures = new Map(callers.failures);
    await load.go(SOME);
    // Reads ask the database nothing.
    assert.equal((await ask(server, 'GET', '/memories/default/stats')).status, 200);
    assert.deepEqual(callers.failures, failures);
  });

  await t.test('connections that overtake one another', async () => {
    proxy.delay(() => random.between(0, 60));
    proxy.cut();
    await load.go(3 * SOME);
    proxy.delay(() => 0);
    proxy.cut();
  });

  await t.test('a black hole for longer than the lease: the node is silent before the lease ends', async (inner) => {
    proxy.blackHole();
    const { answered, afterMs } = await answersAsOwner(server, sql);
    inner.diagnostic(`${answered} reads were answered in a black hole, the last one ${afterMs} ms after it began, with a lease of ${LEASE_MS} ms`); // biome-ignore format: one row
    await refusedBusy(server);
    await pause(BLACK_HOLE_MS);
    assert.equal((await ask(server, 'GET', '/health')).status, 503);
    assert.equal((await ask(server, 'GET', '/health/live')).status, 200);
    proxy.heal();
    await recovers(load);
  });

  await t.test('connections that die in silence while new ones pass: the lease is kept', async () => {
    proxy.forget();
    const untilMs = performance.now() + 3 * LEASE_MS;
    while (performance.now() < untilMs) {
      const { status, body } = await ask(server, 'GET', '/memories/default/stats');
      assert.equal(status, 200, JSON.stringify(body));
      await pause(100);
    }
    await recovers(load);
  });

  await t.test('a database that is restarted while an append is committed whose answer is lost', async (inner) => {
    await lostCommit(inner, { proxy, instance, load, appends: () => appendsOf(sql) });
  });

  await t.test('a database that takes no more connections', async () => {
    const others: postgres.Sql[] = [];
    const fill = async (): Promise<void> => {
      for (;;) {
        const other = postgres(url, { max: 1, max_lifetime: null, onnotice: () => undefined });
        try {
          await other`SELECT 1`;
          others.push(other);
        } catch (error) {
          await other.end({ timeout: 0 });
          assert.equal((error as { readonly code?: string }).code, '53300');
          return;
        }
      }
    };
    await fill();
    // Others have the free places before the node's own connections come.
    proxy.delay(() => 1_000);
    proxy.cut();
    await fill();
    await refusedBusy(server);
    proxy.delay(() => 0);
    await load.go(0);
    await Promise.all(others.map((other) => other.end({ timeout: 1 })));
    proxy.cut();
    await recovers(load);
  });

  await load.end();
  const { problems, ...counts } = await verdictOn(load, callers);
  assert.deepEqual(problems, []);
  assert.deepEqual([counts.lost, counts.twice], [0, 0]);
  t.diagnostic(JSON.stringify(counts));

  // Told to end in a black hole.
  proxy.blackHole();
  const unknown = ask(server, 'POST', '/memories/default/add', { grain_type: 'belief', fields: { subject: 'x', relation: 'is', object: 'y' } }).catch(() => undefined); // biome-ignore format: one row
  await refusedBusy(server);
  const toldMs = performance.now();
  assert.equal(await server.stop(), 0);
  t.diagnostic(`it ended ${Math.round((performance.now() - toldMs) / 1_000)} s after it was told to, in a black hole`);
  await unknown;
  assert.doesNotMatch(server.output(), /abandoned|"problem"/);
});

/** Resolves when a read is refused because the lease has ended, as the contract says. */
async function refusedBusy(server: ServerProcess): Promise<void> {
  await eventually('the lease has ended', async () => {
    const response = await fetch(`${server.http}/api/memories/default/stats`, {
      headers: { authorization: `Bearer ${server.key}` },
    });
    const text = await response.text();
    if (response.status === 200) return false;
    assert.deepEqual(
      [response.status, /STO-E002/.test(text), /^[1-9]\d*$/.test(response.headers.get('retry-after') ?? '')],
      [503, true, true],
      text,
    );
    return true;
  });
}

/** Reads in a black hole until a moment after the node's lease of the control log. It must be refused before another node can have it. */
async function answersAsOwner(
  server: ServerProcess,
  sql: postgres.Sql,
): Promise<{ readonly answered: number; readonly afterMs: number }> {
  const beganMs = performance.now();
  let [answered, late, afterMs] = [0, 0, 0];
  while (late < SOME / 2) {
    // By the database's clock, and before the read is sent.
    const [row] = await sql`SELECT expires_at <= now() AS ended FROM granary_shards WHERE shard = ${CONTROL_SHARD}`;
    const { status, body } = await ask(server, 'GET', '/memories/default/stats');
    if (row?.['ended'] === true) {
      late += 1;
      assert.equal(status, 503, JSON.stringify(body));
    } else if (status === 200) {
      answered += 1;
      afterMs = Math.round(performance.now() - beganMs);
    }
    await pause(10);
  }
  return { answered, afterMs };
}

/** By itself, and for all clients. */
async function recovers(load: Load): Promise<void> {
  await load.go(SOME);
}

async function appendsOf(sql: postgres.Sql): Promise<number> {
  const [row] = await sql`SELECT sum(appends) AS appends FROM granary_shards`;
  return Number(row?.['appends']);
}

async function lostCommit(
  t: TestContext,
  {
    proxy,
    instance,
    load,
    appends,
  }: {
    readonly proxy: TcpProxy;
    readonly instance: PostgresInstance;
    readonly load: Load;
    readonly appends: () => Promise<number>;
  },
): Promise<void> {
  let before: number;
  let committed: number;
  let acknowledged: number;
  for (;;) {
    before = await appends();
    proxy.loseAnswers();
    acknowledged = load.acknowledged;
    // Each shard has one in flight then, and no answer to it.
    await eventually('nothing more is committed', async () => {
      const now = await appends();
      await pause(200);
      return (await appends()) === now;
    });
    committed = await appends();
    if (committed > before) break;
    // Those in flight were committed before they were counted.
    proxy.cut();
    await recovers(load);
  }
  instance.kill();
  await eventually('the database has ended', () => !instance.isRunning);
  instance.restart();
  proxy.cut();
  t.diagnostic(`${committed - before} appends were committed, and ${load.acknowledged - acknowledged} writes acknowledged meanwhile`); // biome-ignore format: one row
  await recovers(load);
}
