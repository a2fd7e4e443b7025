import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../../test/support/runs.ts';
import { StateOnly } from '../testing/shard.ts';
import { Bitmap } from './bitmaps.ts';

const ordinals = fc.array(fc.oneof(fc.nat(200), fc.nat(200_000), fc.integer({ min: 2 ** 32 - 50, max: 2 ** 32 - 1 })), {
  maxLength: 60,
});

test('a bitmap is a set of ordinals, and is restored from its pages', () => {
  fc.assert(
    fc.property(ordinals, ordinals, fc.nat(210_000), fc.nat(70_000), (first, second, from, length) => {
      const state = new StateOnly();
      const bitmap = new Bitmap('test');
      const model = new Set<number>();
      for (const list of [first, second]) {
        for (const ordinal of list) {
          assert.equal(bitmap.set(ordinal), !model.has(ordinal));
          model.add(ordinal);
        }
        state.write(bitmap.export());
        bitmap.exportDone(true);
      }
      const again = new Bitmap('test');
      again.load(state);
      for (const found of [bitmap, again]) {
        assert.equal(found.count, model.size);
        for (const ordinal of model) assert.ok(found.get(ordinal));
        assert.equal(
          found.any(from, from + length),
          [...model].some((ordinal) => ordinal >= from && ordinal <= from + length),
        );
      }
    }),
    { numRuns: runs(50) },
  );
});

test('pages of a failed transaction are written with the next', () => {
  const bitmap = new Bitmap('test');
  bitmap.set(5);
  assert.equal(bitmap.export().length, 1);
  bitmap.set(100_000);
  bitmap.exportDone(false);
  assert.deepEqual(
    bitmap.export().map(([key]) => key),
    ['bitmap/test/0', 'bitmap/test/3'],
  );
  bitmap.exportDone(true);
  assert.deepEqual(bitmap.export(), []);
});

test('copies of pages have the flags of a range, and do not change', () => {
  const bitmap = new Bitmap('copied');
  const set = [5, 40_000, 99_999, 100_000, 300_000];
  for (const ordinal of set) bitmap.set(ordinal);
  const pages = bitmap.pages(1, 100_000);
  assert.deepEqual(
    pages.map(([page]) => page),
    [0, 1, 3],
  );
  assert.deepEqual(bitmap.pages(40_001, 50_000).length, 1);
  assert.deepEqual(bitmap.pages(70_000, 90_000), []);
  const copy = Bitmap.of(structuredClone(pages));
  bitmap.set(6);
  bitmap.clear(40_000);
  for (const ordinal of [...set, 6, 40_001]) assert.equal(copy.get(ordinal), set.slice(0, 4).includes(ordinal));
  assert.deepEqual([copy.any(7, 39_999), copy.any(39_999, 40_000)], [false, true]);
});
