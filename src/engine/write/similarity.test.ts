import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../test/support/runs.ts';
import { isSimilar, similarity } from './similarity.ts';

/** Levenshtein's distance by its definition. */
function distance(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return a.length + b.length;
  const [, ...restA] = a;
  const [, ...restB] = b;
  if (a[0] === b[0]) return distance(restA, restB);
  return 1 + Math.min(distance(restA, b), distance(a, restB), distance(restA, restB));
}

const short = fc.array(fc.constantFrom('a', 'b', '𝒸'), { maxLength: 6 }).map((letters) => letters.join(''));

test('similarity is one less the distance by the longer length, in code points', () => {
  fc.assert(
    fc.property(short, short, (a, b) => {
      const [left, right] = [[...a], [...b]];
      const longest = Math.max(left.length, right.length);
      assert.equal(similarity(a, b), longest === 0 ? 1 : 1 - distance(left, right) / longest);
    }),
  );
});

test('answers without an alignment are correct', () => {
  const threshold = fc.constantFrom(0, 0.25, 0.5, 0.8, 0.85, 1);
  fc.assert(
    fc.property(short, short, threshold, (a, b, least) => {
      assert.equal(isSimilar(a, b, least), similarity(a, b) >= least);
    }),
    { numRuns: runs(1_000) },
  );
});

test('long texts with little in common are not aligned', () => {
  const rivals = Array.from({ length: 1_000 }, (_, at) => String.fromCharCode(97 + (at % 20)).repeat(2_000));
  assert.deepEqual(
    rivals.filter((rival) => isSimilar(rival, 'z'.repeat(2_000), 0.85)),
    [],
  );
});
