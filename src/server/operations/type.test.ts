import assert from 'node:assert/strict';
import { test } from 'node:test';
import TypeBox from 'typebox';
import { Type } from './type.ts';

// `Type` differs from TypeBox in the static type of an optional member only.
type Both = (type: typeof Type) => unknown;

const SCHEMAS: Readonly<Record<string, Both>> = {
  array: (type) => type.Array(type.String(), { maxItems: 3 }),
  boolean: (type) => type.Boolean({ description: 'yes or no' }),
  enum: (type) => type.Enum(['a', 'b'], { description: 'one of two' }),
  integer: (type) => type.Integer({ minimum: 1, maximum: 9 }),
  'literal of a text': (type) => type.Literal('a'),
  'literal of a truth value': (type) => type.Literal(true),
  'literal of a number': (type) => type.Literal(0),
  null: (type) => type.Null(),
  number: (type) => type.Number({ exclusiveMinimum: 0 }),
  'object without members': (type) => type.Object({}),
  'object of optional members': (type) => type.Object({ a: type.Optional(type.String({ maxLength: 2 })) }),
  'object of both': (type) =>
    type.Object(
      { a: type.String(), b: type.Optional(type.Array(type.Integer())), c: type.Unsafe<object>({ type: 'object' }) },
      { additionalProperties: false },
    ),
  'optional member that was built before': (type) => {
    const member = type.String();
    return type.Array(type.Object({ a: member, b: type.Optional(member), c: type.Optional(type.Optional(member)) }));
  },
  record: (type) => type.Record(type.String(), type.Integer()),
  string: (type) => type.String({ pattern: '^a+$', default: 'a' }),
  union: (type) => type.Union([type.Integer(), type.Null()]),
  unknown: (type) => type.Unknown({ description: 'anything' }),
  'unsafe without words': (type) => type.Unsafe<Uint8Array>({}),
};

for (const [name, schema] of Object.entries(SCHEMAS)) {
  test(`the schema equals that of TypeBox itself, byte for byte: ${name}`, () => {
    assert.equal(JSON.stringify(schema(Type)), JSON.stringify(schema(TypeBox as unknown as typeof Type)));
  });
}
