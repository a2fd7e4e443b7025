import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { placesBetween } from './first-of.ts';

test('a page of an order is what sorting all of it gives', () => {
  const values = fc.oneof(
    fc.array(fc.nat({ max: 5 }), { maxLength: 60 }),
    fc.array(fc.double({ noNaN: true }), { maxLength: 60 }),
    fc.array(fc.nat(), { maxLength: 60 }).map((some) => some.toSorted((a, b) => a - b)),
  );
  fc.assert(
    fc.property(values, fc.nat({ max: 70 }), fc.nat({ max: 70 }), (values, from, length) => {
      const before = (a: number, b: number): boolean => values[a]! > values[b]! || (values[a] === values[b] && a < b);
      const sorted = values.map((_, i) => i).sort((a, b) => (before(a, b) ? -1 : 1));
      assert.deepEqual(placesBetween(values.length, from, from + length, before), sorted.slice(from, from + length));
    }),
    { numRuns: 1_000 },
  );
});

test('finding the first of many compares each a few times', () => {
  for (const placeOf of [(i: number) => i, (i: number) => -i, (i: number) => (i * 7_919) % 100_003, () => 0]) {
    let compared = 0;
    const before = (a: number, b: number): boolean => {
      compared += 1;
      return placeOf(a) < placeOf(b) || (placeOf(a) === placeOf(b) && a < b);
    };
    placesBetween(100_000, 50_000, 51_000, before);
    assert.ok(compared < 1_500_000, `${compared} comparisons`);
  }
});
