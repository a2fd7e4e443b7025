import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../../test/support/runs.ts';
import { Needles } from './needles.ts';

function foundBy(needles: readonly Uint8Array[], bytes: Uint8Array): number[] {
  const found = new Set<number>();
  new Needles(needles).search(bytes, found);
  return [...found].sort((a, b) => a - b);
}

test('the search finds the same as a search for each needle', () => {
  // Few letters, so that needles overlap, repeat and begin within one another.
  const letters = (minLength: number, maxLength: number) =>
    fc.uint8Array({ minLength, maxLength, max: 2 }).map((bytes) => Buffer.from(bytes));
  fc.assert(
    fc.property(fc.array(letters(2, 7), { minLength: 1, maxLength: 8 }), letters(0, 60), (needles, bytes) => {
      const expected = needles.flatMap((needle, i) => (bytes.includes(needle) ? [i] : []));
      assert.deepEqual(foundBy(needles, bytes), expected);
    }),
    { numRuns: runs(500) },
  );
});

test('needles at both ends, of very different lengths, and longer than a jump are found', () => {
  const long = Buffer.from('somebody of long ago '.repeat(40));
  const [begins, ends] = [Buffer.from('beginning'), Buffer.from('the end')];
  const needles = [begins, long, ends, Buffer.from('not there')];
  assert.deepEqual(foundBy(needles, Buffer.concat([begins, long, ends])), [0, 1, 2]);
  assert.deepEqual(foundBy([long], Buffer.concat([Buffer.from('x'), long])), [0]);
  assert.deepEqual(foundBy([long], long.subarray(1)), []);
  assert.deepEqual(foundBy(needles, Buffer.alloc(0)), []);
});
