import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError } from '../engine/base/errors.ts';
import { Failure, failureOf, withoutPasswords } from './failure.ts';

test('a failure prints its code and message once each', () => {
  assert.deepEqual(failureOf(new Failure('MEM-E003', 'no memory m')), { code: 'MEM-E003', text: 'no memory m' });
  assert.deepEqual(failureOf(new EngineError('STO-E001', 'no room')), { code: 'STO-E001', text: 'no room' });
  assert.deepEqual(failureOf('odd'), { code: 'SYS-E001', text: 'odd' });
});

test('a missing key is reported as an option to give, not as a header', () => {
  const { code, text } = failureOf(new Failure('AUT-E005', 'credentials missing: send Authorization: Bearer <key>'));
  assert.equal(code, 'AUT-E005');
  assert.match(text, /--api-key or GRANARY_API_KEY/);
  assert.doesNotMatch(text, /Authorization/);
});

test('passwords of addresses in a text are hidden, and nothing else', () => {
  for (const [text, shown] of [
    [
      'no postgres://u:secret@h/x and postgresql://v:s@c/r?t@h2/y.',
      'no postgres://u:***@h/x and postgresql://v:***@h2/y.',
    ],
    ['/data/postgres:/u:secret@h/x is not there', '/data/postgres:/u:***@h/x is not there'],
    ['postgres://u@h/x, mail a:b@c', 'postgres://u@h/x, mail a:b@c'],
  ] as const)
    assert.equal(withoutPasswords(text), shown);
});
