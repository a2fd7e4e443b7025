import assert from 'node:assert/strict';
import { test } from 'node:test';
import { orderOf } from './local-reranker.ts';

test('scored passages share their places, the best first; the others keep theirs', () => {
  assert.deepEqual(orderOf([0.1, 0.9, 0.5]), [1, 2, 0]);
  assert.deepEqual(orderOf([0.1, undefined, 0.5, undefined, 0.9]), [4, 1, 2, 3, 0]);
  assert.deepEqual(orderOf([1, 1, 2]), [2, 0, 1], 'equal scores keep their order');
  assert.deepEqual(orderOf([undefined, undefined]), [0, 1]);
});
