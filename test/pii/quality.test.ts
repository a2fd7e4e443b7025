// How much of the labelled sentences is found, and how much of what is found is there. The model of names is left out:
// what is asked here must hold without it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { piiDetector } from '../../src/engine/govern/pii/detector.ts';
import { compared, labelled, precision, recall, score } from './labelled.ts';

const detector = piiDetector();

test('in the sentences that rules were written with, nothing is missed or made up', () => {
  for (const { text, marks } of labelled('first')) {
    const { wrongs, misses } = compared(detector.detect(text), marks);
    assert.deepEqual({ wrongs, misses }, { wrongs: [], misses: [] }, text);
  }
});

test('in the others nearly all is found, and nearly all of that is right', () => {
  const result = score(detector, labelled('second'));
  assert.ok(precision(result) >= 0.95, `precision ${precision(result)}`);
  assert.ok(recall(result) >= 0.9, `recall ${recall(result)}`);
});
