// Keys of a store in a second database: no wrapped key lies in the first one, and an erasure is whole after a crash between both.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { isTombstone } from '../src/engine/base/key-slot.ts';
import type { Engine } from '../src/engine/engine.ts';
import { Database } from '../src/engine/log/postgres/database.ts';
import { bindKeys, StoredKeys } from '../src/engine/log/postgres/key-store.ts';
import { migrate, openStore } from '../src/engine/log/postgres/migrate.ts';
import { eventually } from './support/eventually.ts';
import { testDatabase } from './support/postgres.ts';
import { addBelief, codeOf, contextOf, openShard, recalled, settingsOf } from './support/shard.ts';
import { temporaryDirectory } from './support/temporary.ts';

const context = contextOf(1);

interface Place {
  readonly store: Database;
  readonly keys: Database;
  readonly keysUrl: string;
  open(node: string): Promise<Engine>;
}

function onPlace(name: string, run: (place: Place, t: TestContext) => Promise<void>): void {
  test(name, async (t) => {
    const [found, second] = [await testDatabase(t), await testDatabase(t)];
    if (found === undefined || second === undefined) return;
    const root = temporaryDirectory(t);
    const [store, keys] = [await Database.open(found.url), await Database.open(second.url)];
    t.after(() => Promise.all([store.close(), keys.close()]));
    await migrate(store, 1);
    await bindKeys(store, await openStore(store), second.url);
    const open = (node: string): Promise<Engine> =>
      openShard(join(root, node), { database: { url: found.url, keyUrl: second.url, node, leaseMs: 60_000 } });
    await run({ store, keys, keysUrl: second.url, open }, t);
  });
}

async function slotsIn(database: Database): Promise<readonly Buffer[]> {
  const rows = await database.ask((sql) => sql<{ slot: Buffer }[]>`SELECT slot FROM granary_keys ORDER BY id`);
  return rows.map(({ slot }) => slot);
}

const wrapped = (slots: readonly Buffer[]): readonly Buffer[] => slots.filter((slot) => !isTombstone(slot));
const get = (engine: Engine, hash: string) => codeOf(() => engine.read('get', context, { hash }));

async function twoUsers(engine: Engine): Promise<readonly [ann: string, bob: string]> {
  await engine.write('attachMemory', context, { settings: settingsOf(1) });
  return [
    await addBelief(engine, 1, { subject: 'ann', object: 'a thing', user_id: 'ann' }),
    await addBelief(engine, 1, { subject: 'bob', object: 'a thing', user_id: 'bob' }),
  ];
}

onPlace('wrapped keys lie in the key store alone, and an erasure is there before its answer', async (place) => {
  const engine = await place.open('a');
  const [ann, bob] = await twoUsers(engine);
  const before = await slotsIn(place.keys);
  assert.ok(before.length >= 5);
  assert.deepEqual(await slotsIn(place.store), []);
  const proof = await engine.write('eraseUser', context, { userId: 'ann' });
  const [stored, kept] = [await slotsIn(place.store), await slotsIn(place.keys)];
  assert.deepEqual(wrapped(stored), []);
  for (const slots of [stored, kept])
    assert.ok(slots.some((slot) => isTombstone(slot) && slot.toString('hex', 16, 24) === proof.keyFingerprint));
  const gone = before.filter((slot) => !kept.some((other) => other.equals(slot)));
  assert.ok(gone.length >= 1, 'a wrapped key is nowhere any more');
  await engine.abandon();

  const other = await place.open('b');
  assert.equal(await get(other, ann), 'MEM-E001');
  assert.equal(await get(other, bob), undefined);
  assert.deepEqual(recalled(other, 1, 'thing'), [bob]);
  await other.close();
});

onPlace('a statement that comes late brings no destroyed key back', async (place) => {
  const engine = await place.open('a');
  await twoUsers(engine);
  const before = await place.keys.ask(
    (sql) => sql<{ id: string; slot: Buffer }[]>`SELECT id, slot FROM granary_keys WHERE shard = 0 ORDER BY id`,
  );
  await engine.write('eraseUser', context, { userId: 'ann' });
  const [row] = await place.keys.ask((sql) => sql`SELECT token FROM granary_key_owners WHERE shard = 0`);
  const keys = await StoredKeys.take(place.keysUrl, place.store, { shard: 0, token: Number(row!['token']) + 1 });
  // As the network may bring a write of keys that was given up and sent again.
  await keys.put(before.map(({ id, slot }) => [Number(id), slot]));
  assert.equal((await slotsIn(place.keys)).filter(isTombstone).length, 1);
  await keys.close();
  await engine.abandon();
});

