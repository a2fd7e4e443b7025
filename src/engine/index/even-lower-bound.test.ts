import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evenLowerBound } from './even-lower-bound.ts';

function expected(values: readonly number[], value: number): number {
  const at = values.findIndex((one) => one >= value);
  return at < 0 ? values.length : at;
}

const SHAPES: Record<string, readonly number[]> = {
  none: [],
  one: [5],
  equal: [5, 5, 5],
  even: Array.from({ length: 100 }, (_, i) => 3 + 2 * i),
  'with a gap': [...Array.from({ length: 50 }, (_, i) => i), ...Array.from({ length: 3 }, (_, i) => 1e9 + i)],
  'ever steeper': Array.from({ length: 40 }, (_, i) => 1.6 ** i),
  'ever flatter': Array.from({ length: 40 }, (_, i) => 1e9 - 1.6 ** (40 - i)),
  repeated: [1, 1, 1, 2, 2, 9, 9, 9, 9, 10],
};

for (const [name, values] of Object.entries(SHAPES))
  test(`the first value that is not below another one is found: ${name}`, () => {
    const asked = [-1, 0, 1e12, ...values.flatMap((value) => [value - 0.5, value, value + 0.5])];
    for (const value of asked)
      assert.equal(
        evenLowerBound((index) => values[index]!, value, values.length),
        expected(values, value),
        `${value}`,
      );
  });
