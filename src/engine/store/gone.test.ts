// Erased grains are distinguished from unknown and forgotten ones as long as the index knows them.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { codeOf, contextOf, openShard, settingsOf } from '../../../test/support/shard.ts';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import type { CallContext } from '../calls/context.ts';
import type { Engine } from '../engine.ts';

const context = contextOf(1);

async function opened(t: TestContext): Promise<{ engine: Engine; reopen: () => Promise<Engine> }> {
  const root = temporaryDirectory(t);
  let engine = await openShard(root);
  t.after(() => engine.abandon());
  await engine.write('attachMemory', context, { settings: settingsOf(1) });
  const reopen = async () => {
    await engine.abandon();
    engine = await openShard(root);
    return engine;
  };
  return { engine, reopen };
}

async function added(engine: Engine, object: string, more: { user_id?: string; namespace?: string }): Promise<string> {
  const fields = { subject: 'a', relation: 'b', object, ...more };
  return (await engine.write('add', context, { grainType: 'belief', fields, sync: false })).hash;
}

/** The codes of every call that names a grain by its hash. */
async function codesFor(engine: Engine, hash: string, by: CallContext = context): Promise<readonly unknown[]> {
  const codes = await Promise.all([
    codeOf(() => engine.read('get', by, { hash })),
    codeOf(() => engine.read('getRaw', by, { hash })),
    codeOf(() => engine.read('history', by, { hash })),
    codeOf(() => engine.write('supersede', by, { oldHash: hash, fields: { object: 'x' } })),
    codeOf(() => engine.write('accumulate', by, { target: { hash }, deltas: { success_count: 1 }, set: {} })),
  ]);
  return [...new Set(codes)];
}

test('an erased grain is MEM-E006 for callers who could have seen it, until it is purged', async (t) => {
  const { engine, reopen } = await opened(t);
  const ofAda = await added(engine, 'one', { user_id: 'ada' });
  const ofScope = await added(engine, 'two', { namespace: 'acme/prod' });
  const forgotten = await added(engine, 'three', {});
  // A crash loses index entries that are not in a segment.
  await engine.write('flush', context, {});
  await engine.write('forget', context, { hashes: [forgotten], check: false });
  await engine.write('eraseUser', context, { userId: 'ada' });
  await engine.write('eraseScope', context, { path: 'acme' });
  for (const isReopened of [false, true]) {
    const now = isReopened ? await reopen() : engine;
    assert.deepEqual(await codesFor(now, ofAda), ['MEM-E006']);
    assert.deepEqual(await codesFor(now, ofScope), ['MEM-E006']);
    assert.deepEqual(await codesFor(now, forgotten), ['MEM-E001']);
    assert.deepEqual(await codesFor(now, 'f'.repeat(64)), ['MEM-E001']);
    assert.deepEqual(await codesFor(now, ofAda, { ...context, userId: 'ada' }), ['MEM-E006']);
    assert.deepEqual(await codesFor(now, ofAda, { ...context, userId: 'bob' }), ['MEM-E001']);
    assert.deepEqual(await codesFor(now, ofScope, { ...context, namespace: 'acme/prod' }), ['MEM-E006']);
    assert.deepEqual(await codesFor(now, ofScope, { ...context, namespace: 'other' }), ['MEM-E001']);
    if (isReopened) {
      await now.write('flush', context, {});
      while (now.read('statistics', context, {}).purgePending! > 0) {
        now.maintain(50);
        await new Promise((resolve) => setImmediate(resolve));
      }
      assert.deepEqual(await codesFor(now, ofAda), ['MEM-E001'], 'no list of erased hashes is stored');
    }
  }
});
