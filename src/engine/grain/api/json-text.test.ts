import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jsonBuffer, objectOfJson, stringifyJson, withoutMember } from './json.ts';
import { textOfObject } from './json-text.ts';
import type { JsonObject } from './json-value.ts';

const TEXT = '{"b":1,"a":[1,{"c":"x"}],"__proto__":{"d":2},"n":9007199254740993,"toJSON":"t"}';

test('a value kept as text is written unchanged, wherever it is in a value', () => {
  const spaced = Buffer.from('{ "a" : 1.0 }');
  const object = objectOfJson(spaced);
  assert.equal(stringifyJson(object), '{ "a" : 1.0 }');
  const around = { first: [object, { fields: object }], own: 'é', n: 2n ** 64n - 1n };
  const written = '{"first":[{ "a" : 1.0 },{"fields":{ "a" : 1.0 }}],"own":"é","n":18446744073709551615}';
  assert.equal(stringifyJson(around), written);
  assert.equal(jsonBuffer(around).toString(), written);
  assert.equal(jsonBuffer({ a: 'é' }).toString(), '{"a":"é"}');
});

test('readers of a value kept as text see what the text contains', () => {
  const object = objectOfJson(TEXT);
  assert.deepEqual(Object.keys(object), ['b', 'a', '__proto__', 'n', 'toJSON']);
  assert.equal(object['b'], 1);
  assert.equal(object['n'], 9007199254740993n);
  assert.equal(object['toJSON'], 't');
  assert.equal(Object.hasOwn(object, '__proto__'), true);
  assert.equal(Object.hasOwn(object, 'c'), false);
  assert.equal('a' in object, true);
  const { b, ...others } = object;
  assert.equal(b, 1);
  assert.equal(stringifyJson(others), TEXT.replace('"b":1,', ''));
  assert.equal(JSON.stringify({ ...objectOfJson('{"a":{"b":[]}}') }), '{"a":{"b":[]}}');
  assert.equal(JSON.stringify(objectOfJson('{"a":{"b":[]}}')), '{"a":{"b":[]}}');
});

test('a value kept as text cannot be changed, because the text would not follow', () => {
  const object = objectOfJson('{"a":1}');
  assert.throws(() => {
    object['a'] = 2;
  }, TypeError);
  assert.throws(() => delete object['a'], TypeError);
  assert.equal(stringifyJson(object), '{"a":1}');
});

test('the known members are answered without parsing the text', () => {
  const object = objectOfJson(
    'not JSON',
    new Map([
      ['subject', 'Ada'],
      ['object', undefined],
    ]),
  );
  assert.equal(object['subject'], 'Ada');
  assert.equal(Object.hasOwn(object, 'subject'), true);
  assert.equal(object['object'], undefined);
  assert.equal(Object.hasOwn(object, 'object'), false);
  assert.throws(() => object['other'], SyntaxError);
});

test('a last member is cut off the text; another one is removed from a copy', () => {
  const without = (text: string): JsonObject => withoutMember(objectOfJson(text), 'superseded_by');
  const last = without('{"a":{"superseded_by":"x"},"superseded_by":"ff00"}');
  assert.equal(textOfObject(last)?.toString(), '{"a":{"superseded_by":"x"}}');
  for (const [text, left] of [
    ['{"superseded_by":"ff00","a":1}', '{"a":1}'],
    ['{"superseded_by":"ff00"}', '{}'],
    ['{"a":{"b":1,"superseded_by":"ff00"}}', '{"a":{"b":1,"superseded_by":"ff00"}}'],
    ['{"a":",\\"superseded_by\\":\\"ff00\\"}"}', '{"a":",\\"superseded_by\\":\\"ff00\\"}"}'],
    ['{"é":"é","superseded_by":"ff00"}', '{"é":"é"}'],
  ] as const)
    assert.equal(stringifyJson(without(text)), left);
  assert.deepEqual(withoutMember({ a: 1, b: 2 }, 'b'), { a: 1 });
});
