import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../test/support/runs.ts';
import { toNfc } from './nfc.ts';

/** Every code point that is a mark. */
const MARKS = Array.from({ length: 0x11_0000 }, (_, code) => code)
  .filter((code) => (code < 0xd800 || code > 0xdfff) && /\p{M}/u.test(String.fromCodePoint(code)))
  .map((code) => String.fromCodePoint(code));

test('it is what normalize gives, for texts with long runs of marks', () => {
  const mark = fc.oneof(
    fc.constantFrom(...MARKS),
    fc.constantFrom('\u0301', '\u0323', '\u0345', '\u0334', '\u034f', '\u0344'),
  );
  const text = fc
    .array(fc.oneof(fc.array(mark, { minLength: 60, maxLength: 300, size: 'max' }), fc.string({ unit: 'binary' })), {
      maxLength: 4,
    })
    .map((pieces) => `e${pieces.flat().join('')}`);
  fc.assert(
    fc.property(text, (one) => {
      assert.equal(toNfc(one), one.normalize('NFC'));
    }),
    { numRuns: runs(40) },
  );
});

test('every mark is put where normalize puts it', () => {
  const all = [...MARKS, ...MARKS.toReversed()];
  // The square of the length is what is avoided, so that the model is asked about pieces.
  for (let start = 0; start < all.length; start += 500) {
    const piece = `e${all.slice(start, start + 500).join('')}`;
    assert.equal(toNfc(piece), piece.normalize('NFC'), `from ${start}`);
  }
});

test('texts without runs are what normalize gives', () => {
  for (const text of ['', 'plain', 'e\u0301', '\u0958', '\uac01', 'A\u030a'])
    assert.equal(toNfc(text), text.normalize('NFC'));
});
