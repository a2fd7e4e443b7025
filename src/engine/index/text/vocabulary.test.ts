import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../../test/support/runs.ts';
import { VOCABULARY_WORDS_MAX } from '../../base/limits.ts';
import { editDistance } from './edit-distance.ts';
import { phoneticKey } from './phonetic.ts';
import { Vocabulary } from './vocabulary.ts';

const vocabulary = Vocabulary.build([
  ['receiv', 5],
  ['schedul', 9],
  ['deploy', 7],
  ['physic', 3],
  ['kubernet', 2],
  ['stone', 1],
  ['store', 4],
  ['stove', 4],
  ['Anna Kowalski', 1],
  ['東京', 3],
  ['go', 50],
]);
const expand = (term: string) => vocabulary.expand(term, 3);

test('a mistyped word finds the intended one by spelling, sound or prefix', () => {
  assert.deepEqual(expand('reciev')[0], { term: 'receiv', kind: 'typo', similarity: 1 - 1 / 6 });
  assert.deepEqual(expand('shedul')[0]?.term, 'schedul');
  assert.deepEqual(expand('deploymnt')[0], { term: 'deploy', kind: 'prefix', similarity: 6 / 9 });
  assert.deepEqual(expand('kuber')[0], { term: 'kubernet', kind: 'prefix', similarity: 5 / 8 });
  assert.deepEqual(expand('fisik')[0]?.kind, 'phonetic');
  assert.deepEqual(expand('anna kowalsky')[0]?.term, 'Anna Kowalski');
});

test('the more frequent of equally similar words comes first, then by spelling', () => {
  assert.deepEqual(
    expand('stofe').map(({ term }) => term),
    ['store', 'stove', 'stone'],
  );
  assert.deepEqual(vocabulary.expand('stofe', 1).length, 1);
});

test('nothing is suggested for a text that is too short, unlike every word, or not a word', () => {
  for (const term of ['', 'a', 'go', 'qqqqqqq', '12345', '\u0000\u0001\u0002', 'x'.repeat(1_000), '東京']) {
    assert.deepEqual(expand(term), [], term);
  }
});

test('words given twice count once, with both frequencies', () => {
  const twice = Vocabulary.build([
    ['stone', 3],
    ['store', 4],
    ['stone', 3],
  ]);
  assert.equal(twice.size, 2);
  assert.deepEqual(
    twice.expand('stobe', 5).map(({ term }) => term),
    ['stone', 'store'],
  );
});

test('a vocabulary keeps the most frequent words up to its bound, and is built in slices', () => {
  const words = Array.from({ length: VOCABULARY_WORDS_MAX + 500 }, (_, i): [string, number] => [`word${i}`, 1]);
  words.push(['frequentword', 1_000]);
  const work = Vocabulary.building(words);
  let slices = 0;
  let step = work.next();
  for (; step.done !== true; step = work.next()) slices++;
  assert.ok(slices > 1_000);
  assert.equal(step.value.size, VOCABULARY_WORDS_MAX);
  assert.ok(step.value.heapBytes > VOCABULARY_WORDS_MAX * 100);
  assert.equal(step.value.expand('frequentwrd', 1)[0]?.term, 'frequentword');
});

test('every single typo in a longer word is found', () => {
  const words = ['alphabet', 'mountain', 'keyboard', 'language', 'hospital', 'calendar'];
  const known = Vocabulary.build(words.map((word) => [word, 1]));
  const slip = fc.tuple(fc.constantFrom(...words), fc.nat(7), fc.constantFrom('insert', 'drop', 'change', 'swap'));
  fc.assert(
    fc.property(slip, ([word, at, kind]) => {
      const letters = [...word];
      if (kind === 'insert') letters.splice(at, 0, 'q');
      else if (kind === 'drop') letters.splice(at, 1);
      else if (kind === 'change') letters[at] = 'q';
      else letters.splice(at, 2, ...letters.slice(at, at + 2).reverse());
      const written = letters.join('');
      if (written !== word) assert.equal(known.expand(written, 1)[0]?.term, word, written);
    }),
  );
});

/** The definition, by recursion. */
function slowDistance(a: string, b: string): number {
  if (a === '' || b === '') return Math.max(a.length, b.length);
  const costs = [
    slowDistance(a.slice(1), b) + 1,
    slowDistance(a, b.slice(1)) + 1,
    slowDistance(a.slice(1), b.slice(1)) + (a[0] === b[0] ? 0 : 1),
  ];
  if (a.length > 1 && b.length > 1 && a[0] === b[1] && a[1] === b[0])
    costs.push(slowDistance(a.slice(2), b.slice(2)) + 1);
  return Math.min(...costs);
}

test('the edit distance is as defined, up to the bound', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 5 });
  fc.assert(
    fc.property(word, word, fc.nat(6), (a, b, max) => {
      assert.equal(editDistance(a, b, max), Math.min(slowDistance(a, b), max + 1));
    }),
    { numRuns: runs(500) },
  );
});

test('words that sound alike share a key, others do not', () => {
  for (const [a, b] of [
    ['physic', 'fisik'],
    ['knight', 'night'],
    ['Catherine', 'Kathryn'],
    ['smith', 'smyth'],
    ['café', 'kafe'],
  ] as const) {
    assert.equal(phoneticKey(a), phoneticKey(b), `${a} ${b}`);
  }
  assert.notEqual(phoneticKey('stone'), phoneticKey('store'));
  assert.equal(phoneticKey('東京'), '');
});
