import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError } from '../../engine/base/errors.ts';
import { formNamesOf, nameForm } from './name-form.ts';
import { Type } from './type.ts';

const COMPOSED = 'caf\u00e9';
const COMBINING = 'cafe\u0301';

const Schema = Type.Object({
  userId: Type.Optional(Type.String()),
  userIds: Type.Optional(Type.Array(Type.String())),
  tag: Type.Optional(Type.String()),
  tags: Type.Optional(Type.Array(Type.String())),
  excludeTags: Type.Optional(Type.Array(Type.String())),
  text: Type.Optional(Type.String()),
  consents: Type.Optional(Type.Array(Type.Object({ userId: Type.String() }))),
  params: Type.Optional(Type.Object({ userId: Type.Optional(Type.String()) })),
  fields: Type.Optional(Type.Unsafe<object>({ type: 'object' })),
});
const formNames = formNamesOf(Schema);

test('names are composed wherever the schema has them; texts and open values do not change', () => {
  const asked = (name: string) => ({
    userId: name,
    userIds: ['bob', name],
    tag: name,
    tags: [name, 'tea'],
    excludeTags: [name],
    text: COMBINING,
    consents: [{ userId: name }],
    params: { userId: name },
    fields: { userId: COMBINING },
  });
  assert.deepEqual(formNames(asked(COMBINING)), asked(COMPOSED));
});

test('a value that needs no other form is returned itself', () => {
  const value = { userId: 'ada', text: COMBINING, params: {} };
  assert.equal(formNames(value), value);
  assert.equal(formNamesOf(Type.Object({ text: Type.String() }))(value), value);
  assert.equal(nameForm(nameForm(COMBINING)), COMPOSED);
});

test('a name that is not text is refused by its outside name; those of a list are left to the reader', () => {
  const refused = (value: object): string | undefined => {
    try {
      formNames(value);
    } catch (error) {
      return error instanceof EngineError ? `${error.code} ${error.details[0]?.field}` : String(error);
    }
    return undefined;
  };
  for (const name of ['a\0b', 'a\ud800']) {
    assert.equal(refused({ userId: name }), 'VAL-E001 user_id');
    assert.equal(refused({ params: { userId: name } }), 'VAL-E001 user_id');
    assert.equal(refused({ userIds: [name], consents: [{ userId: name }], text: name }), undefined);
  }
});
