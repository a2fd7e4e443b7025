import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { finish } from '../testing/shard.ts';
import { findKey, lowerBound, sortedOrder } from './sorted-table.ts';

function tableOf(keys: readonly number[]) {
  const bytes = Buffer.alloc(keys.length * 6);
  keys.forEach((key, i) => {
    bytes.writeUInt32BE(key, i * 6);
  });
  const section = { length: bytes.length, bytes: (start: number, end: number) => bytes.subarray(start, end) };
  return { section, start: 0, count: keys.length, width: 6, keyBytes: 4 };
}

function keyOf(value: number): Uint8Array {
  const key = Buffer.alloc(4);
  key.writeUInt32BE(value);
  return key;
}

const uniform = fc.array(fc.nat(2 ** 32 - 1), { maxLength: 300 });
const skewed = fc.array(fc.oneof(fc.nat(20), fc.constant(2 ** 32 - 1), fc.nat(2 ** 16)), { maxLength: 300 });

test('a look-up finds the first of equal keys, for every distribution', () => {
  fc.assert(
    fc.property(fc.oneof(uniform, skewed), fc.nat(2 ** 32 - 1), (values, other) => {
      const keys = [...values].sort((a, b) => a - b);
      const table = tableOf(keys);
      for (const wanted of [other, 0, 2 ** 32 - 1, ...keys]) {
        const expected = keys.findIndex((key) => key >= wanted);
        assert.equal(lowerBound(table, keyOf(wanted)), expected < 0 ? keys.length : expected);
        assert.equal(findKey(table, keyOf(wanted)), keys.indexOf(wanted));
      }
    }),
  );
});

test('an order sorts by prefix, then by the comparator, in runs and without', () => {
  for (const [count, distinct] of [
    [0, 1],
    [7, 3],
    [32, 2 ** 32],
    [33, 5],
    [5_000, 700],
    [20_000, 2 ** 32],
  ] as const) {
    const prefixes = Array.from({ length: count }, (_, i) =>
      Math.floor(((Math.imul(i, 0x9e3779b1) >>> 0) / 2 ** 32) * distinct),
    );
    const order = finish(
      sortedOrder(
        count,
        (i) => prefixes[i]!,
        (a, b) => b - a,
      ),
    );
    const expected = Array.from({ length: count }, (_, i) => i).sort((a, b) => prefixes[a]! - prefixes[b]! || b - a);
    assert.deepEqual([...order], expected);
  }
});
