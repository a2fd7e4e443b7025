import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { EngineError, type ErrorCode } from '../../engine/base/errors.ts';
import { JSON_DEPTH_MAX } from '../../engine/base/limits.ts';
import { parseJson as parseExactly } from '../../engine/grain/api/json.ts';
import { fakeRequest } from './fake-request.ts';
import { jsonBody, parseBody, parseJson } from './json.ts';

const withCode =
  (code: ErrorCode) =>
  (error: unknown): boolean =>
    error instanceof EngineError && error.code === code;

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

test('any JSON value survives a round trip', () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
      const text = JSON.stringify(value);
      assert.deepEqual(parseJson(Buffer.from(text)), parseExactly(text));
    }),
  );
});

test('integers are exact wherever they stand in a body', () => {
  const part = fc.constantFrom(' ', '1234567', '0.1234567890123456789', '9007199254740993', '-1', '12345678901234567');
  fc.assert(
    fc.property(fc.array(part, { maxLength: 30 }), (parts) => {
      const text = `[${parts.map((one) => (one === ' ' ? '" "' : one)).join(',')}]`;
      assert.deepEqual(parseJson(Buffer.from(text)), parseExactly(text));
    }),
  );
  assert.deepEqual(parseJson(Buffer.from('9007199254740993')), 9007199254740993n);
});

test('bytes that are not JSON in UTF-8 are refused', () => {
  const bodies = ['', '{', '{"a":1}x', "{'a':1}", '\ufeff{}', 'NaN', '[1,]'].map((text) => Buffer.from(text));
  for (const body of [...bodies, Buffer.from([0x22, 0xff, 0x22]), Buffer.from('"\ud800"', 'utf16le')]) {
    assert.throws(() => parseJson(body), withCode('VAL-E002'), body.toString('latin1'));
  }
});

test('nesting is bounded', () => {
  assert.deepEqual(JSON.stringify(parseJson(Buffer.from(nested(JSON_DEPTH_MAX)))), nested(JSON_DEPTH_MAX));
  assert.throws(() => parseJson(Buffer.from(nested(JSON_DEPTH_MAX + 1))), withCode('VAL-E001'));
  assert.throws(() => parseJson(Buffer.from(`{"a":${nested(JSON_DEPTH_MAX)}}`)), withCode('VAL-E001'));
  assert.throws(() => parseJson(Buffer.from(nested(200_000))), withCode('VAL-E001'));
});

test('the last of repeated members wins', () => {
  assert.deepEqual(parseJson(Buffer.from('{"a":1,"a":2}')), { a: 2 });
});

test('a body must declare JSON; without a body no type is needed', async () => {
  for (const type of ['application/json', 'Application/JSON; charset=utf-8', 'application/merge-patch+json']) {
    const request = fakeRequest({ body: '{"a":1}', headers: { 'content-type': type } });
    assert.deepEqual(parseBody(await jsonBody(request, 100)), { a: 1 });
  }
  assert.equal(parseBody(await jsonBody(fakeRequest({}), 100)), undefined);
  await assert.rejects(jsonBody(fakeRequest({ body: '{}' }), 100), withCode('VAL-E006'));
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', '']) {
    const request = fakeRequest({ body: '{"a":1}', headers: { 'content-type': type } });
    await assert.rejects(jsonBody(request, 100), withCode('VAL-E006'), type);
  }
});

test('an empty body is no value, whatever its type', async () => {
  const request = fakeRequest({ headers: { 'content-type': 'text/plain' } });
  assert.equal(parseBody(await jsonBody(request, 100)), undefined);
});

test('a body beyond the limit is refused', async () => {
  await assert.rejects(jsonBody(fakeRequest({ body: '"12345678"' }), 9), withCode('LIM-E003'));
});

test('a compressed body is refused by its content encoding', async () => {
  const body = (encoding: string) =>
    jsonBody(
      fakeRequest({ headers: { 'content-type': 'application/json', 'content-encoding': encoding }, body: '{}' }),
      100,
    );
  await assert.rejects(body('gzip'), withCode('VAL-E006'));
  assert.equal(String(await body('identity')), '{}');
});
