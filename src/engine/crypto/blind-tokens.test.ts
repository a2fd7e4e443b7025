import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { BLIND_TOKENS_CACHED_MAX } from '../limits.ts';
import { BlindTokens, blindToken, keyedIdentity } from './blind-tokens.ts';
import { deriveBlindKey } from './derive.ts';
import { HmacSha256 } from './hmac.ts';

const tokenKey = Buffer.from(Array.from({ length: 32 }, (_, i) => 0x20 + i));

test('the token of the published example, whole and cut', () => {
  const expected = 'ab953e01d8db34a0a53a2fb8a370be39efe3b9f382f6fb6a31a360ba6904a74e';
  assert.equal(blindToken(deriveBlindKey(tokenKey, 'entity'), 'alice-42').toString('hex'), expected);
  const tokens = new BlindTokens(tokenKey);
  assert.equal(tokens.full('entity', 'alice-42').toString('hex'), expected);
  assert.equal(tokens.facet('entity', 'alice-42').toString('hex'), expected.slice(0, 32));
});

test('a text and its decomposed form have one token', () => {
  const tokens = new BlindTokens(tokenKey);
  assert.deepEqual(tokens.facet('entity', 'Zoe\u0308'), tokens.facet('entity', 'Zo\u00eb'));
  assert.equal(tokens.term('Zoe\u0308'), tokens.term('Zo\u00eb'));
});

test('kinds and memories do not share tokens', () => {
  const tokens = new BlindTokens(tokenKey);
  const other = new BlindTokens(Buffer.alloc(32, 7));
  assert.notDeepEqual(tokens.facet('tag', 'alice'), tokens.facet('entity', 'alice'));
  assert.notDeepEqual(tokens.facet('tag', 'alice'), other.facet('tag', 'alice'));
  assert.notEqual(tokens.term('alice'), other.term('alice'));
  assert.deepEqual(tokens.user('alice'), tokens.facet('user_id', 'alice'));
});

test('a term is the first 8 bytes of its token, and the same after its cache entry was dropped', () => {
  const tokens = new BlindTokens(tokenKey);
  const expected = blindToken(deriveBlindKey(tokenKey, 'term'), 'garden').readBigUInt64BE(0);
  assert.equal(tokens.term('garden'), expected);
  assert.equal(tokens.term('garden'), expected);
  for (let i = 0; i <= BLIND_TOKENS_CACHED_MAX; i++) tokens.term(`word ${i}`);
  assert.equal(tokens.term('garden'), expected);
});

test('HmacSha256 agrees with the library for any key and message', () => {
  const key = fc.uint8Array({ maxLength: 64 });
  fc.assert(
    fc.property(
      key,
      fc.string({ unit: 'binary', maxLength: 900 }),
      fc.uint8Array({ maxLength: 9_000 }),
      (k, text, bytes) => {
        const hmac = new HmacSha256(k);
        const expected = createHmac('sha256', k).update(text, 'utf8').digest();
        assert.equal(hmac.hex(text), expected.toString('hex'));
        assert.deepEqual(hmac.bytesOf(bytes), createHmac('sha256', k).update(bytes).digest());
        // After a message that needed more room, the key is still the same.
        assert.deepEqual(hmac.bytes(text), expected);
      },
    ),
    { numRuns: 100 },
  );
});

test('a keyed identity is cut from SHA-256 of key and bytes, short and long', () => {
  for (const length of [0, 1, 100, 4_064, 4_065, 20_000]) {
    const bytes = Buffer.alloc(length, 5);
    const expected = createHash('sha256').update(tokenKey).update(bytes).digest('hex').slice(0, 16);
    assert.equal(keyedIdentity(tokenKey, bytes), expected, `${length} bytes`);
  }
});
