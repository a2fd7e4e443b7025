import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { EngineError } from '../../base/errors.ts';
import { JSON_DEPTH_MAX, REQUEST_MEMBERS_MAX } from '../../base/limits.ts';
import { checkJsonBounds, checkJsonTextBounds, countMembers } from './json-bounds.ts';

const bytes = (text: string): Buffer => Buffer.from(text);

/** The expected count, by walking the value. */
function walked(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const members = Object.values(value);
  return members.reduce((sum: number, member) => sum + walked(member), members.length);
}

const refusedWith = (code: string, text: RegExp) => (error: unknown) =>
  error instanceof EngineError && error.code === code && text.test(error.message);

test('the scan counts the values that a parser would create', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 8 }), fc.constantFrom('', ' ', '\n\t'), (value, blanks) => {
      const text = JSON.stringify(value, undefined, blanks);
      assert.equal(countMembers(bytes(text)), walked(value), text);
    }),
    { numRuns: 300 },
  );
});

test('the content of strings is not counted, escaped quotes included', () => {
  for (const text of ['"[{,]}"', '"\\"[,"', '"\\\\"', '{"a,b[":"\\\\\\",[{"}', '"', '"\\', '[ ]', '{\n}', '[[],{}]'])
    assert.equal(countMembers(bytes(text)), { '{"a,b[":"\\\\\\",[{"}': 1, '[[],{}]': 2 }[text] ?? 0, text);
});

test('a text at the bound passes, and one more value does not', () => {
  const list = (length: number): string => `[${'12,'.repeat(length - 1)}12]`;
  checkJsonBounds(bytes(list(REQUEST_MEMBERS_MAX)));
  assert.throws(() => checkJsonBounds(bytes(list(REQUEST_MEMBERS_MAX + 1))), refusedWith('VAL-E001', /50000 members/));
});

test('the texts of one request share the bound', () => {
  const half = `[${'12,'.repeat(REQUEST_MEMBERS_MAX / 2)}12]`;
  checkJsonTextBounds([half], 'x');
  assert.throws(
    () => checkJsonTextBounds([half, half], 'the batch'),
    refusedWith('VAL-E001', /the batch has more than/),
  );
});

test('nesting is bounded before anything is parsed', () => {
  const nested = `${'['.repeat(JSON_DEPTH_MAX + 1)}${' '.repeat(2 * REQUEST_MEMBERS_MAX)}`;
  assert.throws(() => checkJsonBounds(bytes(nested)), refusedWith('VAL-E001', /nested deeper than 64 levels/));
});
