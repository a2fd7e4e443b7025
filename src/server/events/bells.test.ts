import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { eventually } from '../../../test/support/eventually.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { Router } from '../../shards/router.ts';
import { SETTINGS } from '../../shards/testing/memory.ts';
import { TestEngine } from '../../shards/testing/test-engine.ts';
import { directShard } from '../../shards/transport/direct.ts';
import { EventBells } from './bells.ts';

const SHARDS = 3;
const ONE = { ...SETTINGS, number: 1, partitions: 1 };
const MANY = { ...SETTINGS, number: 2, partitions: 3 };

async function begun(t: TestContext) {
  const engines = await Promise.all(
    Array.from({ length: SHARDS }, (_, shard) => TestEngine.open(shard, { shards: SHARDS })),
  );
  const router = new Router({
    shards: engines.map((engine, shard) => directShard(shard, engine)),
    settingsOf: (memory) => [ONE, MANY].find(({ number }) => number === memory),
    placementOf: () => {
      throw new Error('nothing is imported');
    },
  });
  await router.attach([ONE, MANY]);
  const bells = new EventBells(router);
  t.after(async () => {
    bells.close();
    await Promise.all(engines.map((engine) => engine.close()));
  });
  let added = 0;
  const add = (memory: number, user: string) =>
    router.call(
      'add',
      { memory, actor: 'key:k', requestId: 'r' },
      {
        grainType: 'belief',
        fields: { subject: 'a', relation: 'b', object: `${added++}`, user_id: user },
        sync: false,
      },
    );
  const waits = () => engines.flatMap(({ calls }) => calls.filter(({ method }) => method === 'awaitEvents'));
  return { engines, bells, add, waits };
}

test('a watcher is told of events in each partition of its memory, and of no other memory', async (t) => {
  const { bells, add } = await begun(t);
  let [one, many] = [0, 0];
  bells.watch(ONE, () => {
    one += 1;
  });
  bells.watch(MANY, () => {
    many += 1;
  });
  await eventually('the first answers ring for every memory', () => one === 1 && many === SHARDS);
  for (let user = 0; user < 12; user++) {
    const before = many;
    await add(MANY.number, `u${user}`);
    await eventually('the bell rings', () => many > before);
  }
  assert.equal(one, 1);
});

test('without a watcher no call waits in a shard', async (t) => {
  const { bells, add, waits, engines } = await begun(t);
  await add(ONE.number, 'u');
  assert.equal(waits().length, 0);
  const leave = bells.watch(ONE, () => undefined);
  await eventually('a call waits', () => waits().length >= 2);
  leave();
  await eventually('it was released', () =>
    waits().some(({ input }) => (input as { release?: true }).release === true),
  );
  const asked = waits().length;
  await add(ONE.number, 'u');
  for (const engine of engines)
    await engine.write('flush', { memory: 1, partition: 0, actor: 'a', requestId: 'r' }, {}).catch(() => undefined);
  assert.equal(waits().length, asked);
});

test('a shard that fails is listened to again, and then rings for every memory', async (t) => {
  const { bells, engines, add, waits } = await begun(t);
  let rung = 0;
  bells.watch(ONE, () => {
    rung += 1;
  });
  await eventually('it rings', () => rung === 1);
  await eventually('the next call waits', () => waits().length === 2);
  let failed = 0;
  for (const engine of engines)
    engine.failure = (method) => {
      if (method !== 'awaitEvents') return undefined;
      failed += 1;
      return new EngineError('STO-E002', 'the worker ended');
    };
  await add(ONE.number, 'u');
  await eventually('the waiting call is answered', () => rung === 2);
  await eventually('the next call fails', () => failed > 0);
  for (const engine of engines) engine.failure = () => undefined;
  await eventually('it rings again', () => rung === 3);
});
