import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { contextOf, openShard, settingsOf } from '../../../test/support/shard.ts';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import { EngineError } from '../base/errors.ts';
import { FORGET_ROUND_GRAINS } from '../base/limits.ts';
import type { Engine } from '../engine.ts';

const context = contextOf(1);
const COUNT = 2 * FORGET_ROUND_GRAINS + 10;

async function setUp(t: TestContext, count = COUNT): Promise<{ engine: Engine; hashes: string[] }> {
  const engine = await openShard(temporaryDirectory(t));
  t.after(() => engine.close());
  await engine.write('attachMemory', context, { settings: settingsOf(1) });
  return { engine, hashes: await add(engine, 0, count) };
}

async function add(
  engine: Engine,
  from: number,
  count: number,
  more: Readonly<Record<string, string>> = {},
): Promise<string[]> {
  const items = Array.from({ length: count }, (_, i) => ({
    grainType: 'belief',
    fields: { subject: 'Ada', relation: 'visited', object: `place ${from + i}`, user_id: 'ada', ...more },
  }));
  const { outcomes } = await engine.write('addBatch', context, { items });
  return outcomes.map((outcome) => ('hash' in outcome ? outcome.hash : assert.fail(JSON.stringify(outcome))));
}

const grainsOf = (engine: Engine): number => engine.read('statistics', context, {}).totalGrains;

test('other writes have their turn while a subject with many grains is forgotten', async (t) => {
  const { engine, hashes } = await setUp(t);
  const order: string[] = [];
  const forgotten = engine.write('forget', context, { subject: 'Ada', check: false });
  const fields = { subject: 'Bob', relation: 'likes', object: 'tea' };
  const added = engine.write('add', context, { grainType: 'belief', fields, sync: false });
  void forgotten.then(() => order.push('forget'));
  await added.then(() => order.push('add'));
  const { hashes: gone, notFound } = await forgotten;
  assert.deepEqual(order, ['add', 'forget']);
  assert.deepEqual([gone.toSorted(), notFound], [hashes.toSorted(), []]);
  assert.equal(grainsOf(engine), 1);
});

test('a read of the shard waits for no more than one portion', async (t) => {
  const { engine } = await setUp(t);
  const seen = new Set<number>();
  const look = setInterval(() => seen.add(grainsOf(engine)), 0);
  await engine.write('forget', context, { subject: 'Ada', check: false });
  clearInterval(look);
  assert.ok(seen.has(COUNT - FORGET_ROUND_GRAINS), `seen: ${[...seen].join(', ')}`);
});

test('one request that removes many runs at a time', async (t) => {
  const { engine } = await setUp(t);
  await add(engine, 0, COUNT, { subject: 'Bob' });
  const [first, second] = ['Ada', 'Bob'].map((subject) => engine.write('forget', context, { subject, check: false }));
  await first;
  assert.equal(grainsOf(engine), COUNT);
  await second;
  assert.equal(grainsOf(engine), 0);
});

test('a request whose grains another one forgot meanwhile still looks for its hashes', async (t) => {
  const { engine } = await setUp(t);
  const missing = 'f'.repeat(64);
  const [, second] = await Promise.all([
    engine.write('forget', context, { subject: 'Ada', check: false }),
    engine.write('forget', context, { subject: 'Ada', hashes: [missing], check: false }),
  ]);
  assert.deepEqual(second, { hashes: [], notFound: [missing] });
});

test('a refusal of one grain among many removes none of them', async (t) => {
  const { engine } = await setUp(t);
  await add(engine, COUNT, 1, { user_id: 'bob' });
  await engine.write('restrict', context, { userId: 'bob', restricted: true, reason: 'contested' });
  const refused = (error: unknown) => error instanceof EngineError && error.code === 'POL-E008';
  for (const check of [true, false])
    await assert.rejects(engine.write('forget', context, { subject: 'Ada', check }), refused);
  assert.equal(grainsOf(engine), COUNT + 1);
});

test('a check names all grains and removes none', async (t) => {
  const { engine, hashes } = await setUp(t);
  const wanted = { subject: 'Ada', hashes: [hashes[0]!, hashes.at(-1)!, 'f'.repeat(64)] };
  const found = await engine.write('forget', context, { ...wanted, check: true });
  assert.deepEqual([found.hashes.toSorted(), found.notFound], [hashes.toSorted(), ['f'.repeat(64)]]);
  assert.equal(grainsOf(engine), COUNT);
  const gone = await engine.write('forget', context, { ...wanted, check: false });
  assert.deepEqual([gone.hashes.toSorted(), gone.notFound], [hashes.toSorted(), ['f'.repeat(64)]]);
  assert.equal(grainsOf(engine), 0);
});

test('a preview of many shows them all, gives others their turn, and leaves one entry in the trail', async (t) => {
  const { engine, hashes } = await setUp(t);
  const { auditEntries: before = 0 } = engine.read('statistics', context, {});
  let turns = 0;
  const look = setInterval(() => {
    turns += 1;
  }, 0);
  const preview = await engine.write('previewRemoval', context, { of: 'grains', subject: 'Ada' });
  clearInterval(look);
  assert.ok(turns > 0);
  assert.deepEqual([preview.count, preview.byType, preview.notFound], [COUNT, { belief: COUNT }, []]);
  assert.deepEqual(preview.hashes?.toSorted(), hashes.toSorted());
  assert.equal(grainsOf(engine), COUNT);
  assert.equal(engine.read('statistics', context, {}).auditEntries, before + 1);
});

test('a repeat under the same idempotency key gets the first answer and forgets nothing new', async (t) => {
  const { engine, hashes } = await setUp(t);
  const keyed = { ...context, idempotency: { key: 'k', bodyHash: 'b' } };
  const first = await engine.write('forget', keyed, { subject: 'Ada', check: false });
  assert.deepEqual(first.hashes.toSorted(), hashes.toSorted());
  await add(engine, COUNT, COUNT);
  assert.deepEqual(await engine.write('forget', keyed, { subject: 'Ada', check: false }), first);
  assert.equal(grainsOf(engine), COUNT);
  const other = { ...context, idempotency: { key: 'k', bodyHash: 'other' } };
  await assert.rejects(
    engine.write('forget', other, { subject: 'Ada', check: false }),
    (error: unknown) => error instanceof EngineError && error.code === 'VAL-E005',
  );
});

test('grains that come while many are forgotten stay', async (t) => {
  const { engine, hashes } = await setUp(t);
  const forgotten = engine.write('forget', context, { subject: 'Ada', check: false });
  const later = add(engine, COUNT, 5);
  assert.deepEqual((await forgotten).hashes.length, hashes.length);
  assert.equal((await later).length, 5);
  assert.equal(grainsOf(engine), 5);
});
