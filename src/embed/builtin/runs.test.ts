import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../test/support/runs.ts';
import { ENCODER_RUN_TOKENS_MAX, ENCODER_SHARED_TOKENS_MAX } from '../../engine/base/limits.ts';
import { newBatch, type Taken, takeRun } from './runs.ts';

const text = (length: number): Int32Array => new Int32Array(length);
const places = (run: readonly Taken<Int32Array>[]): string[] => run.map(({ batch, place }) => `${batch.id}.${place}`);

test('texts of the same length share a run, also over several batches, the oldest text first', () => {
  const batches = [newBatch(1, [5, 7, 5].map(text)), newBatch(2, [7, 5].map(text))];
  assert.deepEqual(places(takeRun(batches, true)), ['1.0', '1.2', '2.1']);
  assert.deepEqual(places(takeRun(batches, true)), ['1.1', '2.0']);
  assert.deepEqual(places(takeRun(batches, true)), []);
});

test('an encoder that takes one text at a time gets them in order', () => {
  const batch = newBatch(1, [text(5), undefined, text(5)]);
  assert.deepEqual([takeRun([batch], false), takeRun([batch], false), takeRun([batch], false)].map(places), [
    ['1.0'],
    ['1.2'],
    [],
  ]);
});

test('long texts run alone', () => {
  const long = ENCODER_SHARED_TOKENS_MAX + 1;
  assert.equal(takeRun([newBatch(1, [long, long].map(text))], true).length, 1);
});

test('each text with tokens is taken once, in runs of one length and of bounded size', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(fc.option(fc.integer({ min: 1, max: 128 }), { nil: undefined }), { maxLength: 40 })),
      (lengths) => {
        const batches = lengths.map((each, id) =>
          newBatch(
            id,
            each.map((length) => (length === undefined ? undefined : text(length))),
          ),
        );
        const taken: string[] = [];
        for (let run = takeRun(batches, true); run.length > 0; run = takeRun(batches, true)) {
          taken.push(...places(run));
          const tokens = run.map(({ tokens: { length } }) => length);
          assert.equal(new Set(tokens).size, 1);
          assert.ok(run.length === 1 || run.length * tokens[0]! <= ENCODER_RUN_TOKENS_MAX);
        }
        const all = lengths.flatMap((each, id) =>
          each.flatMap((length, place) => (length === undefined ? [] : [`${id}.${place}`])),
        );
        assert.deepEqual(taken.toSorted(), all.toSorted());
        assert.ok(batches.every(({ left }) => left.length === 0));
      },
    ),
    { numRuns: runs(50) },
  );
});
