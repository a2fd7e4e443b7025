// Reads in slices beside work that replaces the segments that they read.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { contextOf, openShard, settingsOf } from '../../../../test/support/shard.ts';
import { temporaryDirectory } from '../../../../test/support/temporary.ts';
import type { Engine } from '../../engine.ts';
import { readInSlices } from './slices.ts';

function itemsOf(object: string, count: number) {
  return Array.from({ length: count }, (_, at) => ({
    grainType: 'belief',
    fields: { subject: `s${at}`, relation: 'likes', object, namespace: `n${at}`, user_id: `u${at % 9}` },
  }));
}

/** A memory of two segments, with two grains in each namespace. */
async function opened(t: TestContext): Promise<Engine> {
  const engine = await openShard(temporaryDirectory(t));
  t.after(() => engine.abandon());
  await engine.write('attachMemory', contextOf(1), { settings: settingsOf(1) });
  for (const object of ['tea', 'coffee']) {
    await engine.write('addBatch', contextOf(1), { items: itemsOf(object, 1_000) });
    await engine.write('flush', contextOf(1), {});
  }
  return engine;
}

/** The number of grains in a namespace, read from the parts that were there before `meanwhile`. */
async function countBeside(engine: Engine, namespace: string, meanwhile: () => Promise<unknown>): Promise<number> {
  let isOver = false;
  function* counting(): Generator<void, number, void> {
    const parts = engine.store.parts(1);
    while (!isOver) yield;
    return parts.reduce((sum, part) => sum + (part.facet('namespace', namespace)?.length ?? 0), 0);
  }
  const count = readInSlices(engine.store, counting());
  count.catch(() => {});
  await meanwhile();
  isOver = true;
  return count;
}

test('parts that a read in slices has taken stay readable through merges and rebuilds', async (t) => {
  const engine = await opened(t);
  const { segments } = engine.store.index;
  assert.equal(await countBeside(engine, 'n7', () => engine.write('compact', contextOf(1), {})), 2);
  assert.ok(engine.store.index.segments < segments);
  assert.equal(await countBeside(engine, 'n7', () => engine.write('rebuildIndexes', contextOf(1), {})), 2);
  const both = async () => {
    await engine.write('rebuildIndexes', contextOf(1), {});
    await engine.write('addBatch', contextOf(1), { items: itemsOf('water', 10) });
    await engine.write('compact', contextOf(1), {});
    await engine.write('rebuildIndexes', contextOf(1), {});
  };
  assert.equal(await countBeside(engine, 'n7', both), 2);
  assert.equal(await countBeside(engine, 'n7', async () => {}), 3);
});

test('a purge beside a read in slices refuses the read for a moment, and the index counts as whole', async (t) => {
  const engine = await opened(t);
  const count = countBeside(engine, 'n7', async () => {
    await engine.write('eraseUser', contextOf(1), { userId: 'u3' });
    while (engine.store.purgePending.size > 0) {
      engine.maintain(5);
      await new Promise((resolve) => setImmediate(resolve));
    }
    // Another read frees what the replaced parts had cached.
    engine.store.parts(1);
  });
  await assert.rejects(count, { code: 'STO-E002' });
  assert.equal(engine.store.damage.size, 0);
  assert.equal(engine.store.isDamaged(1), false);
  assert.equal(await countBeside(engine, 'n7', async () => {}), 2);
});
