import assert from 'node:assert/strict';
import { test } from 'node:test';
import { APPEND_ITEMS_MAX } from '../base/limits.ts';
import { checkAppend } from './append-check.ts';

test('an append writes so many items, and removes any number', () => {
  const record = Buffer.from('a record');
  const items = Array.from({ length: APPEND_ITEMS_MAX }, () => record);
  const next = 2 * APPEND_ITEMS_MAX;
  const removals = Array.from({ length: next - 1 }, (_, i) => i + 1);
  checkAppend({ records: items, removals, state: [['a', null]] }, next);
  assert.throws(() => checkAppend({ records: items, state: [['a', record]] }, next), /bounded/);
  assert.throws(() => checkAppend({ records: [], removals: [next] }, next), /removal/);
});
