import assert from 'node:assert/strict';
import { test } from 'node:test';
import { coverageOf, type Evidence, evidenceOf, termShares } from './evidence.ts';

const SHARES = [0.1, 0.2, 0.3, 0.4];

test('a topic is unknown when the best hit holds few words of the question and nothing is similar', () => {
  const of = (...hits: readonly Evidence[]) => coverageOf(hits, SHARES);
  assert.equal(of(), 'none');
  assert.equal(of({ matchedTerms: [] }), 'none');
  assert.equal(of({ matchedTerms: [], cosine: 0.49 }), 'none');
  assert.equal(of({ matchedTerms: [], cosine: 0.52 }), 'none');
  assert.equal(of({ matchedTerms: [], cosine: 0.55 }), 'partial', 'a quarter of what a known subject has');
  assert.equal(of({ matchedTerms: [0, 1] }), 'partial', 'a third of the words of a known subject');
  assert.equal(of({ matchedTerms: [1] }), 'none', 'a fifth of the words is chance');
  assert.equal(
    of({ matchedTerms: [1] }, { matchedTerms: [0] }, { matchedTerms: [0, 1] }),
    'partial',
    'the best hit counts',
  );
  assert.equal(of({ matchedTerms: [], cosine: 0.3 }, { matchedTerms: [0] }), 'none');
  assert.equal(of({ matchedTerms: [0] }, { matchedTerms: [], cosine: 0.7 }), 'full');
  assert.equal(of({ matchedTerms: [1, 3] }), 'partial');
  assert.equal(of({ matchedTerms: [2, 3] }), 'full');
});

test('hits together know what each of them knows in part, and a word counts once', () => {
  assert.equal(coverageOf([{ matchedTerms: [3] }, { matchedTerms: [2] }], SHARES), 'full');
  assert.equal(coverageOf([{ matchedTerms: [3] }, { matchedTerms: [3] }, { matchedTerms: [0, 3] }], SHARES), 'partial');
});

test('the evidence of a hit is its own share of the words, or its cosine', () => {
  assert.equal(evidenceOf({ matchedTerms: [1] }, SHARES), 0.2);
  assert.equal(evidenceOf({ matchedTerms: [1], cosine: 0.6 }, SHARES), 0.6);
  assert.equal(evidenceOf({ matchedTerms: [0, 1, 2, 3], cosine: 1.0001 }, SHARES), 1);
});

test('a rare word weighs more than a common one, and a word found nowhere weighs most', () => {
  const documentFrequency = new Map([
    ['common', 8],
    ['rare', 1],
  ]);
  const shares = termShares(['common', 'rare', 'unknown'], { docs: 10, totalLength: 100, documentFrequency });
  assert.ok(shares[0]! < shares[1]! && shares[1]! < shares[2]!);
  assert.ok(Math.abs(shares.reduce((sum, share) => sum + share, 0) - 1) < 1e-12);
  assert.deepEqual(termShares([], { docs: 10, totalLength: 100, documentFrequency }), []);
});
