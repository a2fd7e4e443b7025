import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../../test/support/runs.ts';
import { DIVERSITY_GRAINS_MAX, diversified } from './diversity.ts';
import type { CalGrain } from './grain.ts';
import { summaryOf } from './summary.ts';
import { grainOf } from './types.fixture.ts';
import { likeness, wordsOf } from './words.ts';

const said = (texts: readonly string[]): CalGrain[] =>
  texts.map((content, i) => ({
    ...grainOf('0', 'event', { content }, { score: 1 - i / 100 }),
    hash: i.toString(16).padStart(64, '0'),
  }));
const texts = (grains: readonly CalGrain[]) => grains.map(({ fields }) => fields['content']);

test('similarity is the share of common words, in any script', () => {
  assert.equal(likeness(wordsOf('a b c'), wordsOf('B, c: d!')), 0.5);
  assert.equal(likeness(wordsOf('東京タワー'), wordsOf('東京')), 2 / 5);
  assert.equal(likeness(wordsOf(''), wordsOf('...')), 0);
});

test('a grain that repeats earlier ones comes later', () => {
  const grains = said(['red wine with fish', 'red wine with fish again', 'trains to Lyon']);
  const expected = ['red wine with fish', 'trains to Lyon', 'red wine with fish again'];
  assert.deepEqual(texts(diversified(grains, { by: 'mmr' })), expected);
  assert.deepEqual(texts(diversified(grains, { by: 'threshold', threshold: 0.7 })), expected);
  assert.deepEqual(diversified(grains, { by: 'mmr', lambda: 1 }), grains);
  assert.deepEqual(diversified(grains, { by: 'threshold', threshold: 1 }), grains);
});

test('the best grain stays first, no grain is lost, and grains beyond the bound keep their places', () => {
  const word = fc.constantFrom('a', 'b', 'c', 'd', 'e');
  const some = fc.array(
    fc.array(word, { maxLength: 4 }).map((all) => all.join(' ') || 'x'),
    { maxLength: 30 },
  );
  const diversity = fc.oneof(
    fc.record({ by: fc.constant('mmr' as const), lambda: fc.double({ min: 0.01, max: 1, noNaN: true }) }),
    fc.record({ by: fc.constant('threshold' as const), threshold: fc.double({ min: 0, max: 1, noNaN: true }) }),
  );
  fc.assert(
    fc.property(some, diversity, (all, wanted) => {
      const grains = said(all);
      const result = diversified(grains, wanted);
      assert.equal(result[0], grains[0]);
      assert.deepEqual(new Set(result), new Set(grains));
      assert.equal(result.length, grains.length);
    }),
    { numRuns: runs(100) },
  );
  const many = said(Array.from({ length: DIVERSITY_GRAINS_MAX + 5 }, () => 'the same'));
  assert.deepEqual(diversified(many, { by: 'mmr' }).slice(-5), many.slice(-5));
});

test('a summary is the line whose words most others share', () => {
  const lines = ['trains to Lyon', 'red wine with fish', 'wine with cheese', 'fish on Fridays'];
  assert.equal(summaryOf(said(lines)), 'red wine with fish');
  assert.equal(summaryOf(said(['one', 'two'])), 'one');
  assert.equal(summaryOf([]), undefined);
});

test('a long summary is cut after a word', () => {
  const summary = summaryOf(said([`start ${'word '.repeat(100)}`]))!;
  assert.match(summary, /^start( word)+…$/);
  assert.ok(summary.length <= 241);
  assert.equal(summaryOf(said(['x'.repeat(500)]))?.length, 241);
});
