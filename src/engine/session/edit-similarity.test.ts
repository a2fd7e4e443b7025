import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { similarity } from '../write/similarity.ts';
import { lettersOf, similarityOf } from './edit-similarity.ts';

test('the bounded similarity is that of a full alignment, or none below the threshold', () => {
  const text = fc.oneof(
    fc.string({ maxLength: 30 }),
    fc.string({ unit: 'binary', maxLength: 12 }),
    fc.array(fc.constantFrom('tea', 'coffee', ' ', 'é'), { maxLength: 9 }).map((words) => words.join('')),
  );
  fc.assert(
    fc.property(text, text, fc.constantFrom(0.1, 0.5, 0.85, 0.95, 1), (a, b, threshold) => {
      const whole = similarity(a, b);
      const found = similarityOf(lettersOf(a), lettersOf(b), threshold, { cells: 0 });
      if (found === undefined) assert.ok(whole < threshold, `${whole} reaches ${threshold}`);
      else assert.ok(Math.abs(found - whole) < 1e-9 && found >= threshold - 1e-9, `${found} instead of ${whole}`);
    }),
  );
});

test('work is counted, and texts without common letters are not aligned', () => {
  const work = { cells: 0 };
  similarityOf(lettersOf('a'.repeat(2_000)), lettersOf('b'.repeat(2_000)), 0.9, work);
  assert.ok(work.cells < 1_000);
  similarityOf(lettersOf('ab'.repeat(1_000)), lettersOf('ba'.repeat(1_000)), 0.9, work);
  assert.ok(work.cells > 100_000 && work.cells < 2_000_000, String(work.cells));
});
