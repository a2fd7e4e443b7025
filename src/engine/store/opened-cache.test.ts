import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../test/support/runs.ts';
import type { Address } from '../grain/grain.ts';
import { HeapBudget } from '../index/heap-budget.ts';
import { type KeptGrain, OpenedCache } from './opened-cache.ts';

const RING = 1 << 17;

function grain(ordinal: number, blobBytes: number): KeptGrain {
  return {
    head: {
      memory: 1 + (ordinal % 3),
      key: 10 + (ordinal % 4),
      scopeKey: ordinal % 5 === 0 ? 20 : 0,
      userKey: ordinal % 2 === 0 ? 10 + (ordinal % 4) : 0,
      bound: Buffer.alloc(32, ordinal + 1),
    },
    address: Buffer.alloc(32, ordinal).toString('hex') as Address,
    blob: Buffer.alloc(blobBytes, ordinal + 2),
  };
}

const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant('set' as const), ordinal: fc.integer({ min: 1, max: 3_000 }) }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('get' as const), ordinal: fc.integer({ min: 1, max: 3_000 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('delete' as const), ordinal: fc.integer({ min: 1, max: 99 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('end' as const), key: fc.constantFrom(10, 11, 20) }) },
);

test('what the cache gives was set, and neither removed nor under a key that ended', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400 }), fc.array(fc.integer({ min: 0, max: 9_000 })), (steps, sizes) => {
      const budget = new HeapBudget(RING * 2);
      const cache = new OpenedCache(budget, RING);
      const there = new Map<number, KeptGrain>();
      for (const [i, one] of steps.entries()) {
        if (one.do === 'set') {
          const made = grain(one.ordinal, sizes[i % (sizes.length || 1)] ?? 300);
          if (!there.has(one.ordinal)) cache.set(one.ordinal, made);
          there.set(one.ordinal, there.get(one.ordinal) ?? made);
        } else if (one.do === 'get') {
          const found = cache.get(1 + (one.ordinal % 3), one.ordinal);
          assert.equal(cache.get(9, one.ordinal), undefined, 'of another memory');
          if (found !== undefined) assert.deepEqual(found, there.get(one.ordinal));
          else there.delete(one.ordinal); // it made room
        } else if (one.do === 'delete') {
          cache.delete(one.ordinal);
          there.delete(one.ordinal);
          assert.equal(cache.get(1 + (one.ordinal % 3), one.ordinal), undefined);
        } else {
          cache.endKeys([one.key]);
          for (const [ordinal, { head }] of there)
            if (head.key === one.key || head.scopeKey === one.key) {
              there.delete(ordinal);
              assert.equal(cache.get(head.memory, ordinal), undefined);
            }
        }
        assert.ok(cache.counts.bytes <= RING);
      }
    }),
    { numRuns: runs(100) },
  );
});

test('grains that are asked for again outlast those that nobody asks for', () => {
  const cache = new OpenedCache(new HeapBudget(RING * 2), RING);
  cache.set(1, grain(1, 300));
  for (let ordinal = 2; ordinal < 3_000; ordinal++) {
    cache.set(ordinal, grain(ordinal, 300));
    assert.deepEqual(cache.get(2, 1), grain(1, 300));
  }
  assert.equal(cache.get(1 + (2 % 3), 2), undefined, 'asked for once');
});

test('it counts in the heap budget, of which it takes at most half, and nothing before the first grain', () => {
  const budget = new HeapBudget(1 << 20);
  const cache = new OpenedCache(budget, 1 << 30);
  assert.equal(budget.bytes, 0);
  for (let ordinal = 1; ordinal < 5_000; ordinal++) cache.set(ordinal, grain(ordinal, 300));
  assert.ok(cache.counts.bytes > 400_000 && cache.counts.bytes <= 1 << 19);
  assert.ok(budget.bytes >= cache.counts.bytes);
});

test('a cache of no bytes keeps nothing, and no cache keeps the grains of older builds or large ones', () => {
  const off = new OpenedCache(new HeapBudget(1 << 20), 0);
  off.set(1, grain(1, 300));
  off.endKeys([10]);
  off.delete(1);
  assert.equal(off.get(2, 1), undefined);
  const on = new OpenedCache(new HeapBudget(1 << 20), 1 << 19);
  on.set(1, grain(1, 20_000));
  const { head, ...rest } = grain(2, 300);
  on.set(2, { ...rest, head: { ...head, userKey: undefined } });
  assert.equal(on.get(2, 1), undefined);
  assert.equal(on.get(3, 2), undefined);
});

test('what is dropped is overwritten', (t) => {
  let ring: Buffer | undefined;
  const allocate = Buffer.allocUnsafeSlow;
  t.mock.method(Buffer, 'allocUnsafeSlow', (bytes: number) => {
    ring = allocate(bytes).fill(0);
    return ring;
  });
  const cache = new OpenedCache(new HeapBudget(1 << 20), 1 << 19);
  const secret = Buffer.from('the diagnosis of ann');
  const put = (ordinal: number, key: number): void => {
    const { head, ...rest } = grain(ordinal, 0);
    cache.set(ordinal, { ...rest, head: { ...head, key, scopeKey: 0 }, blob: secret });
  };
  put(1, 10);
  put(2, 11);
  put(1, 10);
  assert.ok(ring?.includes(secret));
  cache.endKeys([10]);
  assert.ok(ring?.includes(secret));
  cache.delete(2);
  assert.ok(!ring?.includes(secret));
});
