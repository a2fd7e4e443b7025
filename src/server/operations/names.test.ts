import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  fromMessage,
  fromQuery,
  inward,
  nodeOf,
  outsideSchema,
  outward,
  toCamel,
  toMessage,
  toSnake,
} from './names.ts';
import { Type } from './type.ts';

const Inner = Type.Object({
  deepName: Type.Optional(Type.Integer()),
  openMap: Type.Unsafe<object>({ type: 'object' }),
});
const Schema = Type.Object({
  userId: Type.Optional(Type.String()),
  manyTags: Type.Optional(Type.Array(Type.String())),
  inner: Type.Optional(Inner),
  innerList: Type.Optional(Type.Array(Inner)),
  fields: Type.Optional(Type.Unsafe<object>({ type: 'object' })),
});
const node = nodeOf(Schema);

test('snake_case and camelCase are each other’s inverse for names of the contract', () => {
  for (const name of ['a', 'user_id', 'exhaustive_max_rounds', 'total']) assert.equal(toSnake(toCamel(name)), name);
});

test('outside names convert back, and open values keep their names', () => {
  const inner = fc.record(
    { deepName: fc.integer(), openMap: fc.dictionary(fc.string(), fc.jsonValue()) },
    { requiredKeys: ['openMap'] },
  );
  const value = fc.record(
    {
      userId: fc.string(),
      manyTags: fc.array(fc.string()),
      inner,
      innerList: fc.array(inner),
      fields: fc.dictionary(fc.string(), fc.jsonValue()),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(value, (generated) => {
      // As JSON.parse returns it: fast-check's records may lack a prototype.
      const inside: unknown = JSON.parse(JSON.stringify(generated));
      const outside = outward(node, inside);
      assert.deepEqual(inward(node, outside), inside);
    }),
  );
});

test('an explicit null is absent, and an unknown member is dropped', () => {
  assert.deepEqual(
    inward(node, { user_id: null, userId: 'x', stranger: 1, inner: { deep_name: null, open_map: { a: null } } }),
    {
      inner: { openMap: { a: null } },
    },
  );
});

test('the outside schema has outside names, required ones too', () => {
  assert.deepEqual(Object.keys(outsideSchema(Schema)['properties'] as object), [
    'user_id',
    'many_tags',
    'inner',
    'inner_list',
    'fields',
  ]);
  assert.deepEqual(outsideSchema(Inner)['required'], ['open_map']);
});

test('a query string is read by its schema, and invalid values are left to validation', () => {
  const query = nodeOf(
    Type.Object({
      maxCount: Type.Integer(),
      isOn: Type.Boolean(),
      tag: Type.Array(Type.String()),
      name: Type.String(),
    }),
  );
  assert.deepEqual(
    fromQuery(query, { max_count: ['1', '20'], is_on: ['true'], tag: ['a', 'b'], name: ['5'], other: ['x'] }),
    {
      maxCount: 20,
      isOn: true,
      tag: ['a', 'b'],
      name: '5',
    },
  );
  assert.deepEqual(fromQuery(query, { max_count: ['ten'], is_on: ['maybe'] }), { maxCount: 'ten', isOn: 'maybe' });
});

test('empty texts and lists of a message are absent, its zeros are not, and x_json is the text of x', () => {
  assert.deepEqual(fromMessage(node, { userId: '', manyTags: [], fieldsJson: '{"a_b":1}', inner: { deepName: 0 } }), {
    fields: { a_b: 1 },
    inner: { deepName: 0 },
  });
  assert.throws(() => fromMessage(node, { fieldsJson: '{' }), { code: 'VAL-E002', message: /fields_json/ });
  // The maximum depth of a body over HTTP, because later code walks the message.
  const nested = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;
  assert.deepEqual(fromMessage(node, { fieldsJson: nested(64) }), { fields: JSON.parse(nested(64)) });
  for (const levels of [65, 100_000])
    assert.throws(() => fromMessage(node, { fieldsJson: nested(levels) }), {
      code: 'VAL-E001',
      message: /fields_json/,
    });
  const shape = { userId: '', fieldsJson: '' };
  assert.deepEqual(toMessage(node, { userId: 'u', fields: { a: 2n ** 60n }, manyTags: ['x'] }, shape), {
    userId: 'u',
    fieldsJson: '{"a":1152921504606846976}',
  });
});

test('an object that may be null and the values of a record are renamed, the names of a record are not', () => {
  const schema = Type.Object({
    lastOne: Type.Union([Inner, Type.Null()]),
    byName: Type.Record(Type.String(), Inner),
    open: Type.Union([Type.String(), Type.Null()]),
  });
  const one = { deepName: 1, openMap: { aB: 2 } };
  const shown = { deep_name: 1, open_map: { aB: 2 } };
  const record = Object.fromEntries([
    ['someTool', one],
    ['__proto__', one],
  ]);
  assert.deepEqual(outward(nodeOf(schema), { lastOne: one, byName: record, open: 'aB' }), {
    last_one: shown,
    by_name: Object.fromEntries([
      ['someTool', shown],
      ['__proto__', shown],
    ]),
    open: 'aB',
  });
  assert.deepEqual(outward(nodeOf(schema), { lastOne: null, byName: {}, open: null }), {
    last_one: null,
    by_name: {},
    open: null,
  });
  const outside = JSON.stringify(outsideSchema(schema));
  assert.ok(!/deepName|openMap/.test(outside), outside);
});
