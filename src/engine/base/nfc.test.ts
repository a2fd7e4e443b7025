import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../test/support/runs.ts';
import { toNfc, toNfkc } from './nfc.ts';
import { anyText } from './testing/any-text.ts';

/** Every code point that is a mark. */
const MARKS = Array.from({ length: 0x11_0000 }, (_, code) => code)
  .filter((code) => (code < 0xd800 || code > 0xdfff) && /\p{M}/u.test(String.fromCodePoint(code)))
  .map((code) => String.fromCodePoint(code));

test('texts with long runs of marks are normalised as by String.normalize', () => {
  const mark = fc.oneof(
    fc.constantFrom(...MARKS),
    fc.constantFrom('\u0301', '\u0323', '\u0345', '\u0334', '\u034f', '\u0344', '\uff9e', '\uff9f'),
  );
  const text = fc
    .array(fc.oneof(fc.array(mark, { minLength: 60, maxLength: 300, size: 'max' }), anyText()), {
      maxLength: 4,
    })
    .map((pieces) => `e${pieces.flat().join('')}`);
  fc.assert(
    fc.property(text, (one) => {
      assert.equal(toNfc(one), one.normalize('NFC'));
      assert.equal(toNfkc(one), one.normalize('NFKC'));
    }),
    { numRuns: runs(40) },
  );
});

test('every mark is ordered as by String.normalize', () => {
  const all = [...MARKS, ...MARKS.toReversed()];
  // Normalize takes quadratic time, so the model normalises the text in pieces.
  for (let start = 0; start < all.length; start += 500) {
    const piece = `e${all.slice(start, start + 500).join('')}`;
    assert.equal(toNfc(piece), piece.normalize('NFC'), `from ${start}`);
    assert.equal(toNfkc(piece), piece.normalize('NFKC'), `from ${start}`);
  }
});

test('only marks and the half-width sound marks decompose to marks alone in NFKD', () => {
  const decomposed = (code: number): string => String.fromCodePoint(code).normalize('NFKD');
  const others = Array.from({ length: 0x11_0000 }, (_, code) => code)
    .filter((code) => (code < 0xd800 || code > 0xdfff) && !/\p{M}/u.test(String.fromCodePoint(code)))
    .filter((code) => /^\p{M}+$/u.test(decomposed(code)));
  assert.deepEqual(others, [0xff9e, 0xff9f]);
});

test('texts without runs are normalised as by String.normalize', () => {
  for (const text of ['', 'plain', 'e\u0301', '\u0958', '\uac01', 'A\u030a'])
    assert.equal(toNfc(text), text.normalize('NFC'));
});
