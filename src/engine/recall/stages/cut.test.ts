import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../../test/support/runs.ts';
import { cutToLimit, dropWeak, keepBestNamespaces } from './cut.ts';
import { compareHits } from './hit.ts';
import { hit, names } from './testing/hits.ts';

test('min_score drops lower scores, but not hits of structure alone', () => {
  const hits = [
    hit({ name: 'good', score: 0.6 }),
    hit({ name: 'bad', score: 0.4 }),
    hit({ name: 's', score: 0.1, judged: false }),
  ];
  assert.deepEqual(names(dropWeak(hits, 0.5)), ['good', 's']);
  assert.deepEqual(names(dropWeak(hits, 0.6)), ['good', 's']);
});

test('min_score is compared with the relevance, which the answer shows', () => {
  const hits = [
    hit({ name: 'best of nothing', score: 1, strength: 0.9, relevance: 0.1 }),
    hit({ name: 'good', score: 0.3, relevance: 0.8 }),
  ];
  assert.deepEqual(names(dropWeak(hits, 0.5)), ['good']);
});

test('max_namespaces keeps the namespaces with the best mean score', () => {
  const hits = [
    hit({ name: 'x1', score: 0.9, namespace: 'x' }),
    hit({ name: 'y1', score: 0.8, namespace: 'y' }),
    hit({ name: 'y2', score: 0.7, namespace: 'y' }),
    hit({ name: 'x2', score: 0.1, namespace: 'x' }),
    hit({ name: 'z1', score: 0.6, namespace: 'z' }),
  ];
  assert.deepEqual(names(keepBestNamespaces(hits, 2)), ['y1', 'y2', 'z1']);
  assert.deepEqual(names(keepBestNamespaces(hits, 3)), names(hits));
});

test('min_per_namespace reserves places for every namespace, turn by turn', () => {
  const hits = [
    ...Array.from({ length: 6 }, (_, at) => hit({ name: `x${at}`, score: 0.9 - at / 100, namespace: 'x' })),
    hit({ name: 'y0', score: 0.3, namespace: 'y' }),
    hit({ name: 'y1', score: 0.2, namespace: 'y' }),
    hit({ name: 'z0', score: 0.1, namespace: 'z' }),
  ];
  assert.deepEqual(names(cutToLimit(hits, { limit: 5, minPerNamespace: 2 })), ['x0', 'x1', 'y0', 'y1', 'z0']);
  assert.deepEqual(names(cutToLimit(hits, { limit: 4, minPerNamespace: 2 })), ['x0', 'x1', 'y0', 'z0']);
  assert.deepEqual(names(cutToLimit(hits, { limit: 2 })), ['x0', 'x1']);
});

test('reserved places are at most half of the places', () => {
  const hits = Array.from({ length: 10 }, (_, at) => hit({ name: `h${at}`, score: 1 - at / 10 }));
  const reserved = new Set(hits.slice(5).map(({ grain }) => grain.hash));
  assert.deepEqual(names(cutToLimit(hits, { limit: 4, reserved })), ['h0', 'h1', 'h5', 'h6']);
  assert.deepEqual(names(cutToLimit(hits, { limit: 1, reserved })), ['h0']);
});

test('the limit is kept, the order is by score, and nothing is duplicated, for any options', () => {
  const one = fc.record({
    score: fc.double({ min: -1, max: 2, noNaN: true }),
    namespace: fc.constantFrom('', 'x', 'y', 'z'),
  });
  fc.assert(
    fc.property(
      fc.array(one, { maxLength: 30 }),
      fc.nat(12),
      fc.nat(4),
      fc.nat(30),
      (given, limit, minPerNamespace, reservedCount) => {
        const hits = given.map((made) => hit(made));
        const reserved = new Set(hits.slice(0, reservedCount).map(({ grain }) => grain.hash));
        const cut = cutToLimit(hits, { limit, minPerNamespace, reserved });
        assert.equal(cut.length, Math.min(limit, hits.length));
        assert.equal(new Set(cut).size, cut.length);
        assert.deepEqual(cut, cut.toSorted(compareHits));
      },
    ),
    { numRuns: runs(100) },
  );
});
