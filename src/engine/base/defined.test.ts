import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defined } from './defined.ts';

test('drops undefined members and keeps the order of the others', () => {
  const kept = defined({ b: 1, a: undefined, c: null, d: false, e: '' });
  assert.deepEqual(Object.entries(kept), [
    ['b', 1],
    ['c', null],
    ['d', false],
    ['e', ''],
  ]);
});

test('copies: the given object stays as it is', () => {
  const given: { readonly a?: number | undefined } = { a: undefined };
  assert.notEqual(defined(given), given);
  assert.deepEqual(Object.keys(given), ['a']);
});

test('looks at the members only, not at what they hold', () => {
  const inner = { a: undefined };
  assert.equal(defined({ inner }).inner, inner);
});
