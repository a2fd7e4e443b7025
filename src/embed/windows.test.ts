import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../test/support/runs.ts';
import { EMBED_WINDOW_PIECES_MAX, EMBED_WINDOW_WORDS_MAX, EMBED_WINDOWS_MAX } from '../engine/base/limits.ts';
import { vocabularyPieces } from './builtin/vocabulary.ts';
import { windowsOf } from './windows.ts';

const sentence = 'The meeting about the new office was moved to Thursday at noon. '; // 12 words

test('a short text is one window, trimmed', () => {
  assert.deepEqual(windowsOf('  I prefer  window seats.\n'), ['I prefer  window seats.']);
});

test('a blank text has no windows', () => {
  for (const text of ['', ' \n\t ']) assert.deepEqual(windowsOf(text), []);
});

test('windows end at sentence boundaries', () => {
  const windows = windowsOf(sentence.repeat(20));
  assert.deepEqual(windows, [sentence.repeat(8).trim(), sentence.repeat(8).trim(), sentence.repeat(4).trim()]);
});

test('numbers, quotes and line breaks end a sentence only where a sentence ends', () => {
  const one = () => 60; // pieces per word, so that two words fit
  assert.deepEqual(windowsOf('3.14 is pi', one), ['3.14 is', 'pi']);
  assert.deepEqual(windowsOf('a "b." c d', one), ['a "b."', 'c d']);
  assert.deepEqual(windowsOf('a\nb c', one), ['a', 'b c']);
  assert.deepEqual(windowsOf('a b\nc', one), ['a b', 'c']);
});

test('a sentence that is too long is split between words, and a word that is too long inside', () => {
  const windows = windowsOf(`${'word '.repeat(250)}end.`);
  assert.deepEqual(
    windows.map((window) => window.split(' ').length),
    [100, 100, 51],
  );
  const cut = windowsOf('😀'.repeat(2_000));
  assert.equal(cut.join(''), '😀'.repeat(2_000));
  assert.ok(cut.every((window) => window.length <= EMBED_WINDOW_PIECES_MAX && window.isWellFormed()));
});

test('a text in capitals becomes lower case', () => {
  assert.deepEqual(windowsOf('I AM ALLERGIC TO NUTS!'), ['i am allergic to nuts!']);
  assert.deepEqual(windowsOf('NASA launched'), ['NASA launched']);
  assert.deepEqual(windowsOf('2024'), ['2024']);
});

test('a text of 250 KB is read in one pass, whatever it contains', () => {
  for (const unit of ['.', '"', '. ', 'a', 'word. ', '\n', '\u0300', 'A', 'שלום '])
    assert.ok(windowsOf(unit.repeat(250_000 / unit.length)).length <= EMBED_WINDOWS_MAX);
  assert.equal(windowsOf('x '.repeat(500_000)).length, EMBED_WINDOWS_MAX);
});

test('windows hold every word, in order, within their limits', () => {
  const word = fc.constantFrom(
    'a',
    'Berlin',
    'end.',
    'uncharacteristically',
    '"so?"',
    '世界。',
    '😀',
    'https://example.org/a/b?c=d&e=f',
  );
  const blank = fc.constantFrom(' ', '\n', '  ', '\t');
  fc.assert(
    fc.property(fc.array(fc.tuple(word, blank), { maxLength: 300 }), (parts) => {
      const text = parts.flat().join('');
      const windows = windowsOf(text);
      assert.deepEqual(windows.join(' ').split(/\s+/), text.trim().split(/\s+/));
      for (const window of windows) {
        const words = window.split(/\s+/);
        assert.ok(words.length <= EMBED_WINDOW_WORDS_MAX);
        assert.ok(words.reduce((sum, each) => sum + vocabularyPieces(each), 0) <= EMBED_WINDOW_PIECES_MAX);
      }
    }),
    { numRuns: runs(100) },
  );
});
