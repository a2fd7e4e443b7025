import assert from 'node:assert/strict';
import { test } from 'node:test';
import { favourSession, favourSubject } from './affinity.ts';
import { belief, hit, names } from './testing/hits.ts';

test('session_affinity_boost raises hits of the leading namespace among the top ten', () => {
  const hits = [
    hit({ name: 'x1', score: 0.9, namespace: 'x' }),
    hit({ name: 'y1', score: 0.8, namespace: 'y' }),
    hit({ name: 'y2', score: 0.7, namespace: 'y' }),
  ];
  const favoured = favourSession(hits, 0.5);
  assert.deepEqual(names(favoured), ['y1', 'y2', 'x1']);
  assert.deepEqual(
    favoured.map(({ breakdown }) => breakdown.changes.sessionAffinity),
    [0.4, 0.35, 0],
  );
  assert.deepEqual(favourSession(hits, 0), hits);
});

test('only the first ten decide which namespace leads', () => {
  const top = Array.from({ length: 10 }, (_, at) =>
    hit({ name: `t${at}`, score: 0.9 - at / 100, namespace: at < 6 ? 'few' : 'many' }),
  );
  const rest = Array.from({ length: 30 }, (_, at) => hit({ name: `r${at}`, score: 0.1, namespace: 'many' }));
  const favoured = favourSession([...top, ...rest], 1);
  assert.ok(favoured.slice(0, 6).every(({ grain }) => grain.namespace === 'few'));
  assert.ok(favoured.slice(6).every(({ breakdown }) => breakdown.changes.sessionAffinity === 0));
});

test('subject_affinity_boost raises hits about the subject that leads', () => {
  const hits = [
    belief('bob', 'Bob', 'likes', 'tea', { score: 0.9 }),
    belief('ada1', 'Ada', 'likes', 'tea', { score: 0.8 }),
    belief('ada2', 'Ada ', 'likes', 'rain', { score: 0.7 }),
    hit({ name: 'none', score: 0.65 }),
  ];
  const favoured = favourSubject(hits, 1);
  assert.deepEqual(names(favoured), ['ada1', 'ada2', 'bob', 'none']);
  assert.equal(favoured[0]?.score, 1.6);
});

test('hits without a subject change nothing, and a score below zero is not lowered', () => {
  const hits = [hit({ score: 0.4 }), hit({ score: 0.3 })];
  assert.deepEqual(favourSubject(hits, 1), hits);
  const [low] = favourSession([hit({ score: -0.1, namespace: 'x' })], 1);
  assert.equal(low?.score, -0.1);
});
