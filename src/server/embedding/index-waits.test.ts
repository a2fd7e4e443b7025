import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MemoryRecord } from '../control/records.ts';
import { INDEX_NOT_READY, IndexWaits, type IndexWaitsOptions } from './index-waits.ts';

const MEMORY = { number: 7 } as MemoryRecord; // the only member that is read

/** Returns the given lags one by one; the test fires the timer. */
function waits(lags: number[], more: Partial<IndexWaitsOptions> = {}) {
  const asked: (readonly number[] | undefined)[] = [];
  const seen: { wakes: number; timers: number; expire: () => void } = { wakes: 0, timers: 0, expire: () => undefined };
  const made = new IndexWaits({
    lagOf: async (memory, upTo) => {
      assert.equal(memory, 7);
      asked.push(upTo);
      return { waiting: lags.shift() ?? 0, upTo: upTo ?? [10, 20] };
    },
    isFollowed: () => true,
    wake: () => {
      seen.wakes += 1;
    },
    after: (_ms, run) => {
      seen.timers += 1;
      seen.expire = run;
      return () => {
        seen.timers -= 1;
      };
    },
    ...more,
  });
  return { made, asked, seen };
}

const turns = async (count = 20): Promise<void> => {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

test('a covered read does not wait', async () => {
  const { made, asked, seen } = waits([0]);
  assert.equal(await made.wait(MEMORY, 1_000), undefined);
  assert.deepEqual([asked, seen.wakes, seen.timers], [[undefined], 0, 0]);
});

test('a waiter checks again only on progress, for what was there when it came', async () => {
  const { made, asked, seen } = waits([3, 3, 2, 0]);
  const waited = made.wait(MEMORY, 1_000);
  await turns();
  assert.deepEqual(asked, [undefined, [10, 20]]);
  await turns();
  assert.equal(asked.length, 2);
  made.progressed();
  await turns();
  assert.equal(asked.length, 3);
  made.progressed();
  assert.equal(await waited, undefined);
  assert.deepEqual([asked.length, seen.wakes, seen.timers], [4, 2, 0]);
});

test('progress between two checks is not missed', async () => {
  let made: IndexWaits | undefined;
  const lags = [1, 1, 0];
  made = new IndexWaits({
    lagOf: async () => {
      const waiting = lags.shift() ?? 0;
      // The vectors arrive while the answer is on its way.
      if (lags.length === 1) made?.progressed();
      return { waiting, upTo: [1] };
    },
    isFollowed: () => true,
    wake: () => undefined,
    after: () => () => undefined,
  });
  assert.equal(await made.wait(MEMORY, 1_000), undefined);
});

test('a timeout, and a memory that no follower serves, are reported', async () => {
  const { made, seen } = waits([5, 5, 5]);
  const waited = made.wait(MEMORY, 1_000);
  await turns();
  seen.expire();
  assert.equal(await waited, INDEX_NOT_READY);
  assert.equal(seen.timers, 0);
  const alone = waits([5], { isFollowed: () => false });
  assert.match((await alone.made.wait(MEMORY, 1_000)) ?? '', /are not being computed/);
  assert.equal(alone.asked.length, 1);
});
