// Duplicates of a new grain: only beliefs of its own user and namespace count, however many others state the same
// subject and relation, and erased grains never count.
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { contextOf, openShard, settingsOf } from '../../../test/support/shard.ts';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import type { MemorySettings } from '../calls/memory.ts';
import type { JsonObject } from '../grain/api/json-value.ts';

const context = contextOf(1);
const OTHERS = 120;

async function opened(t: TestContext, dedup: MemorySettings['dedup']) {
  const engine = await openShard(temporaryDirectory(t));
  t.after(() => engine.abandon());
  await engine.write('attachMemory', context, { settings: { ...settingsOf(1), dedup } });
  const itemOf = (fields: JsonObject) => ({
    grainType: 'belief',
    fields: { subject: 'user', relation: 'likes', ...fields },
  });
  const others = Array.from({ length: OTHERS }, (_, i) => itemOf({ object: 'coffee', user_id: `other ${i}` }));
  return {
    engine,
    others,
    add: (fields: JsonObject) => engine.write('add', context, { ...itemOf(fields), sync: false }),
    batch: (...own: JsonObject[]) =>
      engine.write('addBatch', context, { items: [...others, ...own.map((fields) => itemOf(fields))] }),
  };
}

describe('beliefs of one subject and relation by many users', () => {
  test('upsert replaces a belief of the same user', async (t) => {
    const { engine, add, batch } = await opened(t, 'upsert');
    const first = await add({ object: 'tea', user_id: 'ada' });
    await batch();
    const second = await add({ object: 'water', user_id: 'ada' });
    assert.equal(engine.read('get', context, { hash: first.hash }).supersededBy, second.hash);
  });

  test('upsert replaces a belief of the same user behind those of others in several segments', async (t) => {
    const { engine, add, others } = await opened(t, 'upsert');
    const first = await add({ object: 'tea', user_id: 'ada' });
    for (const items of [others.slice(0, OTHERS / 2), others.slice(OTHERS / 2)]) {
      await engine.write('flush', context, {});
      await engine.write('addBatch', context, { items });
    }
    const second = await add({ object: 'water', user_id: 'ada' });
    assert.equal(engine.read('get', context, { hash: first.hash }).supersededBy, second.hash);
  });

  for (const dedup of ['upsert', 'fuzzy'] as const)
    test(`${dedup} finds a belief without a user behind those of users, sealed or not`, async (t) => {
      const { engine, add, batch } = await opened(t, dedup);
      const first = await add({ object: 'green tea with milk' });
      await batch();
      const isFound = async (object: string, before: string): Promise<string> => {
        const { hash, duplicate } = await add({ object });
        if (dedup === 'fuzzy') assert.deepEqual([hash, duplicate], [before, true]);
        else assert.equal(engine.read('get', context, { hash: before }).supersededBy, hash);
        return hash;
      };
      const second = await isFound('green tea with milk!', first.hash);
      await engine.write('flush', context, {});
      await batch();
      await isFound('green tea with milk?', second);
    });

  test('upsert replaces a belief within one group with the others', async (t) => {
    const { engine, add, batch } = await opened(t, 'upsert');
    const first = await add({ object: 'tea', user_id: 'ada' });
    const { outcomes } = await batch({ object: 'water', user_id: 'ada' });
    const last = outcomes.at(-1)!;
    assert.ok('hash' in last);
    assert.equal(engine.read('get', context, { hash: first.hash }).supersededBy, last.hash);
  });

  test("fuzzy finds the same user's belief in similar words, sealed or not", async (t) => {
    const { engine, add, batch } = await opened(t, 'fuzzy');
    const first = await add({ object: 'green tea with milk', user_id: 'ada' });
    await batch();
    const said = { object: 'green tea with milk!', user_id: 'ada' };
    assert.deepEqual(await add(said).then(({ hash, duplicate }) => [hash, duplicate]), [first.hash, true]);
    await engine.write('flush', context, {});
    assert.deepEqual(await add(said).then(({ hash, duplicate }) => [hash, duplicate]), [first.hash, true]);
  });

  test('beliefs of others, or of the same user elsewhere, are no duplicates', async (t) => {
    const { add, batch } = await opened(t, 'fuzzy');
    await batch();
    for (const more of [{ user_id: 'ada' }, { user_id: 'other 1', namespace: 'elsewhere' }, { namespace: 'elsewhere' }])
      assert.equal((await add({ object: 'coffee!', ...more })).duplicate, false, JSON.stringify(more));
  });
});

test('a grain that has outlived the policy makes nothing a duplicate, neither in its group nor later', async (t) => {
  const { engine, add, batch } = await opened(t, 'exact');
  const change = { overrides: { 'retention.default_ttl_days': 30 } };
  await engine.write('setPolicy', context, { change, isAdmin: true });
  const now = Math.floor(engine.store.clock.nowMs() / 1_000);
  const said = { object: 'tea', user_id: 'ada' };
  const old = { ...said, created_at: now - 31 * 86_400 };
  const { outcomes } = await batch(old, { ...said, created_at: now }, { ...said, created_at: now - 1 });
  const duplicates = outcomes.slice(OTHERS).map((outcome) => 'hash' in outcome && outcome.duplicate);
  assert.deepEqual(duplicates, [false, false, true]);
  assert.equal((await add({ ...said, created_at: now - 2 })).duplicate, true);
});

for (const isSealed of [false, true])
  test(`an erased grain makes nothing a duplicate, even ${isSealed ? 'in a segment' : 'in a tail'} of an older copy`, async (t) => {
    const { engine, add } = await opened(t, 'exact');
    const said = { object: 'tea', user_id: 'ada', created_at: 1_700_000_000 };
    const { hash } = await add(said);
    if (isSealed) await engine.write('flush', context, {});
    // The log is older than the keys and does not know of the erasure.
    const { store } = engine;
    const memory = store.memory(1);
    store.keys.destroy([store.namedKeys.user(memory, 'ada')!.key], store.clock.nowMs());
    memory.dropKeys();
    assert.deepEqual(await add(said), { hash, duplicate: false, warnings: [] });
    assert.equal(engine.read('get', context, { hash }).fields['object'], 'tea');
    assert.equal((await add(said)).duplicate, true);
    assert.deepEqual((await engine.write('verify', context, {})).findings, []);
  });

for (const dedup of ['exact', 'none'] as const)
  test(`a group finds each of its grains again, few or many: dedup ${dedup}`, async (t) => {
    for (const count of [1, 8, 9, 10, 40]) {
      const { engine } = await opened(t, dedup);
      const item = (i: number, created: number) => ({
        grainType: 'belief',
        fields: { subject: `s${i}`, relation: 'is', object: `o${i}`, created_at: created },
      });
      const first = Array.from({ length: count }, (_, i) => item(i, 1_000));
      // The same bytes are always a duplicate; the same statement at another time is one unless there is no rule.
      const items = [...first, ...first, ...first.map((_, i) => item(i, 2_000))];
      const { outcomes } = await engine.write('addBatch', context, { items });
      const hashes = outcomes.map((one) => ('hash' in one ? one.hash : one.error.code));
      const duplicates = outcomes.map((one) => 'duplicate' in one && one.duplicate);
      assert.equal(new Set(hashes.slice(0, count)).size, count);
      assert.deepEqual(hashes.slice(count, count * 2), hashes.slice(0, count));
      assert.equal(hashes.slice(count * 2).join() === hashes.slice(0, count).join(), dedup === 'exact');
      assert.deepEqual(
        duplicates,
        items.map((_, i) => i >= count && (i < count * 2 || dedup === 'exact')),
      );
    }
  });
