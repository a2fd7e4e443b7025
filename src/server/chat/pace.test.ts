import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Pace } from './pace.ts';

test('steps that come together get a turn of the event loop each, in their order', async () => {
  const pace = new Pace();
  const done: number[] = [];
  const all = [0, 1, 2].map(async (one) => {
    await pace.step();
    done.push(one);
  });
  assert.deepEqual(done, []);
  for (let turns = 1; turns <= 3; turns++) {
    await nextTurn();
    assert.ok(done.length <= turns, `${done.length} steps after ${turns} turns`);
  }
  await Promise.all(all);
  assert.deepEqual(done, [0, 1, 2]);
  await pace.step();
});
