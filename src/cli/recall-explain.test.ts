import assert from 'node:assert/strict';
import { test } from 'node:test';
import { legsOf, matchedWords } from './recall-explain.ts';

test('matched words are words of the text, compared by stem, each once, without excluded ones', () => {
  assert.deepEqual(matchedWords('where did Ada park her bikes?', 'Ada parked the bike; the Bikes were red', 'en'), [
    'Ada',
    'parked',
    'bike',
  ]);
  assert.deepEqual(matchedWords('tea -milk', 'milk in tea', 'en'), ['tea']);
  assert.deepEqual(matchedWords('what did I plan', 'I had a plan', 'en'), ['plan']);
  assert.deepEqual(matchedWords('you', 'are you there', 'en'), ['you']);
  assert.deepEqual(matchedWords('the of and', 'the of and', 'en'), []);
  assert.deepEqual(matchedWords('', 'x'.repeat(10_000), 'en'), []);
  assert.equal(matchedWords('a1 b2 '.repeat(50), 'a1 b2', 'xx').length, 2);
});

test('the legs that found a hit are read from its score breakdown', () => {
  const hit = { grainType: 'event', fields: {}, explanation: '', recallSource: 'primary', isSuperseded: false };
  assert.deepEqual(legsOf({ ...hit, breakdown: { bm25_rank: 2, vector_score: 0.714, rrf_score: 0 } }), [
    'words (rank 2)',
    'meaning (cosine 0.71)',
  ]);
  assert.deepEqual(legsOf({ ...hit, breakdown: { near: 0.1, rrf_score: 0 } }), ['context of a match']);
  assert.deepEqual(legsOf({ ...hit, breakdown: { rrf_score: 1 } }), ['structure']);
  assert.deepEqual(legsOf({ ...hit, breakdown: { rrf_score: 0.3 }, recallSource: 'expansion' }), [
    'an expansion of the query',
  ]);
});
