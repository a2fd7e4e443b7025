import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { finish } from '../testing/shard.ts';
import { orderKeys } from './key-order.ts';

const even = fc.tuple(fc.nat(0xffff_ffff), fc.nat(0xffff_ffff));
const uneven = fc.tuple(fc.constantFrom(0, 1, 0xffff_ffff), fc.nat(20));
const keys = fc.array(fc.oneof(even, uneven), { maxLength: 500 });

function order(of: readonly [number, number][], tie?: (a: number, b: number) => number): number[] {
  const high = Uint32Array.from(of, ([first]) => first);
  const low = Uint32Array.from(of, ([, second]) => second);
  return [...finish(orderKeys(high, low, tie))];
}

test('keys are sorted by both halves, equal ones stay in order or follow the tie, even or not', () => {
  fc.assert(
    fc.property(keys, (made) => {
      const all = made.map((_, i) => i);
      const compare = (a: number, b: number): number => made[a]![0] - made[b]![0] || made[a]![1] - made[b]![1];
      assert.deepEqual(
        order(made),
        all.toSorted((a, b) => compare(a, b) || a - b),
      );
      assert.deepEqual(
        order(made, (a, b) => b - a),
        all.toSorted((a, b) => compare(a, b) || b - a),
      );
    }),
  );
});

test('keys that share all their first bits are sorted too', () => {
  const made = Array.from({ length: 3_000 }, (_, i): [number, number] => [7, (i * 2_654_435_761) % 1_000]);
  const expected = made.map((_, i) => i).sort((a, b) => made[a]![1] - made[b]![1] || a - b);
  assert.deepEqual(order(made), expected);
});
