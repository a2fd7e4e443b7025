import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../../test/support/runs.ts';
import { parseJson, stringifyJson } from './json.ts';
import type { JsonValue } from './json-value.ts';

/** The result of the runtime's own reviver, which sees the source text. */
function byReviver(text: string): unknown {
  const parse = JSON.parse as (
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ) => unknown; // the reviver's third argument is not yet in TypeScript's library
  return parse(text, (_key, value, { source }) => {
    if (typeof value !== 'number' || Number.isSafeInteger(value) || !/^-?\d+$/.test(source ?? '')) return value;
    const integer = BigInt(source ?? '');
    const isInt64 = integer >= -(2n ** 63n) && integer < 2n ** 64n;
    return isInt64 || (String(value) !== source && BigInt(value) !== integer) ? integer : value;
  });
}

/** JSON texts full of quotes, backslashes and digits, with numbers of every form. */
const digits = fc.stringMatching(/^(0|[1-9][0-9]{0,22})$/);
const number = fc
  .tuple(fc.constantFrom('', '-'), digits, fc.constantFrom('', '.0', '.12345678901234567', 'e3', 'E-20', 'e+0'))
  .map((parts) => parts.join(''));
const tricky = fc
  .array(fc.constantFrom('"', '\\', '1234567890123456789', ',', ':', ' ', 'e', '.', '\u2028'), { maxLength: 6 })
  .map((parts) => JSON.stringify(parts.join('')));
const text = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    number,
    tricky,
    fc.constantFrom('null', 'true'),
    fc.array(tie('value'), { maxLength: 5 }).map((items) => `[ ${items.join(' , ')}]`),
    fc
      .array(fc.tuple(fc.oneof(tricky, fc.constant('"__proto__"')), tie('value')), { maxLength: 4 })
      .map((members) => `{${members.map(([key, value]) => `${key} : ${value}`).join(',')}}`),
  ),
})).value;

test('integers beyond 2^53 are exact, wherever they are, and nothing else changes', () => {
  fc.assert(
    fc.property(text, (given) => {
      const value = parseJson(given);
      assert.deepEqual(value, byReviver(given));
      assert.equal(stringifyJson(parseJson(stringifyJson(value))), stringifyJson(value));
    }),
    { numRuns: runs(1_000) },
  );
});

test('integers are exact at the bounds of 64 bits', () => {
  const whole = ['9007199254740992', '-9007199254740993', '18446744073709551615', '-9223372036854775808'];
  assert.deepEqual(parseJson(`[${whole.join()}]`), whole.map(BigInt));
  assert.equal(stringifyJson(parseJson(`[${whole.join()}]`)), `[${whole.join()}]`);
  assert.equal(parseJson('9007199254740993'), 9007199254740993n);
  const floats = ['18446744073709551616', '123456789012345680000', '1e30', '9007199254740993.0', '9007199254740993e0'];
  assert.deepEqual(parseJson(`[${floats.join()}]`), floats.map(Number));
  const neither = ['-9223372036854775809', '18446744073709551617', '123456789012345678901', '9'.repeat(300)];
  assert.deepEqual(parseJson(`[${neither.join()}]`), neither.map(BigInt), 'they are not rounded silently');
  assert.equal(parseJson('9007199254740991'), 9007199254740991);
});

test('invalid JSON is refused in the words of the whole text', () => {
  for (const bad of ['[9007199254740993', '9007199254740993x', '{"a":09007199254740993}', '"9007199254740993'])
    assert.throws(() => parseJson(bad), SyntaxError, bad);
  assert.deepEqual(
    parseJson('{"__proto__":9007199254740993}') as object,
    JSON.parse('{"__proto__":0}', (_, v: unknown) => (v === 0 ? 9007199254740993n : v)),
  );
});

test('nesting as deep as the parser allows is walked without a stack', () => {
  const deep = 100_000;
  let value: JsonValue | undefined = parseJson(`${'['.repeat(deep)}9007199254740993${']'.repeat(deep)}`);
  for (let level = 0; level < deep; level++) {
    assert.ok(Array.isArray(value));
    value = value[0];
  }
  assert.equal(value, 9007199254740993n);
});
