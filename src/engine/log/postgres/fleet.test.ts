import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testDatabase } from '../../../../test/support/postgres.ts';
import { Database } from './database.ts';
import { drainNode, enterNode, leaveFleet, readFleet, seeNode } from './fleet.ts';
import { Lease } from './lease.ts';
import { migrate } from './migrate.ts';
import { SCHEMA_STEPS, SCHEMA_VERSION } from './schema.ts';

test('nodes are entered, seen, drained and removed, and shards have owners while leases last', async (t) => {
  const found = await testDatabase(t);
  if (found === undefined) return;
  const database = await Database.open(found.url);
  t.after(() => database.close());
  await migrate(database, 4);
  assert.deepEqual(await readFleet(database), { nodes: [], shards: [] });
  const entry = {
    id: 'a',
    address: '10.0.0.1:7700',
    httpPort: 8080,
    grpcPort: 50_051,
    version: '0.1.0',
    protocol: 1,
    weight: 1,
  };
  await enterNode(database, entry);
  await enterNode(database, { ...entry, id: 'b', address: '10.0.0.2:7700', weight: 2 });
  assert.equal(await drainNode(database, 'b', true), true);
  const flags = async () =>
    (await readFleet(database)).nodes.map(({ id, weight, isDraining }) => [id, weight, isDraining]);
  assert.deepEqual(await flags(), [['a', 1, false], ['b', 2, true]]); // biome-ignore format: one row
  // A node that starts again takes shards again.
  await enterNode(database, { ...entry, id: 'b', weight: 3 });
  assert.deepEqual(await flags(), [['a', 1, false], ['b', 3, false]]); // biome-ignore format: one row

  await database.ask((sql) => sql`UPDATE granary_nodes SET seen_at = now() - interval '1 minute'`);
  const copies = { controlMs: null, shardsMs: { 2: 700 } };
  assert.equal(await seeNode(database, 'a', copies), true);
  const [a, b] = (await readFleet(database)).nodes;
  assert.ok(a!.seenMs < 50_000 && b!.seenMs >= 60_000, `${a!.seenMs} and ${b!.seenMs}`);
  assert.deepEqual([a!.copies, b!.copies], [copies, undefined]);
  assert.deepEqual([a!.address, a!.httpPort, a!.grpcPort], ['10.0.0.1:7700', 8080, 50_051]);
  await leaveFleet(database, 'b');
  assert.deepEqual([await seeNode(database, 'b', copies), await drainNode(database, 'b', true)], [false, false]);

  const lease = await Lease.take(database, {
    stamp: { formatVersion: 1, shard: 2, shards: 4 },
    node: 'a',
    leaseMs: 60_000,
  });
  const shards = async () => (await readFleet(database)).shards.map(({ shard, owner, token }) => [shard, owner, token]);
  assert.deepEqual(await shards(), [[2, 'a', 1]]);
  const [held] = (await readFleet(database)).shards;
  assert.ok(held!.leaseMs > 10_000 && held!.leaseMs <= 60_000, String(held!.leaseMs));
  const { heldMs = Number.NaN } = held!;
  assert.ok(heldMs >= 0 && heldMs < 50_000, String(heldMs));
  await database.ask((sql) => sql`UPDATE granary_owners SET taken_at = now() - interval '1 hour'`);
  assert.ok((await readFleet(database)).shards[0]!.heldMs! >= 3_600_000);
  await database.ask((sql) => sql`UPDATE granary_owners SET taken_at = NULL`);
  assert.equal((await readFleet(database)).shards[0]!.heldMs, undefined);
  await database.ask((sql) => sql`UPDATE granary_shards SET expires_at = now()`);
  assert.deepEqual(await shards(), [[2, 'a', 1]]);
  assert.equal((await readFleet(database)).shards[0]?.leaseMs, 0);
  await lease.release();
  assert.deepEqual(await shards(), [[2, undefined, 1]]);
});

test('tables of version 1 get the table of nodes', async (t) => {
  const found = await testDatabase(t);
  if (found === undefined) return;
  const database = await Database.open(found.url);
  t.after(() => database.close());
  await database.ask(async (sql) => {
    for (const statement of SCHEMA_STEPS[0]!) await sql.unsafe(statement);
    await sql`INSERT INTO granary_store VALUES (1, 1, 'mark'::bytea, 4)`;
  });
  assert.equal(await migrate(database, 4), 1);
  await enterNode(database, {
    id: 'a',
    address: 'a:1',
    httpPort: 1,
    grpcPort: 2,
    version: '0.1.0',
    protocol: 1,
    weight: 1,
  });
  assert.equal((await readFleet(database)).nodes.length, 1);
  assert.equal(await migrate(database, 4), SCHEMA_VERSION);
});
