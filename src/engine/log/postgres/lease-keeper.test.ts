import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { eventually } from '../../../../test/support/eventually.ts';
import { testDatabase } from '../../../../test/support/postgres.ts';
import { FORMAT_VERSION } from '../format.ts';
import { Database } from './database.ts';
import { Lease } from './lease.ts';
import { LeaseKeeper } from './lease-keeper.ts';
import { LeaseTable } from './lease-table.ts';
import { migrate } from './migrate.ts';

const LEASE_MS = 3_000;
const stamp = { shard: 0, shards: 1, formatVersion: FORMAT_VERSION };

async function setUp(t: TestContext) {
  const found = await testDatabase(t);
  if (found === undefined) return undefined;
  const database = await Database.open(found.url);
  t.after(() => database.close());
  await migrate(database, 1);
  const table = LeaseTable.of(1);
  const take = (node = 'a', leaseMs = LEASE_MS) =>
    Lease.take(database, { stamp, node, leaseMs, leases: table.buffer, isKept: true });
  const restMs = async (): Promise<number> => {
    const [row] = await database.ask(
      (sql) => sql`SELECT extract(epoch FROM expires_at - now()) * 1000 AS rest FROM granary_shards WHERE shard = 0`,
    );
    return Number(row?.['rest']);
  };
  return { database, table, take, restMs };
}

test('an owner learns from the keeper that another node has its shard', async (t) => {
  const set = await setUp(t);
  if (set === undefined) return;
  const { database, table, take } = set;
  const lease = await take();
  const keeper = new LeaseKeeper({ database, table, node: 'a', leaseMs: 300 });
  t.after(() => keeper.stop());
  await database.ask((sql) => sql`UPDATE granary_shards SET owner = 'b', token = token + 1 WHERE shard = 0`);
  await eventually('it has lost it', () => lease.isLost);
  assert.match(lease.lapsed ?? '', /taken by another node/);
  assert.equal(table.isSpoiled(0), true);
});

test('the lease of a thread that says nothing any more is left to its end', async (t) => {
  const set = await setUp(t);
  if (set === undefined) return;
  const { database, table, take, restMs } = set;
  const lease = await take();
  const keeper = new LeaseKeeper({ database, table, node: 'a', leaseMs: LEASE_MS, silentMs: -1 });
  t.after(() => keeper.stop());
  await eventually('it has ended', async () => (await restMs()) <= 0);
  assert.match(lease.lapsed ?? '', /did not renew it/);
});
