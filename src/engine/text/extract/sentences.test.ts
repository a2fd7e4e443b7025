import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../../test/support/runs.ts';
import { EXTRACT_SENTENCE_CHARS_MAX } from '../../base/limits.ts';
import { sentencesOf } from './sentences.ts';

const texts = (text: string): string[] => [...sentencesOf(text)].map((sentence) => sentence.text);
const quoted = (text: string): boolean[] => [...sentencesOf(text)].map((sentence) => sentence.quoted);

test('sentences end at marks before a space, not at abbreviations', () => {
  assert.deepEqual(texts('I saw Dr. Grant. He lives on St. James St. in Rome! Really?'), [
    'I saw Dr. Grant',
    'He lives on St. James St. in Rome',
    'Really',
  ]);
  assert.deepEqual(texts('Version 1.2 is at example.org now. J. Smith and I. Done'), [
    'Version 1.2 is at example.org now',
    'J. Smith and I',
    'Done',
  ]);
  assert.deepEqual(
    [...sentencesOf('Hm… what?! No')].map(({ mark }) => mark),
    ['…', '?!', ''],
  );
});

test('lines are separate, without bullets and white space', () => {
  assert.deepEqual(texts('- I like\u00a0 tea\n2. I’m here\n\n  end'), ['I like tea', "I'm here", 'end']);
});

test('quotations span the ends of sentences, up to an empty line', () => {
  assert.deepEqual(quoted('One. "Two. Three." Four.'), [false, true, true, false]);
  assert.deepEqual(quoted("One. 'Two. Three.' Four."), [false, true, true, false]);
  assert.deepEqual(quoted("I don't. It's James' hat. The '90s."), [false, false, false]);
  assert.deepEqual(quoted('“One. Two\nThree\n\nFour'), [true, true, true, false]);
});

test('code, quoted lines, tables and headings are left out', () => {
  assert.deepEqual(texts('> I like tea\n| I like | tea |\n# I like\n```\nI like tea\n```\nI do'), ['I do']);
});

test('labels of lines are recognised', () => {
  assert.deepEqual(
    [...sentencesOf('Anna Lee: Hi. I am here.\nno label')].map(({ label }) => label),
    ['Anna Lee', 'Anna Lee', undefined],
  );
});

test('a sentence that is too long is left out, its neighbours are not', () => {
  assert.deepEqual(texts(`One. ${'long '.repeat(EXTRACT_SENTENCE_CHARS_MAX)}. Two.`), ['One', 'Two']);
});

test('every sentence is within its limit for any text', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('.', '"', "'", ' ', 'a', 'I', '\n', '!', ':', '`', '…', '- ')), (parts) => {
      for (const { text } of sentencesOf(parts.join('')))
        assert.ok(text.length > 0 && text.length <= EXTRACT_SENTENCE_CHARS_MAX && text === text.trim());
    }),
    { numRuns: runs(300) },
  );
});
