import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IDLE_AFTER_MS, IDLE_SLICE_MS, SLICE_MS } from '../../engine/base/limits.ts';
import { Maintenance } from './maintenance.ts';

/** Maintenance on a stepped clock: `step` runs the next scheduled turn, after its delay. */
function setUp(engineCount: number) {
  let nowMs = 1_000;
  const turns: { run: () => void; delayMs: number }[] = [];
  const slices: { engine: number; budgetMs: number; atMs: number }[] = [];
  const left = new Array<number>(engineCount).fill(0);
  const bugs: unknown[] = [];
  let bug: Error | undefined;
  const engines = left.map((_, engine) => ({
    maintain(budgetMs: number): boolean {
      if (bug !== undefined) throw bug;
      slices.push({ engine, budgetMs, atMs: nowMs });
      if (left[engine] === 0) return false;
      nowMs += budgetMs;
      left[engine]!--;
      return left[engine]! > 0;
    },
  }));
  const maintenance = new Maintenance({
    engines: new Map(engines.entries()),
    onBug: (error) => bugs.push(error),
    nowMs: () => nowMs,
    schedule: (run, delayMs) => turns.push({ run, delayMs }),
  });
  return {
    maintenance,
    slices,
    left,
    bugs,
    failWith: (error: Error) => {
      bug = error;
    },
    pass: (ms: number) => {
      nowMs += ms;
    },
    /** False when nothing is scheduled. */
    step: (): boolean => {
      const turn = turns.shift();
      if (turn === undefined) return false;
      nowMs += turn.delayMs;
      turn.run();
      return true;
    },
  };
}

test('under load a slice is short, and a pause of the same length follows', (t) => {
  const { maintenance, slices, left, step } = setUp(1);
  t.after(() => maintenance.stop());
  left[0] = 3;
  maintenance.batchRan();
  step();
  maintenance.batchRan();
  step();
  maintenance.batchRan();
  step();
  assert.deepEqual(
    slices.map(({ budgetMs, atMs }) => [budgetMs, atMs]),
    [
      [SLICE_MS, 1_000],
      [SLICE_MS, 1_000 + 2 * SLICE_MS],
      [SLICE_MS, 1_000 + 4 * SLICE_MS],
    ],
  );
});

test('without load slices are longer and follow one another, until there is no more to do', (t) => {
  const { maintenance, slices, left, pass, step } = setUp(1);
  t.after(() => maintenance.stop());
  left[0] = 3;
  maintenance.batchRan();
  pass(IDLE_AFTER_MS + 1);
  while (step());
  assert.deepEqual(
    slices.map(({ budgetMs }) => budgetMs),
    [IDLE_SLICE_MS, IDLE_SLICE_MS, IDLE_SLICE_MS],
  );
  assert.equal(slices[2]!.atMs - slices[0]!.atMs, 2 * IDLE_SLICE_MS);
});

test('engines take turns, and an idle one costs the others no slice', (t) => {
  const { maintenance, slices, left, pass, step } = setUp(3);
  t.after(() => maintenance.stop());
  left[0] = 2;
  left[2] = 2;
  maintenance.wake();
  pass(IDLE_AFTER_MS + 1);
  while (step());
  assert.deepEqual(
    slices.map(({ engine }) => engine),
    [0, 1, 2, 0, 2],
  );
});

test('a bug in a slice is reported once, and no slice follows', () => {
  const { maintenance, slices, left, bugs, failWith, step } = setUp(2);
  left[0] = 5;
  failWith(new Error('bug'));
  maintenance.wake();
  while (step());
  maintenance.wake();
  assert.equal(step(), false);
  assert.equal(bugs.length, 1);
  assert.equal(slices.length, 0);
});
