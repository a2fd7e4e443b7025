// A shard whose truth lies in PostgreSQL, by the calls of its engine.
import assert from 'node:assert/strict';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Engine } from '../src/engine/engine.ts';
import { SLOT_BYTES } from '../src/engine/keys/slot.ts';
import { Database } from '../src/engine/log/postgres/database.ts';
import { migrate } from '../src/engine/log/postgres/migrate.ts';
import { savedState, testDatabase } from './support/postgres.ts';
import { addBelief, codeOf, contextOf, openShard, recalled, settingsOf, until } from './support/shard.ts';
import { temporaryDirectory } from './support/temporary.ts';

const context = contextOf(1);
const LEASE_MS = 60_000;
const MASTER = Buffer.alloc(32, 7);

interface Place {
  readonly root: string;
  readonly database: Database;
  open(node?: string, masterKeys?: readonly Uint8Array[]): Promise<Engine>;
}

async function placeOf(t: TestContext): Promise<Place | undefined> {
  const found = await testDatabase(t);
  if (found === undefined) return undefined;
  const root = temporaryDirectory(t);
  const database = await Database.open(found.url);
  t.after(() => database.close());
  await migrate(database, 1);
  return {
    root,
    database,
    open: (node = 'a', masterKeys = [MASTER]) =>
      openShard(join(root, node), { masterKeys, database: { url: found.url, node, leaseMs: LEASE_MS } }),
  };
}

/** Every slot in the database, by key id. */
async function slotsIn({ database }: Place): Promise<readonly Buffer[]> {
  const rows = await database.ask((sql) => sql<{ slot: Buffer }[]>`SELECT slot FROM granary_keys ORDER BY id`);
  return rows.map(({ slot }) => slot);
}

const get = (engine: Engine, hash: string) => codeOf(() => engine.read('get', context, { hash }));

test('a shard is whole on an empty folder, and no key lies in one', async (t) => {
  const place = await placeOf(t);
  if (place === undefined) return;
  let engine = await place.open();
  await engine.write('attachMemory', context, { settings: settingsOf(1) });
  const hashes: string[] = [];
  for (let i = 0; i < 20; i++)
    hashes.push(await addBelief(engine, 1, { subject: `s${i}`, object: `thing ${i}`, user_id: `u${i % 3}` }));
  await engine.write('flush', context, {});
  hashes.push(await addBelief(engine, 1, { subject: 'last', object: 'thing last' }));
  await engine.abandon();

  const names = readdirSync(join(place.root, 'a'), { recursive: true, encoding: 'utf8' });
  assert.deepEqual(
    names.filter((name) => /key/i.test(name)),
    [],
  );
  const slots = await slotsIn(place);
  assert.ok(slots.length >= 6 && slots.every(({ length }) => length === SLOT_BYTES));

  for (const isEmpty of [false, true]) {
    if (isEmpty) rmSync(join(place.root, 'a'), { recursive: true });
    engine = await place.open();
    // Segments are built again from the log.
    await until(engine, () => engine.read('health', context, undefined as never).ok && !engine.store.isDamaged(1));
    for (const hash of hashes) assert.equal(await get(engine, hash), undefined, hash);
    assert.deepEqual(recalled(engine, 1, 'thing').sort(), [...hashes].sort());
    assert.equal((await engine.write('verifyAudit', context, {})).valid, true);
    await engine.close();
  }
});

test('an erasure and the end of its key are one transaction', async (t) => {
  const place = await placeOf(t);
  if (place === undefined) return;
  const engine = await place.open();
  await engine.write('attachMemory', context, { settings: settingsOf(1) });
  const [ann, bob] = [
    await addBelief(engine, 1, { subject: 'ann', object: 'a thing', user_id: 'ann' }),
    await addBelief(engine, 1, { subject: 'bob', object: 'a thing', user_id: 'bob' }),
  ];
  const before = await slotsIn(place);
  // The database refuses the keys of the erasure: then it has nothing of it.
  const count = async (): Promise<string> => {
    const [row] = await place.database.ask((sql) => sql`SELECT appends FROM granary_shards`);
    return String(row?.['appends']);
  };
  const appends = await count();
  await place.database.ask((sql) => sql`ALTER TABLE granary_keys ADD CONSTRAINT closed CHECK (id < 0) NOT VALID`);
  assert.equal(await codeOf(() => engine.write('eraseUser', context, { userId: 'ann' })), 'STO-E001');
  assert.equal(await get(engine, ann), undefined);
  assert.deepEqual([await count(), await slotsIn(place)], [appends, before]);
  await place.database.ask((sql) => sql`ALTER TABLE granary_keys DROP CONSTRAINT closed`);

  const proof = await engine.write('eraseUser', context, { userId: 'ann' });
  assert.equal(proof.count, 1);
  // Before anything else is written.
  const after = await slotsIn(place);
  const tombstones = after.filter((slot) => slot.toString('hex', 16, 24) === proof.keyFingerprint);
  assert.equal(tombstones.length, 1);
  const gone = before.filter((slot) => !after.some((other) => other.equals(slot)));
  assert.equal(gone.length, 1, 'one wrapped key is nowhere any more');
  await engine.abandon();

  const again = await place.open('b');
  assert.equal(await get(again, ann), 'MEM-E001');
  assert.equal(await get(again, bob), undefined);
  assert.deepEqual((await again.write('eraseUser', context, { userId: 'ann' })).keyFingerprint, proof.keyFingerprint);
  await again.close();
});

