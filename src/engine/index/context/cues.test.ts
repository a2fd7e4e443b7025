import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { anyText } from '../../base/testing/any-text.ts';
import { SEARCHED } from './cue-words.ts';
import { asks, leadingName, wordCues } from './cues.ts';

const holdsTime = (text: string): boolean => wordCues(text).holdsTime;
const speaksOfSelf = (text: string): boolean => wordCues(text).speaksOfSelf;

const check = (sign: (text: string) => boolean, yes: readonly string[], no: readonly string[]): void => {
  for (const text of yes) assert.ok(sign(text), text);
  for (const text of no) assert.ok(!sign(text), text);
};

test('a question mark indicates a question, in any script', () => {
  check(asks, ['why?', 'なぜ？', 'لماذا؟', '?'], ['why', '', '!']);
});

test('dates, months, weekdays and words of time are recognised', () => {
  check(
    holdsTime,
    [
      'On Monday we met',
      'in March',
      'May 5',
      'the 3rd of may',
      'Jan. 12',
      'it was yesterday',
      'two weeks ago',
      'last night',
      'next summer',
      'in 1999',
      '2024-03-15',
      '3/15/24',
      'at 5pm',
      'around 10:30',
      'every day',
    ],
    [
      '',
      'you may march on',
      'a second chance',
      'the sun sat',
      'version 3.2',
      'order 66',
      'today’s'.slice(5),
      'room 2100',
    ],
  );
});

test('the first person is recognised', () => {
  check(
    speaksOfSelf,
    ['I went home', 'it is mine', 'tell me', 'We did', "i'm late", 'and then i said so', 'OUR house'],
    ['', 'for (let i = 0; i < 3; i++)', 'he said', 'inside', 'mystery', 'Iris'],
  );
});

test('a name before the first colon is recognised', () => {
  const names: readonly (readonly [string, string | undefined])[] = [
    ['Anna: hello', 'Anna'],
    ['Dr. Anna van Dam: hello', 'Dr. Anna van Dam'],
    ['one two three four five: x', undefined],
    ['Zoë:\thi', 'Zoë'],
    ['Anna:hello', undefined],
    ['http://x', undefined],
    ['10: 30', undefined],
    [': x', undefined],
    ['', undefined],
    ['Anna', undefined],
    ['Anna\nsaid: x', undefined],
    [`${'a'.repeat(40)}: x`, 'a'.repeat(40)],
    [`${'a'.repeat(41)}: x`, undefined],
    ['a: b: c: d', 'a'],
  ];
  for (const [text, name] of names) assert.equal(leadingName(text), name, text);
});

test('long repetitive texts are read in linear time', () => {
  // A quadratic implementation would take minutes here.
  const long = (text: string): string => text.repeat(60_000);
  assert.ok(asks(`${long('a: ')}?`));
  for (const text of [':', 'a: ', 'in ', '1 ', '1:x ', '\u0301', 'last ', 'a ', '1st ']) {
    assert.ok(holdsTime(`${long(text)} yesterday`), text);
    assert.ok(!holdsTime(long(text)), text);
  }
  for (const text of ['i ', 'i', ' i(', 'us ']) assert.ok(speaksOfSelf(`${long(text)} mine`), text);
  for (const text of [':', ' ', 'a ', 'a:']) assert.equal(leadingName(long(text)), undefined, text);
});

/** Parts of times and of the first person, whole and damaged, and what may stand between them. */
const PARTS =
  "january may March mays marches MAY jan Sept sep sept. Mondays monday sundayss 5 12 1999 2024 21001 3rd 1st 22nd x3 3x of on in until last next every couple several an A one ten ago o clock o’clock o'clock noon night nights falls second seconds day days Weekend decades 10:30 5:5 5pm 5 p.m a.m 3/15/24 1.2.2024 i I I_ i'm i’m im me Mine mymy our ours_ us WE é ſunday é5 _may ٣".split(
    ' ',
  );
const BETWEEN = [' ', ' ', ' ', ' ', '-', '.', '. ', ', ', '\n', ':', '/', '"', '(', '“', '', '\u00a0'];

test('the words of a text have the cues that a search by the patterns finds', () => {
  const pieces = fc.oneof(
    fc
      .array(fc.tuple(fc.constantFrom(...PARTS), fc.constantFrom(...BETWEEN)), { maxLength: 8 })
      .map((all) => all.flat().join('')),
    anyText(),
  );
  fc.assert(
    fc.property(pieces, (text) => {
      assert.deepEqual(wordCues(text), {
        holdsTime: SEARCHED.holdsTime.some((pattern) => pattern.test(text)),
        speaksOfSelf: SEARCHED.speaksOfSelf.some((pattern) => pattern.test(text)),
      });
    }),
    { numRuns: 5_000 },
  );
});

test('any text has cues of the right kind', () => {
  fc.assert(
    fc.property(anyText(), (text) => {
      for (const sign of [asks, holdsTime, speaksOfSelf]) assert.equal(typeof sign(text), 'boolean');
      const name = leadingName(text);
      assert.ok(name === undefined || (text.startsWith(name) && name.length <= 40));
    }),
  );
});
