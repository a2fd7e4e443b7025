import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../../../test/support/runs.ts';
import { type Filled, type Filling, fill } from './fill.ts';

const of = (weight: number, costs: readonly number[], summaries?: readonly number[]): Filling => ({
  weight,
  count: costs.length,
  cost: (i) => costs[i]!,
  summaryCost: summaries && ((i) => summaries[i]!),
});
const taken = (filled: readonly Filled[]) => filled.map((one) => one.taken);

test('a source stops at the first grain that does not fit its share', () => {
  assert.deepEqual(taken(fill([of(1, [4, 4, 4, 1])], 10, 0)), [2]);
  assert.deepEqual(taken(fill([of(1, [11, 1])], 10, 0)), [0]);
});

test('the surplus is divided again by weight, round by round', () => {
  // 10 and 10; the first leaves 8, none of which returns to it.
  const [first, second] = fill([of(1, [2]), of(1, [9, 8, 9])], 20, 0);
  assert.deepEqual([first?.taken, second?.taken], [1, 2]);
  assert.deepEqual([first?.allocated, second?.allocated], [2, 18]);
});

test('a share of the surplus that is too small for the next grain is not combined with another', () => {
  // 10 each; both leave 4, and get 4 back.
  assert.deepEqual(taken(fill([of(1, [6, 6]), of(1, [6, 6])], 20, 0)), [1, 1]);
});

test('shares are computed from the whole, and the frame is taken from the last', () => {
  const filled = fill([of(1, [5, 5]), of(1, [5, 5])], 20, 3);
  assert.deepEqual([taken(filled), filled[0]?.allocated], [[2, 1], 10]);
});

test('squeezed grains follow whole ones, by rank, as long as they fit', () => {
  const filled = fill([of(1, [6, 6, 6], [2, 2, 2]), of(1, [6, 6], [2, 2])], 20, 0);
  assert.deepEqual(
    filled.map(({ taken: whole, squeezed, used }) => [whole, squeezed, used]),
    [
      [1, 2, 10],
      [1, 1, 8],
    ],
  );
});

test('the budget is never exceeded, and no grain that would fit is left out', () => {
  const costs = fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 12 });
  const sources = fc.array(fc.record({ weight: fc.integer({ min: 0, max: 20 }), costs, squeezes: fc.boolean() }), {
    ...{ minLength: 1, maxLength: 8 },
  });
  fc.assert(
    fc.property(sources, fc.integer({ min: 0, max: 400 }), fc.integer({ min: 0, max: 60 }), (all, total, reserve) => {
      const half = (own: readonly number[]) => own.map((cost) => Math.ceil(cost / 2));
      const filled = fill(
        all.map(({ weight, costs: own, squeezes }) => of(weight, own, squeezes ? half(own) : undefined)),
        total,
        reserve,
      );
      const used = filled.reduce((sum, one) => sum + one.used, 0);
      assert.ok(used <= Math.max(0, total - reserve));
      assert.ok(filled.reduce((sum, { allocated }) => sum + allocated, 0) <= total);
      for (const [i, one] of filled.entries()) {
        const { costs: own, squeezes } = all[i]!;
        const spent = [...own.slice(0, one.taken), ...half(own).slice(one.taken, one.taken + one.squeezed)];
        assert.equal(
          one.used,
          spent.reduce((sum, cost) => sum + cost, 0),
        );
        assert.ok(one.allocated >= one.used);
        const next = half(own)[one.taken + one.squeezed];
        if (squeezes && next !== undefined) assert.ok(next > total - reserve - used, 'a summary would have fitted');
      }
    }),
    { numRuns: runs(400) },
  );
});