test('a node whose database was restored to an older state says so, and another one has nothing to say', async (t) => {
  const place = await placeOf(t);
  if (place === undefined) return;
  const first = await place.open();
  await first.write('attachMemory', context, { settings: settingsOf(1) });
  const kept = await addBelief(first, 1, { subject: 'early', object: 'a thing' });
  await first.close();
  const restore = await savedState(place.database);
  const later = await place.open();
  const lost = await addBelief(later, 1, { subject: 'late', object: 'a thing' });
  await later.close();
  await restore();
  const reasons = (engine: Engine) => engine.read('health', context, undefined as never).reasons.join('; ');
  const again = await place.open();
  assert.match(reasons(again), /older than it was.*earlier state.*Repeat the erasures/);
  assert.deepEqual([await get(again, kept), await get(again, lost)], [undefined, 'MEM-E001']);
  assert.equal((await again.write('verifyAudit', context, {})).valid, true);
  await again.close();
  for (const node of ['a', 'b']) {
    const other = await place.open(node);
    assert.equal(reasons(other), '');
    await other.close();
  }
});

test('a rotation of the master key wraps all keys in the database again', async (t) => {
  const place = await placeOf(t);
  if (place === undefined) return;
  const next = Buffer.alloc(32, 8);
  const engine = await place.open();
  await engine.write('attachMemory', context, { settings: settingsOf(1) });
  const hash = await addBelief(engine, 1, { subject: 'ann', object: 'a thing', user_id: 'ann' });
  const before = await slotsIn(place);
  const { rewrapped } = await engine.write('rewrapKeys', context, { masterKeys: [next, MASTER] });
  const after = await slotsIn(place);
  assert.deepEqual([rewrapped, after.length], [before.length, before.length]);
  assert.ok(after.every((slot) => !before.some((other) => other.equals(slot))));
  await engine.close();
  assert.equal(await codeOf(() => place.open('b')), 'AUT-E003');
  const again = await place.open('b', [next]);
  assert.equal(await get(again, hash), undefined);
  await again.close();
});

test('a node whose lease has ended answers nothing, and answers again when it is renewed', async (t) => {
  const place = await placeOf(t);
  if (place === undefined) return;
  const engine = await place.open();
  await engine.write('attachMemory', context, { settings: settingsOf(1) });
  const hash = await addBelief(engine, 1, { subject: 'ann', object: 'a thing' });
  const now = performance.now.bind(performance);
  const lapses = t.mock.method(performance, 'now', () => now() + LEASE_MS);
  assert.equal(await get(engine, hash), 'STO-E002');
  assert.equal(await codeOf(() => addBelief(engine, 1, { subject: 'bob', object: 'a thing' })), 'STO-E002');
  lapses.mock.restore();
  assert.equal(await get(engine, hash), undefined);

  // Another node takes it: the first one learns it from its next append.
  await place.database.ask((sql) => sql`UPDATE granary_shards SET expires_at = now()`);
  const other = await place.open('b');
  assert.equal(await codeOf(() => addBelief(engine, 1, { subject: 'bob', object: 'a thing' })), 'STO-E002');
  assert.equal(await get(engine, hash), 'STO-E002');
  assert.match(String(engine.read('health', context, undefined as never).reasons), /taken by another node/);
  assert.equal(await get(other, hash), undefined);
  assert.equal((await other.write('verifyAudit', context, {})).valid, true);
  await engine.abandon();
  await other.close();
});

test('segments that an empty folder lacks are built again, and are no problem', async (t) => {
  const place = await placeOf(t);
  if (place === undefined) return;
  let engine = await place.open();
  await engine.write('attachMemory', context, { settings: settingsOf(1) });
  const hash = await addBelief(engine, 1, { subject: 'ann', object: 'a thing' });
  await engine.write('flush', context, {});
  const { segments } = engine.read('health', context, undefined as never);
  assert.ok(segments > 0);
  await engine.close();
  rmSync(join(place.root, 'a'), { recursive: true });
  engine = await place.open();
  assert.deepEqual(engine.read('health', context, undefined as never).reasons, []);
  assert.equal(await get(engine, hash), undefined);
  assert.deepEqual(recalled(engine, 1, 'thing'), [hash]);
  await engine.close();
});
