import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { EngineError } from '../engine/base/errors.ts';
import { ByteBudget, type Share } from './byte-budget.ts';

/** A budget of 100 bytes with a manual clock. */
function setUp(spareMs = 0, first?: 'largest') {
  let nowMs = 0;
  // A mock of a mock would outlast this file.
  mock.reset();
  mock.method(performance, 'now', () => nowMs);
  const budget = new ByteBudget({ bytesMax: 100, message: 'full', spareMs, first });
  const dropped: string[] = [];
  const share = (name: string): Share => budget.share(() => dropped.push(name));
  const pass = (ms: number): void => {
    nowMs += ms;
  };
  return { budget, dropped, share, pass };
}

const isFull = (error: unknown): boolean => error instanceof EngineError && error.code === 'LIM-E001';

test('the slowest holders are dropped until there is room, and their bytes no longer count', () => {
  const { budget, dropped, share, pass } = setUp();
  share('slow').hold(30);
  pass(1_000);
  const fast = share('fast');
  fast.hold(50);
  pass(10);
  share('slower than fast').hold(20);
  pass(50);
  fast.hold(55);
  assert.deepEqual(dropped, ['slow']);
  assert.equal(budget.heldBytes, 75);
});

test('a holder that is the slowest itself is dropped', () => {
  const { budget, dropped, share, pass } = setUp();
  const slow = share('slow');
  slow.hold(10);
  pass(1_000);
  share('fast').hold(90);
  slow.hold(11);
  assert.deepEqual(dropped, ['slow']);
  assert.equal(budget.heldBytes, 90);
});

test('of a budget that says so, the largest holders are dropped first', () => {
  const { budget, dropped, share, pass } = setUp(0, 'largest');
  share('small').hold(10);
  pass(1_000);
  share('large').hold(60);
  share('middle').hold(20);
  pass(1_000);
  share('late').hold(15);
  assert.deepEqual(dropped, ['large']);
  assert.equal(budget.heldBytes, 45);
});

test('shares that their owners list are dropped like others', () => {
  const { budget, dropped, share, pass } = setUp();
  const listed = [budget.listedShare(() => dropped.push('listed')), budget.listedShare(() => dropped.push('settled'))];
  budget.list(() => listed);
  for (const one of listed) one.hold(30);
  listed[1]!.settle();
  pass(1_000);
  share('kept').hold(30);
  pass(1);
  share('late').hold(20);
  assert.deepEqual(dropped, ['listed']);
  assert.equal(budget.heldBytes, 80);
});

test('requests being processed are not dropped: a newcomer is rejected for lack of room', () => {
  const { budget, dropped, share } = setUp();
  const whole = share('whole');
  whole.hold(95);
  whole.settle();
  const late = share('late');
  late.hold(5);
  late.settle();
  assert.throws(() => late.hold(10), isFull);
  assert.deepEqual(dropped, []);
  late.release();
  whole.release();
  assert.equal(budget.heldBytes, 0);
});

test('new holders are spared, and the newcomer is rejected instead', () => {
  const { dropped, share, pass } = setUp(5_000);
  share('first').hold(90);
  pass(4_999);
  const late = share('late');
  assert.throws(() => late.hold(20), isFull);
  late.release();
  pass(1);
  share('later').hold(20);
  assert.deepEqual(dropped, ['first']);
});
