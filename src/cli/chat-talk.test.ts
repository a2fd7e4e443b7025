import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noteOf } from './chat-talk.ts';

test('a call of a tool is shown with integers of any size', () => {
  assert.equal(noteOf({ name: 'add', arguments: { count: 9_007_199_254_740_993n } }), '[add {"count":9007199254740993}]');
});
