// The namespaces that access tuples let a caller see, in a memory of many persons with a namespace of their own.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { contextOf, openShard, settingsOf } from '../../../test/support/shard.ts';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import type { Engine } from '../engine.ts';

const owner = { ...contextOf(1), owns: true as const };
const ann = { ...contextOf(1), actor: 'user:ann' };

async function opened(t: TestContext): Promise<Engine> {
  const engine = await openShard(temporaryDirectory(t));
  t.after(() => engine.abandon());
  await engine.write('attachMemory', owner, { settings: settingsOf(1) });
  await engine.write('setPolicy', owner, {
    change: { overrides: { 'access.authz_required': true } },
    isAdmin: true,
  });
  await grant(engine, 'namespace:team');
  return engine;
}

async function grant(engine: Engine, object: string): Promise<void> {
  await engine.write('grantTuple', owner, { tuple: { subject: 'user:ann', relation: 'viewer', object } });
}

async function add(engine: Engine, persons: number, first = 0): Promise<void> {
  const items = Array.from({ length: persons }, (_, at) => ({
    grainType: 'belief',
    fields: {
      subject: `s${first + at}`,
      relation: 'is',
      object: 'x',
      namespace: `team/n${first + at}`,
      user_id: `u${first + at}`,
    },
  }));
  const { outcomes } = await engine.write('addBatch', owner, { items });
  for (const one of outcomes) if ('error' in one) assert.fail(one.error.message);
}

const usersSeen = (engine: Engine): number => engine.read('statistics', ann, {}).userCount;

test('a caller with tuples sees what was added and what was granted since it asked', async (t) => {
  const engine = await opened(t);
  await add(engine, 3);
  assert.equal(usersSeen(engine), 3);
  await add(engine, 2, 3);
  assert.equal(usersSeen(engine), 5);
  const other = { subject: 'a', relation: 'is', object: 'x', namespace: 'other', user_id: 'zoe' };
  await engine.write('add', owner, { grainType: 'belief', fields: other, sync: false });
  assert.equal(usersSeen(engine), 5);
  await grant(engine, 'namespace:other');
  assert.equal(usersSeen(engine), 6);
  const tuple = { subject: 'user:ann', relation: 'viewer', object: 'namespace:team' };
  await engine.write('revokeTuple', owner, { tuple });
  assert.equal(usersSeen(engine), 1);
});

test('counting the persons that a caller sees looks at each namespace once', async (t) => {
  const engine = await opened(t);
  await add(engine, 500);
  let looked = 0;
  const [part] = engine.store.parts(1);
  const facetValues = part!.facetValues.bind(part);
  part!.facetValues = (facet) => {
    if (facet === 'namespace') looked += 1;
    return facetValues(facet);
  };
  assert.equal(usersSeen(engine), 500);
  assert.ok(looked < 10, `${looked} times`);
});
