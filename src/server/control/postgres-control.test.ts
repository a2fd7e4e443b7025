// The control log in PostgreSQL: its records and their keys are one transaction.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { testDatabase } from '../../../test/support/postgres.ts';
import { StepClock } from '../../../test/support/step-clock.ts';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import { MasterKey } from '../../engine/keys/master-key.ts';
import { StagedBuckets } from '../../engine/keys/staged-buckets.ts';
import { Database } from '../../engine/log/postgres/database.ts';
import { migrate } from '../../engine/log/postgres/migrate.ts';
import { openPostgresShard } from '../../engine/log/postgres/postgres-log.ts';
import { CONTROL_KEY } from '../testing/parts.ts';
import { Keys } from './keys.ts';
import { RecordKeys } from './record-keys.ts';
import { ControlStore } from './store.ts';

const CONTROL_SHARD = 8;
const stamp = { formatVersion: 1, shard: CONTROL_SHARD, shards: CONTROL_SHARD };
const MASTER = MasterKey.of(Buffer.alloc(32, 9));
const clock = new StepClock();

test('records and keys of the control log are whole on an empty folder', async (t) => {
  const found = await testDatabase(t);
  if (found === undefined) return;
  const root = temporaryDirectory(t);
  const database = await Database.open(found.url);
  t.after(() => database.close());
  await migrate(database, CONTROL_SHARD);
  let opened = 0;
  const open = async (master = MASTER) => {
    const place = { url: found.url, node: 'a', leaseMs: 60_000 };
    const { log, keySlots } = await openPostgresShard(join(root, String(opened++)), stamp, place);
    const recordKeys = new RecordKeys(new StagedBuckets('control', keySlots), master, CONTROL_KEY);
    return { store: ControlStore.open(log, CONTROL_KEY, clock, recordKeys), recordKeys };
  };
  const slotsIn = async (): Promise<readonly Buffer[]> => {
    const rows = await database.ask((sql) => sql<{ slot: Buffer }[]>`SELECT slot FROM granary_keys ORDER BY id`);
    return rows.map(({ slot }) => slot);
  };

  let { store } = await open();
  const keys = new Keys(store, clock);
  const { key: ann } = await keys.create({ name: 'of ann', scopes: ['read'], userId: 'ann' }, 'system');
  const { key: bob } = await keys.create({ name: 'of bob', scopes: ['read'], userId: 'bob' }, 'system');
  const [first, second] = await slotsIn();
  assert.ok(first !== undefined && second !== undefined);

  // The database refuses keys: then the record stays, and its key.
  await database.ask((sql) => sql`ALTER TABLE granary_keys ADD CONSTRAINT closed CHECK (id < 0) NOT VALID`);
  await assert.rejects(
    store.commit((change) => change.remove('key', ann.keyId)),
    { code: 'STO-E001' },
  );
  assert.equal(store.get('key', ann.keyId)?.userId, 'ann');
  assert.deepEqual(await slotsIn(), [first, second]);
  await database.ask((sql) => sql`ALTER TABLE granary_keys DROP CONSTRAINT closed`);
  await store.commit((change) => change.remove('key', ann.keyId));
  const [buried, kept] = await slotsIn();
  assert.ok(buried?.equals(first) === false && kept?.equals(second) === true);
  await store.close();

  const next = MasterKey.of(Buffer.alloc(32, 8), Buffer.alloc(32, 9));
  store = (await open(next)).store;
  assert.equal(store.get('key', ann.keyId), undefined);
  assert.equal(store.get('key', bob.keyId)?.userId, 'bob');
  assert.equal(await store.rewrapKeys(next), 1);
  assert.ok((await slotsIn())[1]?.equals(second) === false);
  await store.close();
  const last = await open(next.alone());
  assert.equal(last.store.get('key', bob.keyId)?.userId, 'bob');
  assert.deepEqual(
    [1, 2].map((id) => last.recordKeys.isDestroyed(id)),
    [true, false],
  );
  assert.deepEqual((await last.store.verify()).findings, []);
  await last.store.close();
});
