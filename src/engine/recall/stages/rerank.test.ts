import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerNow } from '../../asking/asking.ts';
import { explain } from './explain.ts';
import { scoreOf } from './hit.ts';
import { RERANK_HITS_MAX, rerank } from './rerank.ts';
import { answersOf } from './testing/answers.ts';
import { hit, names } from './testing/hits.ts';

const three = [
  hit({ name: 'a', score: 0.9 }),
  hit({ name: 'b', score: 0.5 }),
  { ...hit({ name: 'c', score: 0.1 }), breakdown: { base: 0.3, changes: { supersessionDemotion: -0.2 } } },
];
const ordered = (order: readonly number[] | undefined) => answersOf({ rerank: () => ({ order }) });

test('hits take the places that a model gives them, with the scores of these places', () => {
  const hits = answerNow(rerank(three), ordered([2, 0, 1]));
  assert.deepEqual(names(hits), ['c', 'a', 'b']);
  assert.deepEqual(
    hits.map(({ score }) => score),
    [0.9, 0.5, 0.1],
  );
  for (const one of hits) assert.equal(scoreOf(one.breakdown), one.score);
  assert.equal(explain(hits[0]!), 'Score 0.900: 0.900 for the place that the model gave it.');
});

test('hits with equal scores take the order of the model too', () => {
  const equal = ['a', 'b', 'c', 'd'].map((name, at) => hit({ name, score: at < 3 ? 0.5 : 0.2 }));
  const hits = answerNow(rerank(equal), ordered([2, 1, 0, 3]));
  assert.deepEqual(names(hits), ['c', 'b', 'a', 'd']);
  const scores = hits.map(({ score }) => score);
  assert.ok(
    scores.every((score, at) => at === 0 || score < scores[at - 1]!),
    String(scores),
  );
  assert.ok(Math.abs(scores[2]! - 0.5) < 1e-8);
  for (const one of hits) assert.equal(scoreOf(one.breakdown), one.score);
});

test('without an order nothing changes, and a hit that keeps its place keeps its account', () => {
  assert.deepEqual(answerNow(rerank(three), ordered(undefined)), three);
  const [first] = answerNow(rerank(three), ordered([0, 2, 1]));
  assert.equal(first, three[0]);
});

test('only the best hits are reranked, and one hit alone causes no call', () => {
  const many = Array.from({ length: RERANK_HITS_MAX + 5 }, (_, at) => hit({ name: `m${at}`, score: 1 - at / 100 }));
  const reversed = answerNow(rerank(many), ordered([...Array(RERANK_HITS_MAX).keys()].reverse()));
  assert.deepEqual(names(reversed.slice(RERANK_HITS_MAX)), names(many.slice(RERANK_HITS_MAX)));
  assert.equal(names(reversed)[0], `m${RERANK_HITS_MAX - 1}`);
  const nobody = answersOf({});
  assert.equal(answerNow(rerank([three[0]!]), nobody).length, 1);
  assert.deepEqual(answerNow(rerank([]), nobody), []);
});
