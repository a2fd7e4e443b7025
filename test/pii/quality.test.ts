// Recall and precision on the labelled sentences.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { piiDetector } from '../../src/engine/text/pii/detector.ts';
import { loadNameModel } from '../../src/engine/text/pii/name-model.ts';
import { compared, labelled, precision, recall, score } from './labelled.ts';

const detector = piiDetector({ names: await loadNameModel() });
const byLists = piiDetector();

test('the sentences that the rules were written with have no missed and no false findings', () => {
  for (const { text, labels } of [...labelled('first'), ...labelled('third')]) {
    const { wrongs, misses } = compared(detector.detect(text), labels);
    assert.deepEqual({ wrongs, misses }, { wrongs: [], misses: [] }, text);
  }
  // Without the model a few names of the first set are missed.
  for (const { text, labels } of labelled('third'))
    assert.deepEqual(compared(byLists.detect(text), labels), { wrongs: [], misses: [] }, text);
});

test('nearly all findings of the other sentences are found and right, with and without the model of names', () => {
  for (const judging of [detector, byLists]) {
    for (const half of ['second', 'fourth'] as const) {
      const result = score(judging, labelled(half));
      assert.ok(precision(result) >= 0.95, `precision ${precision(result)}`);
      assert.ok(recall(result) >= 0.9, `recall ${recall(result)}`);
    }
  }
});
