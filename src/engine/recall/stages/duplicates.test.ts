import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../../test/support/runs.ts';
import { dropDuplicates, preferDeepest, resolveConflicts } from './duplicates.ts';
import { Similarity } from './similarity.ts';
import { belief, hit, names } from './testing/hits.ts';

test('deduplicate keeps the surest of equal statements, then the newest', () => {
  const hits = [
    belief('first', 'Ada', 'works at', 'Acme Corporation', { fields: { confidence: 0.5 } }),
    belief('sure', 'Ada', 'works at', 'Acme Corporatio', { fields: { confidence: 0.9 }, ageMs: 9000 }),
    belief('newer', 'Ada', 'works at', 'Acme Corporation!', { fields: { confidence: 0.9 }, ageMs: 1000 }),
    belief('other', 'Ada', 'works at', 'Bell Labs'),
    hit({ name: 'event' }),
  ];
  assert.deepEqual(names(dropDuplicates(hits)), ['newer', 'other', 'event']);
});

test('deduplicate_threshold sets how similar equal statements are', () => {
  const hits = [belief('a', 'Ada', 'likes', 'tea'), belief('b', 'Ada', 'likes', 'teas', { ageMs: 1 })];
  assert.deepEqual(names(dropDuplicates(hits, 0.85)), ['a', 'b']);
  assert.deepEqual(names(dropDuplicates(hits, 0.75)), ['a']);
  assert.deepEqual(names(dropDuplicates(hits, 0)), ['a']);
});

test('the deepest of equal statements in scopes of one line wins; others are left alone', () => {
  const hits = [
    belief('top', 'bot', 'tone', 'formal', { namespace: 'acme' }),
    belief('middle', 'bot', 'tone', 'dry', { namespace: 'acme/prod' }),
    belief('beside', 'bot', 'tone', 'wild', { namespace: 'acme/prod/bot2' }),
    belief('kept', 'bot', 'name', 'Al', { namespace: 'acme' }),
    belief('twin', 'bot', 'tone', 'warm', { namespace: 'acme/prod' }),
    hit({ name: 'event', namespace: 'acme' }),
  ];
  const line = ['acme', 'acme/prod', 'acme/prod/bot1'];
  assert.deepEqual(names(preferDeepest(hits, line)), ['middle', 'beside', 'kept', 'twin', 'event']);
});

test('conflict_resolution keeps statements of the newest object', () => {
  const hits = [
    belief('old', 'Ada', 'lives in', 'Paris', { ageMs: 9000 }),
    belief('new', 'Ada', 'lives in', 'Paree'),
    belief('far', 'Ada', 'lives in', 'London', { ageMs: 100 }),
    belief('again', 'Ada', 'lives in', 'Paree', { ageMs: 5000 }),
    belief('other', 'Ada', 'eats', 'Rice'),
  ];
  assert.deepEqual(names(resolveConflicts(hits, undefined)), ['new', 'again', 'other']);
});

test('conflict_similarity_threshold keeps objects that are unlike the newest', () => {
  const hits = [
    belief('old', 'Ada', 'lives in', 'Paris', { ageMs: 9000 }),
    belief('new', 'Ada', 'lives in', 'Paree'),
    belief('far', 'Ada', 'lives in', 'London', { ageMs: 100 }),
  ];
  assert.deepEqual(names(resolveConflicts(hits, 0.5)), ['new', 'far']);
});

/** The plain Levenshtein distance, in code points. */
function distance(a: readonly string[], b: readonly string[]): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  a.forEach((letter, i) => {
    const next = [i + 1];
    b.forEach((other, j) => {
      next.push(Math.min(row[j + 1]! + 1, next[j]! + 1, row[j]! + (letter === other ? 0 : 1)));
    });
    row = next;
  });
  return row[b.length]!;
}

test('the similarity within a band equals the full similarity', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'ß', '😀'), maxLength: 24 });
  const threshold = fc.constantFrom(0, 0.25, 0.5, 0.75, 0.85, 0.9, 1);
  fc.assert(
    fc.property(text, text, threshold, (a, b, share) => {
      const [left, right] = [[...a], [...b]];
      const longest = Math.max(left.length, right.length);
      const expected = longest === 0 || distance(left, right) <= (1 - share) * longest + 1e-9;
      assert.equal(new Similarity().atLeast(a, b, share), expected);
    }),
    { numRuns: runs(300) },
  );
});

test('only equal texts are similar after the budget of comparisons is spent', () => {
  const similarity = new Similarity(2_000);
  const long = 'x'.repeat(100_000);
  assert.equal(similarity.atLeast('tea', 'teas', 0.5), true);
  assert.equal(similarity.atLeast(long, `${long}y`, 0.5), false);
  assert.equal(similarity.atLeast('tea', 'teas', 0.5), false);
  assert.equal(similarity.atLeast(long, long, 0.5), true);
});

test('five hundred long objects of one triple are compared within the budget', () => {
  const hits = Array.from({ length: 500 }, (_, at) =>
    belief(`h${at}`, 's', 'r', `${'ab'.repeat(400)}${at}`.slice(-700)),
  );
  const left = dropDuplicates(hits, 0.01);
  assert.ok(left.length >= 1 && left.length <= 500);
});
