// The limits of stalls find a request that takes three times as long, on any machine, and nothing that a slow machine
// explains.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slowdown, slowdownOf } from '../support/yardstick.ts';
import { stalledBy, tooLong } from './limits.ts';

const LIMITS = { mainMs: 50, workersMs: 250 };
const report = (mainMs: number, workersMs: number) => ({ mainMs, workersMs, helpersMs: 0 });

/** The words for stalls that follow each other, and the number of tries. */
async function after(mainMs: readonly number[]): Promise<readonly [words: readonly string[], tries: number]> {
  let tries = 0;
  const stalls = async () => report(mainMs[Math.min(tries, mainMs.length) - 1]!, 0);
  const words = await stalledBy({ stalls }, LIMITS, async () => void tries++);
  return [words, tries];
}

test('three times the limit is too long with any slowdown, and the limit itself is not', async () => {
  for (const factor of [slowdownOf(0), slowdownOf(1e9), await slowdown()]) {
    assert.ok(factor >= 1 && factor < 3);
    assert.deepEqual(await tooLong(report(50, 250), LIMITS, async () => factor), []);
    assert.equal((await tooLong(report(150, 750), LIMITS, async () => factor)).length, 2);
  }
});

test('a limit grows with the slowdown, for each thread', async () => {
  const twice = async () => 2;
  assert.deepEqual(await tooLong(report(99, 499), LIMITS, twice), []);
  assert.deepEqual(await tooLong(report(101, 0), LIMITS, twice), ['the main thread: 101 ms, allowed are 100 ms']);
  assert.deepEqual(await tooLong(report(0, 501), LIMITS, twice), ['a worker: 501 ms, allowed are 500 ms']);
});

test('work is done again while it blocks a thread for too long, and reported if it always does', async () => {
  assert.deepEqual(await after([10]), [[], 1]);
  assert.deepEqual(await after([1_000, 1_000, 20]), [[], 3]);
  const [words, tries] = await after([1_000]);
  assert.match(words.join(), /^the main thread: 1000 ms/);
  assert.equal(tries, 5);
});
