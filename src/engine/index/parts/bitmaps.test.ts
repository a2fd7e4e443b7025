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
