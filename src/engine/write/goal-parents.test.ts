// Parent goals: no new version closes a cycle, whatever its length and whichever versions its links name.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { codeOf, contextOf, openShard, settingsOf } from '../../../test/support/shard.ts';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import type { Engine } from '../engine.ts';

const context = contextOf(1);

async function opened(t: TestContext): Promise<Engine> {
  const engine = await openShard(temporaryDirectory(t));
  t.after(() => engine.close());
  await engine.write('attachMemory', context, { settings: settingsOf(1) });
  return engine;
}

async function goal(engine: Engine, description: string, ...parents: string[]): Promise<string> {
  const fields = { description, parent_goals: parents };
  return (await engine.write('add', context, { grainType: 'goal', fields, sync: false })).hash;
}

async function reparent(engine: Engine, oldHash: string, ...parents: string[]): Promise<string> {
  return (await engine.write('supersede', context, { oldHash, fields: { parent_goals: parents } })).newHash;
}

test('a goal cannot become its own parent or the parent of its ancestor', async (t) => {
  const engine = await opened(t);
  const top = await goal(engine, 'top');
  const middle = await goal(engine, 'middle', top);
  const low = await goal(engine, 'low', middle);
  for (const parent of [top, middle, low])
    assert.equal(await codeOf(() => reparent(engine, top, parent)), 'VAL-E001', 'top');
  assert.equal(await codeOf(() => reparent(engine, middle, top, low)), 'VAL-E001', 'middle');
  const lower = await reparent(engine, low, top, middle);
  // Old versions and new ones name the same goal.
  assert.equal(await codeOf(() => reparent(engine, top, lower)), 'VAL-E001');
  assert.equal(await codeOf(() => reparent(engine, top, low)), 'VAL-E001');
});

test('a former parent closes no cycle, nor does a goal that is not here', async (t) => {
  const engine = await opened(t);
  const top = await goal(engine, 'top');
  const low = await goal(engine, 'low', top);
  await reparent(engine, low);
  const turned = await reparent(engine, top, low, '0'.repeat(64));
  const { fields } = engine.read('get', context, { hash: turned });
  assert.deepEqual(fields['parent_goals'], [low, '0'.repeat(64)]);
  const written = { oldHash: turned, fields: { state_reason: 'as before' } };
  assert.equal(await codeOf(() => engine.write('supersede', context, written)), undefined);
});

test('an imported file cannot link versions into a cycle', async (t) => {
  const engine = await opened(t);
  const top = await goal(engine, 'top');
  const low = await goal(engine, 'low', top);
  const next = await goal(engine, 'top again', low);
  const other = await goal(engine, 'top in another way');
  const manifest = (supersededBy: string) => [{ hash: top, supersededBy }];
  await engine.write('importBlobs', context, { blobs: [], manifest: manifest(next), accepted: [top] });
  assert.equal(engine.read('get', context, { hash: top }).supersededBy, undefined);
  await engine.write('importBlobs', context, { blobs: [], manifest: manifest(other), accepted: [top] });
  assert.equal(engine.read('get', context, { hash: top }).supersededBy, other);
});