onPlace('a key that was to be destroyed when the node ended is destroyed at the next open', async (place) => {
  const engine = await place.open('a');
  const [ann, bob] = await twoUsers(engine);
  const before = await slotsIn(place.keys);
  await place.keys.ask(
    (sql) => sql`ALTER TABLE granary_keys ADD CONSTRAINT closed CHECK (get_byte(slot, 0) <> 2) NOT VALID`,
  );
  const erased = engine.write('eraseUser', context, { userId: 'ann' });
  let isAnswered = false;
  erased.then(
    () => {
      isAnswered = true;
    },
    () => undefined,
  );
  // The first database has the erasure, and the second one not yet: there is no answer.
  await eventually('the store has the tombstone', async () => (await slotsIn(place.store)).length === 1);
  assert.equal(isAnswered, false);
  const meanwhile = await slotsIn(place.keys);
  assert.ok(
    before.every((slot) => meanwhile.some((other) => other.equals(slot))),
    'no key is destroyed yet',
  );
  await engine.abandon();
  assert.equal(isAnswered, false);

  await place.keys.ask((sql) => sql`ALTER TABLE granary_keys DROP CONSTRAINT closed`);
  const other = await place.open('b');
  const kept = await slotsIn(place.keys);
  assert.equal(kept.filter(isTombstone).length, 1);
  assert.equal(before.filter((slot) => !kept.some((one) => one.equals(slot))).length, 1);
  assert.equal(await get(other, ann), 'MEM-E001');
  assert.equal(await get(other, bob), undefined);
  await other.close();
});

onPlace('without the key store a grain with a new key is refused, and later taken', async (place) => {
  const engine = await place.open('a');
  await twoUsers(engine);
  await place.keys.ask((sql) => sql`ALTER TABLE granary_keys ADD CONSTRAINT closed CHECK (id < 0) NOT VALID`);
  const add = (user: string) => addBelief(engine, 1, { subject: user, object: 'a thing', user_id: user });
  assert.equal(await codeOf(() => add('cal')), 'STO-E001');
  // The keys of known users are there.
  await add('bob');
  await place.keys.ask((sql) => sql`ALTER TABLE granary_keys DROP CONSTRAINT closed`);
  assert.equal(await get(engine, await add('cal')), undefined);
  await engine.close();
});

onPlace('a store that was restored to an older state goes on with its key store', async (place) => {
  const engine = await place.open('a');
  const [, bob] = await twoUsers(engine);
  await engine.close();
  await (await place.open('b')).close();
  // As in a backup from before the last owner.
  await place.store.ask((sql) => sql`UPDATE granary_shards SET token = 0`);
  await place.store.ask((sql) => sql`DELETE FROM granary_owners`);
  assert.equal(await codeOf(() => place.open('b')), 'STO-E002');
  const again = await place.open('b');
  assert.equal(await get(again, bob), undefined);
  await again.close();
});

test('a key store that does not fit the store is refused', async (t) => {
  const [one, other, empty, keys] = [
    await testDatabase(t),
    await testDatabase(t),
    await testDatabase(t),
    await testDatabase(t),
  ];
  if (one === undefined || other === undefined || empty === undefined || keys === undefined) return;
  const [store, second] = [await Database.open(one.url), await Database.open(other.url)];
  t.after(() => Promise.all([store.close(), second.close()]));
  await migrate(store, 1);
  await migrate(second, 1);
  const bind = async (database: Database, url?: string) => bindKeys(database, await openStore(database), url);
  const refused = (message: RegExp) => ({ code: 'STO-E001', message });
  await bind(store);
  await assert.rejects(bind(store, one.url), refused(/it is the database of a store/));
  await bind(store, keys.url);
  await bind(store, keys.url);
  await assert.rejects(bind(store), refused(/keys of this store are in a key store/));
  await assert.rejects(bind(store, empty.url), refused(/it is empty, but the store has keys/));
  await assert.rejects(bind(second, keys.url), refused(/it holds the keys of another store/));
  await second.ask((sql) => sql`INSERT INTO granary_keys VALUES (0, 1, ${Buffer.alloc(96)})`);
  await assert.rejects(bind(second, empty.url), refused(/this store keeps its keys in its own database/));
});
