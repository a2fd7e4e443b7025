import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError } from '../../engine/base/errors.ts';
import { Type } from './type.ts';
import { compileCheck } from './validate.ts';

const check = compileCheck(
  Type.Object({
    dueOn: Type.Optional(Type.Enum(['day', 'week'])),
    most: Type.Optional(Type.Union([Type.Integer({ minimum: 2, maximum: 8 }), Type.Literal(0)])),
  }),
  { paged: false },
);

function refusalOf(value: unknown): string {
  try {
    check(value);
  } catch (error) {
    if (error instanceof EngineError) return error.message;
    throw error;
  }
  return 'accepted';
}

test('a text outside a list is out of range, and the error lists the values; another type is mistyped', () => {
  assert.equal(refusalOf({ dueOn: 'week' }), 'accepted');
  assert.equal(refusalOf({ dueOn: 'month' }), 'VAL-E001: `due_on` must be one of day, week');
  for (const value of [5, true, ['day'], {}])
    assert.equal(refusalOf({ dueOn: value }), 'VAL-E003: invalid type for `due_on`: expected string');
});

test('a number with a special value beside its range has the range in its error', () => {
  assert.equal(refusalOf({ most: 0 }), 'accepted');
  assert.equal(refusalOf({ most: 8 }), 'accepted');
  assert.equal(refusalOf({ most: 1 }), 'VAL-E001: `most` must be >= 2');
  assert.equal(refusalOf({ most: 9 }), 'VAL-E001: `most` must be <= 8');
  assert.equal(refusalOf({ most: 'x' }), 'VAL-E003: invalid type for `most`: expected integer');
});
