// Lines of a PDF with text from right to left: the pieces as they are seen, and the text as it is read.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../../test/support/runs.ts';
import { inReadingOrder } from './reading-order.ts';

/** Pieces in the order in which they are seen, each as wide as its letters. */
function seen(...texts: readonly string[]) {
  let x = 50;
  return texts.map((text) => {
    const piece = { text, x };
    x += text.length * 5;
    return piece;
  });
}

const LINES: readonly (readonly [pieces: readonly string[], text: string])[] = [
  [['The word', ' ', 'עולם', ' ', 'שלום', ' ', 'means peace, 25 times.'], 'The word שלום עולם means peace, 25 times.'],
  [
    [
      '.',
      'בסוף',
      ' ',
      '12,345.60',
      ' ',
      'ומספר',
      ' ',
      'English words',
      ' ',
      'עם',
      ' ',
      '(',
      'בסוגריים',
      ')',
      ' ',
      'עברית',
    ],
    'עברית (בסוגריים) עם English words ומספר 12,345.60 בסוף.',
  ],
  [['10:30', ' ', 'בשעה', ' ', '12', '/', '05', '/', '2026', ' ', ':', 'תאריך'], 'תאריך: 12/05/2026 בשעה 10:30'],
  [['[', '1', ']', ' ', '"', 'א', '"', ' ', 'הסעיף'], 'הסעיף "א" [1]'],
  [['12', ' ', '10', ' ', 'דפים'], 'דפים 10 12'],
  [['see', ' ', 'דפים', ' ', '10', ' ', 'פרק', ' ', 'there'], 'see פרק 10 דפים there'],
  // Letters in the shapes that they have beside their neighbours, and two letters in one shape.
  [['.', 'زة', 'ﺎ', 'ﺟ', 'ﻹ', 'ا', ' ', 'ﻦ', 'ﻋ'], 'عن الإجازة.'],
  [['.(', 'ﻲ'], 'ي).'],
  // A reader may have joined and turned a word with its brackets.
  [[')אב(', ' ', 'גד'], 'גד (אב)'],
  [['', 'plain', ' ', 'text'], 'plain text'],
];

for (const [pieces, text] of LINES)
  test(`a line is read as ${text}`, () => {
    assert.equal(inReadingOrder(seen(...pieces)), text);
  });

test('pieces in the order in which a program wrote them are read as they are seen', () => {
  const pieces = seen('.', 'עולם', ' ', 'שלום');
  assert.equal(inReadingOrder(pieces.toReversed()), 'שלום עולם.');
});

test('a line of very many pieces is read', () => {
  const pieces = Array.from({ length: 300_000 }, (_, x) => ({ text: 'א', x }));
  assert.equal(inReadingOrder(pieces).length, 300_000);
});

test('no piece is lost, and text from left to right keeps the order of the file', () => {
  const text = fc.constantFrom('a', 'word', ' ', '1', ',', '(', 'א', 'שלום', 'نص', '');
  fc.assert(
    fc.property(fc.array(fc.record({ text, x: fc.nat(600) }), { maxLength: 30 }), (pieces) => {
      const read = inReadingOrder(pieces);
      const letters = (line: string): string => Array.from(line.replaceAll(')', '(')).sort().join('');
      assert.equal(letters(read), letters(pieces.map((piece) => piece.text).join('')));
      const left = pieces.filter((piece) => !/[א-תن-ي]/.test(piece.text));
      assert.equal(inReadingOrder(left), left.map((piece) => piece.text).join(''));
    }),
    { numRuns: runs(300) },
  );
});
