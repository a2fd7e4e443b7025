import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError } from '../engine/base/errors.ts';
import { Failure, failureOf } from './failure.ts';

test('a failure is told by its code and words, once each', () => {
  assert.deepEqual(failureOf(new Failure('MEM-E003', 'no memory m')), { code: 'MEM-E003', text: 'no memory m' });
  assert.deepEqual(failureOf(new EngineError('STO-E001', 'no room')), { code: 'STO-E001', text: 'no room' });
  assert.deepEqual(failureOf('odd'), { code: 'SYS-E001', text: 'odd' });
});

test('who has no key is told where one would be taken from, not which header to send', () => {
  const { code, text } = failureOf(new Failure('AUT-E005', 'credentials missing: send Authorization: Bearer <key>'));
  assert.equal(code, 'AUT-E005');
  assert.match(text, /--api-key or GRANARY_API_KEY/);
  assert.doesNotMatch(text, /Authorization/);
});
