import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../test/support/runs.ts';
import { type ChunkWindow, chunksOf, spansOf } from './chunks.ts';

/** Texts of words, sentences and paragraphs, with pairs of surrogates and scripts that have no blanks. */
const piece = fc.oneof(
  { weight: 6, arbitrary: fc.string({ maxLength: 14 }) },
  fc.constantFrom(' ', '\n', '\n\n', '. ', '! ', '。', '\t'),
  fc.constantFrom('😀', '𠮷野家', '文字化け', 'שלום עולם', 'مرحبا'),
  fc.string({ unit: 'binary', maxLength: 8 }).map((text) => text.toWellFormed()),
);
const text = fc.array(piece, { maxLength: 120 }).map((pieces) => pieces.join(''));
const window: fc.Arbitrary<ChunkWindow> = fc
  .tuple(fc.integer({ min: 10, max: 80 }), fc.nat(79))
  .map(([size, overlap]) => ({ size, overlap: overlap % size }));

test('chunks lose nothing, keep their size, and split no surrogate pair', () => {
  fc.assert(
    fc.property(text, window, (whole, { size, overlap }) => {
      let covered = 0;
      for (const [from, to] of spansOf(whole, { size, overlap })) {
        assert.ok(from < to && to - from <= size, `${from} to ${to}`);
        assert.match(whole.slice(covered, Math.max(covered, from)), /^\s*$/, 'only blanks lie between chunks');
        assert.ok(from >= covered - overlap, 'no more is repeated than the overlap');
        assert.ok(to > covered, 'every chunk goes further than the one before');
        assert.ok(whole.slice(from, to).isWellFormed(), 'no pair is split');
        covered = to;
      }
      assert.match(whole.slice(covered), /^\s*$/, 'the end is in the last chunk');
    }),
    { numRuns: runs(500) },
  );
});

test('chunks know their place and their number, and lie in one section', () => {
  const sections = [
    { headings: ['One'], page: 1, text: 'First page. '.repeat(20) },
    { headings: ['One', 'Two'], page: 2, text: 'short' },
  ];
  const chunks = chunksOf({ sections }, { size: 100, overlap: 10 });
  assert.deepEqual(
    chunks.map(({ index, count }) => [index, count]),
    chunks.map((_, index) => [index, chunks.length]),
  );
  assert.ok(chunks.slice(0, -1).every(({ page, headings }) => page === 1 && headings.join() === 'One'));
  assert.deepEqual(chunks.at(-1), {
    headings: ['One', 'Two'],
    page: 2,
    text: 'short',
    index: chunks.length - 1,
    count: chunks.length,
  });
});

const cut = (whole: string, size: number, overlap = 0): string[] =>
  [...spansOf(whole, { size, overlap })].map(([from, to]) => whole.slice(from, to));

test('a window ends at a paragraph, else at a sentence, else at a word', () => {
  assert.deepEqual(cut('One two. Three four.\n\nFive six. Seven', 30), ['One two. Three four.', 'Five six. Seven']);
  assert.deepEqual(cut('One two three. Four five six', 20), ['One two three.', 'Four five six']);
  assert.deepEqual(cut('one two three four five', 15), ['one two three', 'four five']);
  assert.deepEqual(cut('これは文です。それも文です。おわり', 10), ['これは文です。', 'それも文です。おわり']);
  assert.deepEqual(cut('x'.repeat(25), 10), ['x'.repeat(10), 'x'.repeat(10), 'x'.repeat(5)]);
  assert.deepEqual(cut('one two three four five', 15, 6), ['one two three', 'three four five']);
});

test('a text without boundaries is cut in linear time', () => {
  const chunks = [...spansOf('x'.repeat(3_000_000), { size: 1000, overlap: 100 })];
  assert.equal(chunks.length, 3_334);
});
