import assert from 'node:assert/strict';
import { createCipheriv, createHash, createHmac } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../test/support/runs.ts';
import { anyText } from '../base/testing/any-text.ts';
import { BlindTokens, blindToken, keyedIdentity } from './blind-tokens.ts';
import { deriveBlindKey } from './derive.ts';
import { HmacSha256 } from './hmac.ts';

const tokenKey = Buffer.from(Array.from({ length: 32 }, (_, i) => 0x20 + i));

test('a token matches the published example, whole and truncated', () => {
  const expected = 'ab953e01d8db34a0a53a2fb8a370be39efe3b9f382f6fb6a31a360ba6904a74e';
  assert.equal(blindToken(deriveBlindKey(tokenKey, 'entity'), 'alice-42').toString('hex'), expected);
  const tokens = new BlindTokens(tokenKey);
  assert.equal(tokens.full('entity', 'alice-42').toString('hex'), expected);
  assert.equal(tokens.facet('entity', 'alice-42').toString('hex'), expected.slice(0, 32));
});

test('a text and its decomposed form have the same token', () => {
  const tokens = new BlindTokens(tokenKey);
  assert.deepEqual(tokens.facet('entity', 'Zoe\u0308'), tokens.facet('entity', 'Zo\u00eb'));
  for (const rest of ['', 'trope-cylinder', 'trope-cylinders', 'trope-cylinders and more'])
    assert.deepEqual(tokens.term(`Zoe\u0308${rest}`), tokens.term(`Zo\u00eb${rest}`), rest);
  // Composing changes how many blocks this takes: u with diaeresis and macron composes to two bytes.
  assert.deepEqual(tokens.term('u\u0308\u0304'.repeat(6)), tokens.term('\u01d6'.repeat(6)));
});

test('kinds and memories do not share tokens', () => {
  const tokens = new BlindTokens(tokenKey);
  const other = new BlindTokens(Buffer.alloc(32, 7));
  assert.notDeepEqual(tokens.facet('tag', 'alice'), tokens.facet('entity', 'alice'));
  assert.notDeepEqual(tokens.facet('tag', 'alice'), other.facet('tag', 'alice'));
  assert.notDeepEqual(tokens.term('alice'), other.term('alice'));
  assert.deepEqual(tokens.user('alice'), tokens.facet('user_id', 'alice'));
});

test('a word token is a truncated AES block, and that of a long word a truncated keyed hash', () => {
  const tokens = new BlindTokens(tokenKey);
  const block = Buffer.alloc(16);
  for (const word of ['', 'garden', 'grün', 'fifteen-letters']) {
    block.fill(0);
    block[block.write(word)] = 0x80;
    const cipher = createCipheriv('aes-256-ecb', deriveBlindKey(tokenKey, 'term'), null);
    assert.deepEqual(tokens.term(word), cipher.update(block).subarray(0, 8), word);
  }
  for (const word of ['sixteen--letters', 'a word that is long by any count', 'неизвестность']) {
    const hash = createHash('sha256').update(deriveBlindKey(tokenKey, 'long-term')).update(word);
    assert.deepEqual(tokens.term(word), hash.digest().subarray(0, 8), word);
  }
});

test('a pair token is a truncated keyed hash for every length, and the same whether written or returned', () => {
  const tokens = new BlindTokens(tokenKey);
  for (const value of ['', 'alice\0likes', 'ä'.repeat(1_300), 'long'.repeat(2_000)]) {
    const expected = createHash('sha256').update(deriveBlindKey(tokenKey, 'pair')).update(value).digest();
    assert.deepEqual(tokens.facet('pair', value), expected.subarray(0, 16), value);
    const into = Buffer.alloc(40, 1);
    tokens.writeFacet('pair', value, into, 8);
    tokens.writeFacet('entity', value, into, 24);
    const written = [Buffer.alloc(8, 1), tokens.facet('pair', value), tokens.facet('entity', value)];
    assert.deepEqual(into, Buffer.concat(written));
  }
  assert.deepEqual(tokens.facet('pair', 'Zoe\u0308'), tokens.facet('pair', 'Zo\u00eb'));
  // NFC makes this text three times as long.
  const longer = '\u{1d160}'.repeat(600);
  for (const kind of ['pair', 'entity'] as const)
    assert.deepEqual(tokens.facet(kind, longer), tokens.facet(kind, longer.normalize('NFC')));
});

test('words have the same tokens alone and with others, and no two share one', () => {
  const tokens = new BlindTokens(tokenKey);
  fc.assert(
    fc.property(fc.uniqueArray(fc.string({ unit: 'grapheme', maxLength: 20 }), { maxLength: 40 }), (texts) => {
      const words = [...new Set(texts.map((text) => text.normalize('NFC')))];
      const high = new Uint32Array(words.length + 2);
      const low = new Uint32Array(words.length + 2);
      if (words.length > 0) tokens.terms(words, 0, words.length, high, low);
      const made = words.map((_, i) => `${high[i]} ${low[i]}`);
      assert.equal(new Set(made).size, words.length);
      words.forEach((word, i) => {
        const token = tokens.term(word);
        assert.equal(`${token.readUInt32BE(0)} ${token.readUInt32BE(4)}`, made[i]);
      });
    }),
    { numRuns: runs(100) },
  );
});

test('HmacSha256 agrees with the library for any key and message', () => {
  const key = fc.uint8Array({ maxLength: 64 });
  fc.assert(
    fc.property(key, anyText({ maxLength: 900 }), fc.uint8Array({ maxLength: 9_000 }), (k, text, bytes) => {
      const hmac = new HmacSha256(k);
      const expected = createHmac('sha256', k).update(text, 'utf8').digest();
      assert.deepEqual(hmac.bytes(text), expected);
      assert.deepEqual(hmac.bytesOf(bytes), createHmac('sha256', k).update(bytes).digest());
      const written = Buffer.alloc(20);
      hmac.writeNfc(text, written, 3, 16);
      const composed = createHmac('sha256', k).update(text.normalize('NFC'), 'utf8').digest();
      assert.deepEqual(written.subarray(3, 19), composed.subarray(0, 16));
      // A longer message made the buffer grow; the key must still be the same.
      assert.deepEqual(hmac.bytes(text), expected);
    }),
    { numRuns: runs(100) },
  );
});

test('a keyed identity is a truncated SHA-256 of key and bytes, for short and long bytes', () => {
  for (const length of [0, 1, 100, 4_064, 4_065, 20_000]) {
    const bytes = Buffer.alloc(length, 5);
    const expected = createHash('sha256').update(tokenKey).update(bytes).digest('hex').slice(0, 16);
    assert.equal(keyedIdentity(tokenKey, bytes), expected, `${length} bytes`);
  }
});
