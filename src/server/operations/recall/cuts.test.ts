import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cutWarnings } from './cuts.ts';

test('sources that an answer leaves out are reported', () => {
  const found = { hits: [], total: 0 };
  assert.deepEqual(cutWarnings({}, found, 100), []);
  assert.deepEqual(cutWarnings({}, { ...found, sourcesCut: true }, 100), [
    'the hits have more than 500 sources: `sources` has those of the best hits',
  ]);
});
