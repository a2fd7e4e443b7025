import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../test/support/runs.ts';
import { encoderFolder } from './package-files.ts';
import { type Piece, Tokenizer } from './tokenizer.ts';
import { readTokenizer, vocabularyPieces } from './vocabulary.ts';

const tokenizer = readTokenizer(encoderFolder());
const ids = (text: string): number[] => [...tokenizer.encode(text)];

test('known texts have known ids', () => {
  assert.deepEqual(ids('The user is allergic to peanuts'), [34, 2380, 18, 65, 46, 143, 245, 10, 7911, 7]);
  assert.deepEqual(ids('  The user\tis\nallergic to  peanuts '), ids('The user is allergic to peanuts'));
  assert.deepEqual(ids('Meeting at 10:30: ok'), [502, 445, 23, 38, 320, 4177, 57, 2303]);
});

test('compatible forms of a character are equal', () => {
  assert.deepEqual(ids('ﬁle １０'), ids('file 10'));
});

test('a run outside the vocabulary is one unknown piece', () => {
  assert.deepEqual(ids('שלום'), [30, 0]);
  assert.deepEqual(ids('😀😀😀'), [30, 0]);
  assert.deepEqual(ids('hello 世界世界 x'), [2002, 102, 30, 0, 649]);
  assert.equal(tokenizer.hasWord(tokenizer.encode('😀 … !')), false);
  assert.equal(tokenizer.hasWord(tokenizer.encode('😀 no')), true);
});

test('a blank text has no pieces', () => {
  for (const text of ['', ' ', '\n\t  ']) assert.deepEqual(ids(text), []);
});

test('the first 128 pieces are kept, however long the text', () => {
  const long = 'a much longer text. '.repeat(12_500);
  assert.equal(long.length, 250_000);
  assert.equal(ids(long).length, 128);
  assert.deepEqual(ids(long), ids(long.slice(0, 1_000)));
  assert.deepEqual(ids('x'.repeat(250_000)).length, 128);
  // Combining marks that NFKC must sort, a surrogate pair at the cut, and lone surrogates.
  assert.equal(ids(`${'\u0315\u0300'.repeat(125_000)}`).length <= 128, true);
  assert.deepEqual(ids(`a${'😀'.repeat(60_000)}`), [11, 0]);
  assert.deepEqual(ids('\ud83d \ude00'), [30, 0, 30, 0]);
});

test('a text has as many pieces as its words together', () => {
  const text = 'Yesterday my sister told me that she would rather not fly, because of the noise.';
  const apart = text.split(' ').reduce((sum, word) => sum + vocabularyPieces(word), 0);
  assert.equal(apart, tokenizer.count(text));
});

/** The best score by brute force over all segmentations of `text`. Unknown characters cost 20. */
function bestByTrying(vocabulary: readonly Piece[], text: string): number {
  if (text === '') return 0;
  const known = vocabulary.filter(([piece]) => text.startsWith(piece));
  const scores = known.map(([piece, score]) => score! + bestByTrying(vocabulary, text.slice(piece.length)));
  if (!known.some(([piece]) => piece.length === 1)) scores.push(bestByTrying(vocabulary, text.slice(1)) - 20);
  return Math.max(...scores);
}

test('no other segmentation has a better score', () => {
  const reserved: Piece[] = Array.from({ length: 6 }, (_, i) => [`<${i}>`, 0]);
  const letters = fc.constantFrom('a', 'b', 'c', '▁');
  fc.assert(
    fc.property(
      fc.array(fc.array(letters, { minLength: 1, maxLength: 4 }), { maxLength: 8 }),
      fc.array(letters, { maxLength: 9 }),
      fc.integer({ min: 1, max: 9 }),
      (pieces, text, step) => {
        const words = [...new Set(pieces.map((each) => each.join('')))];
        const own: Piece[] = words.map((piece, i) => [piece, -1 - ((i * step) % 7)]);
        const found = new Tokenizer([...reserved, ['z', -1], ...own]).encode(text.join('').replaceAll('▁', ' '));
        const source = `▁${text.join('').replaceAll('▁', ' ').trim().replace(/ +/g, '▁')}`;
        if (source === '▁') return assert.equal(found.length, 0);
        // A run of unknown characters is one piece, so the score counts the characters that known pieces do not cover.
        const all = [...reserved, ['z', -1] as const, ...own];
        const knownLength = [...found].reduce((sum, id) => sum + (id === 0 ? 0 : all[id]![0].length), 0);
        const score = [...found].reduce((sum, id) => sum + (id === 0 ? 0 : all[id]![1]!), 0);
        assert.equal(score - 20 * (source.length - knownLength), bestByTrying([['z', -1], ...own], source));
      },
    ),
    { numRuns: runs(200) },
  );
});
