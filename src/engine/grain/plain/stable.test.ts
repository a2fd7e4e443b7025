// The characters that the one pass copies are those of which every text is its own NFC.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { stableLength } from './stable.ts';

const PLANES_END = 0x30000;

/** True when the whole of `text` is one stable character. */
function isStable(text: string): boolean {
  const bytes = Buffer.from(text);
  const length = stableLength(bytes, 0, bytes.length);
  assert.ok(length === 0 || length === bytes.length, text);
  return length > 0;
}

const beyondAscii: string[] = [];
for (let point = 0x80; point < PLANES_END; point++)
  if (point < 0xd800 || point > 0xdfff) beyondAscii.push(String.fromCodePoint(point));
const stable = beyondAscii.filter(isStable);

test('no stable character changes, moves or joins with the one before it', () => {
  const joining = new Set(beyondAscii.flatMap((one) => [...one.normalize('NFD')].slice(1)));
  // The lowest and the highest class of marks: a character of another class goes before or behind one of them.
  const moves = (one: string): boolean => {
    const parts = one.normalize('NFD');
    return (
      `x\u0345${one}`.normalize('NFD') !== `x\u0345${parts}` || `x${one}\u0334`.normalize('NFD') !== `x${parts}\u0334`
    );
  };
  for (const one of stable) {
    assert.equal(one.normalize('NFC'), one);
    assert.ok(!joining.has(one), `U+${one.codePointAt(0)?.toString(16)} joins`);
    // A letter with accents moves none of them: they are joined again.
    if (one.normalize('NFD') === one) assert.ok(!moves(one), `U+${one.codePointAt(0)?.toString(16)} moves`);
  }
});

test('the letters of the living scripts without marks, and emoji, are stable', () => {
  for (const text of [
    'éßñøžő',
    'αβγΩ',
    'жЁїґ',
    'שלום',
    'مرحبا',
    'ひらがなカタカナー',
    '漢字',
    '한국어',
    '“—…”€™',
    '😀🚀❤️',
  ])
    for (const one of text) assert.ok(isStable(one), `${one} of ${text}`);
  assert.ok(stable.length > 50_000, `${stable.length}`);
});

test('what NFC changes, moves or joins is not stable', () => {
  for (const one of [
    '\u0301',
    '\u0374',
    '\u0387',
    '\u2126',
    '\u212b',
    '\u0958',
    '\u09be',
    '\u1161',
    '\u11a8',
    '\u3099',
  ])
    assert.ok(!isStable(one), `U+${one.codePointAt(0)?.toString(16)}`);
  for (const one of ['\ufeff', '\u0378', '\uffff', '\u{10380}', '\u{1d15e}', '\u{2f800}', '\u{e0020}'])
    assert.ok(!isStable(one), `U+${one.codePointAt(0)?.toString(16)}`);
});

test('texts of stable characters and ASCII are their own NFC', () => {
  const one = fc.oneof(
    fc.constantFrom(...stable),
    fc.constantFrom('a', 'e', 'o', '\u0007'),
    fc.constantFrom('가', 'ᄀ', 'ё'),
  );
  fc.assert(
    fc.property(fc.array(one, { maxLength: 20 }), (list) => {
      const text = list.join('');
      assert.equal(text.normalize('NFC'), text);
    }),
    { numRuns: 3_000 },
  );
});

test('bytes that are not UTF-8 are not stable, and nothing behind the end is read', () => {
  const found = (...bytes: number[]): number => stableLength(Uint8Array.from(bytes), 0, bytes.length);
  const wrong = [
    [0x80],
    [0xbf, 0x80],
    [0xc0, 0x80],
    [0xc1, 0xbf],
    [0xc3],
    [0xc3, 0x41],
    [0xc3, 0xc3],
    [0xe0, 0x9f, 0xbf],
    [0xe4, 0xb8],
    [0xe4, 0xb8, 0x41],
    [0xe4, 0x41, 0xad],
    [0xed, 0xa0, 0x80],
    [0xf0, 0x8f, 0xbf, 0xbf],
    [0xf0, 0x9f, 0x98],
    [0xf0, 0x9f, 0x98, 0x41],
    [0xf4, 0x90, 0x80, 0x80],
    [0xf5, 0x80, 0x80, 0x80],
    [0xff],
  ];
  for (const bytes of wrong) assert.equal(found(...bytes), 0, bytes.join(' '));
  const text = Buffer.from('é漢😀');
  assert.deepEqual([stableLength(text, 0, 2), stableLength(text, 2, 5), stableLength(text, 5, 9)], [2, 3, 4]);
  assert.deepEqual([stableLength(text, 0, 1), stableLength(text, 2, 4), stableLength(text, 5, 8)], [0, 0, 0]);
  // Every sequence of the decoder's own choosing.
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 4 }), (bytes) => {
      const length = stableLength(bytes, 0, bytes.length);
      if (length > 0) assert.equal([...decoder.decode(bytes.subarray(0, length))].length, 1);
    }),
    { numRuns: 5_000 },
  );
});
