import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../../test/support/runs.ts';
import type { AnalyzedText } from '../parts/part.ts';
import { chunkOf, tailOf } from './congruence.ts';
import { matchPairs, pairPostings, scoreFewPairs, scorePairs } from './pairs.ts';
import type { QueryPair, TextQuery } from './query.ts';
import { explain, matchedTerms, scoreDocs } from './score.ts';
import { collectStatistics, searchText } from './search.ts';
import type { SearchPart } from './search-part.ts';

const words = fc.array(fc.constantFrom('a', 'a', 'b', 'c', 'd'), { maxLength: 30 });
const text = fc
  .tuple(words, fc.nat(2))
  .map(([terms, gap]): AnalyzedText => ({ terms, positions: terms.map((_, i) => i * (gap + 1)) }));
const texts = fc.array(text, { minLength: 1, maxLength: 30 });
const query: TextQuery = { terms: ['a', 'c', 'none', 'd'], pairs: [], clauses: [], fields: [], truncated: false };

test('the scores of given docs equal those of a search, and an explanation adds up to them', () => {
  fc.assert(
    fc.property(texts, fc.boolean(), (docs, sealed) => {
      const part = sealed ? chunkOf(docs) : tailOf(docs);
      const parts: SearchPart[] = [{ text: part, removed: undefined, allowed: undefined }];
      const statistics = collectStatistics(parts, query.terms);
      const hits = new Map(searchText(parts, query, statistics, 1_000).map((hit) => [hit.doc, hit.score]));
      const order = docs.map((_, doc) => doc).reverse();
      const scores = scoreDocs(part, order, query, statistics);
      for (const [i, doc] of order.entries()) {
        assert.equal(scores[i], hits.get(doc) ?? 0);
        const explained = explain(part, doc, query, statistics);
        assert.equal(explained.score, scores[i]);
        assert.deepEqual(
          explained.terms.map(({ frequency }) => frequency),
          query.terms.map((term) => docs[doc]!.terms.filter((each) => each === term).length),
        );
      }
    }),
    { numRuns: runs(200) },
  );
});

test('each doc has the terms that it contains, in tails and chunks', () => {
  fc.assert(
    fc.property(texts, fc.boolean(), (docs, sealed) => {
      const order = docs.map((_, doc) => doc).reverse();
      assert.deepEqual(
        matchedTerms(sealed ? chunkOf(docs) : tailOf(docs), order, query.terms),
        order.map((doc) => query.terms.flatMap((term, i) => (docs[doc]!.terms.includes(term) ? [i] : []))),
      );
    }),
    { numRuns: runs(100) },
  );
});

function modelPairs({ terms, positions }: AnalyzedText, { first, second, distance }: QueryPair): number {
  const at = (term: string): number[] => positions.filter((_, i) => terms[i] === term);
  const seconds = new Set(at(second));
  return at(first).filter((position) => seconds.has(position + distance)).length;
}

test('pairs are counted by position, with gaps, in tails and chunks', () => {
  const pair = fc.record({
    first: fc.constantFrom('a', 'b', 'none'),
    second: fc.constantFrom('a', 'c'),
    distance: fc.integer({ min: 1, max: 3 }),
  });
  fc.assert(
    fc.property(texts, pair, fc.boolean(), (docs, asked, sealed) => {
      const postings = pairPostings(sealed ? chunkOf(docs) : tailOf(docs), asked);
      const expected = docs.flatMap((doc, i) => {
        const count = modelPairs(doc, asked);
        return count === 0 ? [] : [[i, count]];
      });
      const found = postings === undefined ? 0 : postings.count;
      assert.deepEqual(
        Array.from({ length: found }, (_, i) => [postings!.docs[i], postings!.frequencies[i]]),
        expected,
      );
    }),
    { numRuns: runs(300) },
  );
});

test('pair scores do not depend on how docs are cut, and removed docs do not count', () => {
  const pairs: QueryPair[] = [
    { first: 'a', second: 'b', distance: 1 },
    { first: 'b', second: 'a', distance: 2 },
  ];
  fc.assert(
    fc.property(texts, fc.integer({ min: 1, max: 30 }), fc.func(fc.boolean()), (docs, size, removed) => {
      const cut = (length: number): { parts: SearchPart[]; scores: number[] } => {
        const parts: SearchPart[] = [];
        for (let start = 0; start < docs.length; start += length) {
          const part = chunkOf(docs.slice(start, start + length));
          parts.push({ text: part, removed: (doc) => removed(start + doc), allowed: undefined });
        }
        const statistics = collectStatistics(parts, ['a', 'b']);
        const matches = matchPairs(parts, pairs);
        const scores = parts.flatMap((part, i) => {
          const all = Array.from({ length: part.text.docCount }, (_, doc) => doc);
          return [...scorePairs(i, part.text, all, pairs, matches, statistics)];
        });
        for (const asked of pairs) {
          const live = docs.filter((doc, i) => !removed(i) && modelPairs(doc, asked) > 0).length;
          const name = `${asked.first} ${asked.second} ${asked.distance}`;
          assert.equal(matches.documentFrequency.get(name) ?? 0, live);
        }
        return { parts, scores };
      };
      assert.deepEqual(cut(size).scores, cut(docs.length).scores);
    }),
    { numRuns: runs(100) },
  );
});

test('pairs looked for in some docs have the scores of their lists', () => {
  const term = fc.constantFrom('a', 'b', 'c', 'none');
  const pairs = fc.uniqueArray(fc.record({ first: term, second: term, distance: fc.integer({ min: 1, max: 2 }) }), {
    maxLength: 4,
    selector: ({ first, second, distance }) => `${first} ${second} ${distance}`,
  });
  fc.assert(
    fc.property(texts, pairs, fc.integer({ min: 1, max: 30 }), fc.func(fc.boolean()), (docs, asked, size, wanted) => {
      const parts: SearchPart[] = [];
      for (let start = 0; start < docs.length; start += size) {
        const some = docs.slice(start, start + size);
        parts.push({
          text: parts.length % 2 === 0 ? chunkOf(some) : tailOf(some),
          removed: undefined,
          allowed: undefined,
        });
      }
      const some = parts.map(({ text }) => Array.from({ length: text.docCount }, (_, doc) => doc).filter(wanted));
      const statistics = collectStatistics(parts, ['a', 'b', 'c']);
      const matches = matchPairs(parts, asked);
      const expected = parts.map(({ text }, i) => [...scorePairs(i, text, some[i]!, asked, matches, statistics)]);
      const found = scoreFewPairs(parts, some, asked, statistics);
      const counted = scoreFewPairs(parts, some, asked, statistics, matches.documentFrequency);
      assert.deepEqual(counted, found);
      if (found === undefined) assert.ok(expected.every((scores) => scores.every((score) => score === 0)));
      else
        assert.deepEqual(
          found.map((scores) => [...scores]),
          expected,
        );
    }),
    { numRuns: runs(200) },
  );
});
