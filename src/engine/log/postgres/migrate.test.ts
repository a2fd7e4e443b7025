import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testDatabase } from '../../../../test/support/postgres.ts';
import { EngineError } from '../../base/errors.ts';
import { Database } from './database.ts';
import { Lease } from './lease.ts';
import { migrate, openStore } from './migrate.ts';
import { SCHEMA_SERVES_FROM, SCHEMA_STEPS, SCHEMA_VERSION } from './schema.ts';
import { StoredFiles } from './stored-files.ts';

test('tables are made once, and those of another version are refused', async (t) => {
  const found = await testDatabase(t);
  if (found === undefined) return;
  const database = await Database.open(found.url);
  t.after(() => database.close());
  await assert.rejects(openStore(database), { code: 'STO-E001', message: /holds no store/ });
  assert.equal(await migrate(database, 8), 0);
  const store = await openStore(database);
  assert.deepEqual([store.version, store.shards, store.mark.length], [SCHEMA_VERSION, 8, 32]);
  assert.equal(await migrate(database, 4), SCHEMA_VERSION);
  assert.deepEqual(await openStore(database), store);

  const setVersion = (version: number) => database.ask((sql) => sql`UPDATE granary_store SET version = ${version}`);
  await setVersion(SCHEMA_VERSION + 1);
  await assert.rejects(migrate(database, 8), { code: 'STO-E001', message: /made by a newer version of this server/ });
  // Tables of a later version that only adds something.
  const serving = (from: number) => database.ask((sql) => sql`UPDATE granary_store SET serves_from = ${from}`);
  await serving(SCHEMA_VERSION);
  assert.equal((await openStore(database)).version, SCHEMA_VERSION + 1);
  await serving(SCHEMA_VERSION + 1);
  await assert.rejects(openStore(database), { code: 'STO-E001', message: /made by a newer version of this server/ });
  await setVersion(SCHEMA_SERVES_FROM - 1);
  await assert.rejects(openStore(database), { code: 'STO-E001', message: /run granary store migrate first/ });
  const stamp = { formatVersion: 1, shard: 0, shards: 8 };
  const lease = await Lease.take(database, { stamp, node: 'one', leaseMs: 60_000 });
  await assert.rejects(migrate(database, 8), { code: 'STO-E001', message: /node one serves shard 0.*stop all nodes/ });
  await lease.release();
});

test('a shard of another format or number of shards is refused, and nobody holds it then', async (t) => {
  const found = await testDatabase(t);
  if (found === undefined) return;
  const database = await Database.open(found.url);
  t.after(() => database.close());
  await migrate(database, 8);
  const take = (formatVersion: number, shards: number) =>
    Lease.take(database, { stamp: { formatVersion, shard: 0, shards }, node: 'one', leaseMs: 60_000 });
  await (await take(2, 8)).release();
  await assert.rejects(take(2, 4), { code: 'STO-E001', message: /of 8 shards, not 4/ });
  await assert.rejects(take(1, 8), { code: 'STO-E001', message: /format version 2, this server reads version 1/ });
  const [row] = await database.ask((sql) => sql`SELECT owner, token FROM granary_shards`);
  assert.deepEqual({ ...row }, { owner: null, token: '1' });
});

test('wrong credentials and an address where nothing listens are told without the password', async (t) => {
  const found = await testDatabase(t);
  if (found === undefined) return;
  const wrong = new URL(found.url);
  wrong.password = 'not-the-password';
  const closed = new URL(found.url);
  closed.port = '1';
  for (const [url, reason] of [
    [wrong, /authentication failed/],
    [closed, /ECONNREFUSED/],
  ] as const) {
    const database = await Database.open(url.href);
    t.after(() => database.close());
    await assert.rejects(openStore(database), (error) => {
      assert.ok(error instanceof EngineError && error.code === 'STO-E001');
      assert.match(error.message, reason);
      assert.ok(!error.message.includes(url.password));
      return true;
    });
  }
});

test('tables of each earlier version are brought to this one, with what they hold', async (t) => {
  for (let version = 1; version < SCHEMA_VERSION; version++) {
    const found = await testDatabase(t);
    if (found === undefined) return;
    const database = await Database.open(found.url);
    t.after(() => database.close());
    for (const statement of SCHEMA_STEPS.slice(0, version).flat()) await database.ask((sql) => sql.unsafe(statement));
    await database.ask((sql) => sql`INSERT INTO granary_store VALUES (1, ${version}, ${Buffer.alloc(16, 1)}, 1)`);
    await database.ask((sql) => sql`INSERT INTO granary_records VALUES (0, 1, ${Buffer.from('kept')})`);
    assert.equal(await migrate(database, 4), version);
    assert.deepEqual(await openStore(database), {
      version: SCHEMA_VERSION,
      servesFrom: SCHEMA_SERVES_FROM,
      mark: '01'.repeat(16),
      shards: 1,
      hasKeyStore: false,
    });
    const [row] = await database.ask((sql) => sql`SELECT frame FROM granary_records`);
    assert.equal(String(row?.['frame']), 'kept');
    const files = new StoredFiles(database, { shard: 0, token: 1 });
    assert.deepEqual(await files.list(), []);
  }
});
