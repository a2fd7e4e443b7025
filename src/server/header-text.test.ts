import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { EngineError } from '../engine/base/errors.ts';
import { headerName, headerText } from './header-text.ts';
import { ADMIN, ask, makeParts } from './testing/parts.ts';

const codeOf = (value: string): string | undefined => {
  try {
    headerName(value, 'x-user-id');
  } catch (error) {
    return error instanceof EngineError ? error.code : String(error);
  }
  return undefined;
};

test('any name can be sent percent-encoded in a header, and arrives in NFC', () => {
  const name = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => !text.includes('\0'));
  fc.assert(
    fc.property(name, (text) =>
      assert.equal(headerName(`UTF-8''${encodeURIComponent(text)}`, 'x-user-id'), text.normalize('NFC')),
    ),
  );
  assert.equal(headerName("utf-8'de'zoe%CC%88", 'x-user-id'), 'zo\u00eb');
});

test('plain names stay unchanged; ambiguous ones are rejected', () => {
  for (const plain of ['ann', 'a%20b', "o'hara", "UTF-8'", '50% of it']) assert.equal(headerName(plain, 'h'), plain);
  for (const nothing of [undefined, '', "UTF-8''"]) assert.equal(headerName(nothing, 'h'), undefined);
  for (const unclear of ['zo\u00eb', 'm\u00c3\u00bcller', 'a\ufffdb', "UTF-8''%ff", "UTF-8''%4", "UTF-8''a%00b"])
    assert.equal(codeOf(unclear), 'VAL-E001', unclear);
  assert.equal(headerText('grâce', 'x-reason'), 'grâce');
  assert.equal(headerText("UTF-8''gr%C3%A2ce", 'x-reason'), 'grâce');
});

test('a call is narrowed to the name that its header encodes', async () => {
  const parts = await makeParts();
  const narrowedTo = (value: string) =>
    ask(parts, 'POST', '/auth/keys', { key: ADMIN, json: {}, headers: { 'x-user-id': value } });
  assert.equal((await narrowedTo("UTF-8''zoe%CC%88")).body['user_id'], 'zo\u00eb');
  assert.equal((await narrowedTo('zo\u00eb')).body['code'], 'VAL-E001');
});
