import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../../test/support/runs.ts';
import type { Candidate } from '../../calls/recall.ts';
import { sumOfTerms } from '../legs/text-leg.ts';
import { fuse, RRF_K } from './fuse.ts';

const candidate = (hash: string, rest: Partial<Candidate> = {}): Candidate => ({
  hash,
  ordinal: hash.charCodeAt(0),
  createdAtMs: 1_000,
  ...rest,
});
const asked = { query: 'x', structural: false, limit: 10 };
const order = (hits: readonly { readonly candidate: Candidate }[]): string =>
  hits.map((hit) => hit.candidate.hash).join('');

test('a recall by structure alone gives score 1, newest first, then by hash', () => {
  const some = [
    candidate('c', { structural: true }),
    candidate('a', { structural: true }),
    candidate('b', { structural: true, createdAtMs: 2_000 }),
  ];
  const hits = fuse(some, { structural: true, limit: 2 });
  assert.equal(order(hits), 'ba');
  assert.deepEqual([hits[0]!.score, hits[0]!.breakdown.final, hits[0]!.breakdown.bm25], [1, 1, 0]);
});

test('a limit cuts the ranking and changes no hit, with many equal scores', () => {
  const scored = fc.record({ words: fc.integer({ min: 0, max: 5 }), createdAtMs: fc.integer({ min: 0, max: 3 }) });
  const lists = fc.array(scored, { minLength: 1, maxLength: 250 });
  fc.assert(
    fc.property(lists, fc.integer({ min: 1, max: 120 }), fc.boolean(), (list, limit, structural) => {
      const some = list.map(({ words, createdAtMs }, i) =>
        candidate(i.toString().padStart(3, '0'), { bm25: words, createdAtMs, structural: i % 3 === 0 }),
      );
      const all = fuse(some, { ...asked, structural, limit: some.length + 100 });
      const expected = some.toSorted(
        (a, b) => b.bm25! - a.bm25! || b.createdAtMs - a.createdAtMs || (a.hash < b.hash ? -1 : 1),
      );
      if (!structural) assert.equal(order(all), order(expected.map((one) => ({ candidate: one }))));
      assert.deepEqual(fuse(some, { ...asked, structural, limit }), all.slice(0, limit));
    }),
    { numRuns: runs(50) },
  );
});

test('a recall by words alone gives the share of the best BM25, and nothing for the context', () => {
  const turn = { turnFlags: 31, session: 1, before: { ordinal: 1, bm25: 9 }, after: undefined };
  const some = [
    candidate('a', { bm25: 4, turn }),
    candidate('b', { bm25: 8, phrase: 2 }),
    candidate('c', { bm25: 2, turn }),
  ];
  const hits = fuse(some, { ...asked, wordsOnly: true });
  assert.equal(order(hits), 'bac');
  assert.deepEqual(
    hits.map(({ score, bm25Rank }) => [score, bm25Rank]),
    [
      [1, 1],
      [0.5, 2],
      [0.25, 3],
    ],
  );
});

test('the terms of the text leg alone add up to the score', () => {
  const turn = { turnFlags: 9, session: 1, before: { ordinal: 1, bm25: 9 }, after: undefined };
  const hits = fuse(
    [candidate('a', { bm25: 4, turn }), candidate('b', { bm25: 8 }), candidate('c', { bm25: 0, turn })],
    asked,
  );
  assert.equal(order(hits), 'bac');
  for (const { score, breakdown } of hits) {
    assert.equal(score, sumOfTerms(breakdown));
    assert.equal(breakdown.final, score);
  }
  assert.deepEqual(
    hits.map(({ bm25Rank }) => bm25Rank),
    [1, 2, undefined],
  );
  assert.deepEqual(
    hits.map(({ rrfScore }) => rrfScore),
    [1, 2, 3].map((rank) => 1 / (RRF_K + rank)),
  );
});

test('two legs give the sum of 1 / (60 + rank), relative to a hit that is first in both', () => {
  const some = [
    candidate('a', { bm25: 8 }),
    candidate('b', { bm25: 4, structural: true }),
    candidate('c', { structural: true, createdAtMs: 5_000 }),
  ];
  const hits = fuse(some, { ...asked, structural: true });
  assert.equal(order(hits), 'bca');
  assert.equal(hits[0]!.rrfScore, 1 / 62 + 1 / 62);
  assert.equal(hits[0]!.score, ((1 / 62 + 1 / 62) * 61) / 2);
  // The text fields are informative; the score is not their sum.
  assert.ok(hits[0]!.breakdown.bm25 > 0 && hits[1]!.breakdown.bm25 === 0);
});

test('a grain that only another leg found is not ranked by the scores kept for its neighbours', () => {
  const some = [candidate('a', { bm25: 2 }), candidate('b', { bm25: 8, outsideText: true, structural: true })];
  const hits = fuse(some, { ...asked, structural: true });
  assert.equal(hits.find((hit) => hit.candidate.hash === 'a')!.breakdown.bm25, 1 / 5.4);
  assert.equal(hits.find((hit) => hit.candidate.hash === 'b')!.breakdown.bm25, 0);
  assert.equal(hits.find((hit) => hit.candidate.hash === 'b')!.bm25Rank, undefined);
});

const some = fc.uniqueArray(
  fc.record({
    hash: fc.stringMatching(/^[a-f]{3}$/),
    ordinal: fc.nat(99),
    createdAtMs: fc.nat(3),
    bm25: fc.option(fc.nat(4), { nil: undefined }),
    structural: fc.boolean(),
  }),
  { selector: ({ hash }) => hash, maxLength: 20 },
);

test('a ranking has one order, its scores fall, and the order of the candidates does not matter', () => {
  fc.assert(
    fc.property(some, fc.boolean(), fc.nat(25), fc.infiniteStream(fc.nat()), (all, structural, limit, noise) => {
      const query = { ...asked, structural, limit };
      const hits = fuse<Candidate>(all, query);
      assert.ok(hits.length <= limit);
      for (let i = 1; i < hits.length; i++) assert.ok(hits[i]!.score <= hits[i - 1]!.score);
      for (const { score } of hits) assert.ok(score >= 0 && score <= 1);
      const shuffled = all
        .map((one) => ({ one, key: noise.next().value as number }))
        .sort((a, b) => a.key - b.key)
        .map(({ one }) => one);
      assert.deepEqual(fuse<Candidate>(shuffled, query), hits);
    }),
    { numRuns: runs(200) },
  );
});
