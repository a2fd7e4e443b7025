import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HeapBudget } from './heap-budget.ts';

test('a value that was not used since leaves first, across caches', () => {
  const budget = new HeapBudget(1_000);
  const one = budget.scope();
  const two = budget.scope();
  one.set('a', 'A', 200);
  two.set('b', 'B', 200);
  one.set('c', 'C', 200);
  assert.equal(one.get('a'), 'A');
  two.set('d', 'D', 200);
  assert.equal(two.get('b'), undefined);
  assert.equal(one.get('a'), 'A');
  assert.ok(budget.bytes <= 1_000);
});

test('a value larger than the budget is kept while it is the newest', () => {
  const budget = new HeapBudget(100);
  const cache = budget.scope();
  cache.set('big', 1, 5_000);
  assert.equal(cache.get('big'), 1);
  cache.set('next', 2, 10);
  assert.equal(cache.get('big'), undefined);
});

test('setting a key again charges it once, and a cleared cache charges nothing', () => {
  const budget = new HeapBudget(10_000);
  const cache = budget.scope();
  cache.set('a', 1, 500);
  const once = budget.bytes;
  cache.set('a', 2, 500);
  assert.equal(budget.bytes, once);
  assert.equal(cache.get('a'), 2);
  cache.clear();
  assert.equal(budget.bytes, 0);
  assert.equal(cache.get('a'), undefined);
});

test('a value that is used all the time stays, however many others pass', () => {
  const budget = new HeapBudget(2_000);
  const cache = budget.scope();
  cache.set('kept', 'K', 200);
  for (let i = 0; i < 1_000; i++) {
    cache.set(i, i, 200);
    assert.equal(cache.get('kept'), 'K');
    assert.ok(budget.bytes <= 2_000);
  }
  assert.ok(cache.size > 3);
});

test('a scope below a scope has its own keys and is cleared with it, and reserved bytes leave less room', () => {
  const budget = new HeapBudget(2_000);
  const above = budget.scope();
  const below = above.scope();
  above.set('a', 1, 100);
  below.set('a', 2, 100);
  assert.deepEqual([above.get('a'), below.get('a'), above.size], [1, 2, 2]);
  above.clear();
  assert.deepEqual([above.get('a'), below.get('a'), budget.bytes], [undefined, undefined, 0]);
  for (let i = 0; i < 5; i++) below.set(i, i, 100);
  budget.reserve(1_500);
  assert.equal(budget.bytes <= 2_000, true);
  assert.deepEqual([below.get(0), below.get(4)], [undefined, 4]);
  budget.reserve(-1_500);
  assert.equal(budget.bytes, 440);
});
