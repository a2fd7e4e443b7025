import assert from 'node:assert/strict';
import { test } from 'node:test';
import { demoteSuperseded, markConflicts, penaliseOutdated } from './contradictions.ts';
import { belief, hit, names } from './testing/hits.ts';

const statuses = (hits: ReturnType<typeof markConflicts>) => hits.map(({ conflictStatus }) => conflictStatus);

test('detect_contradictions marks the newest current, the others outdated, and lowers these by 0.20', () => {
  const hits = [
    belief('old', 'Ada', 'lives in', 'Paris', { score: 0.9, ageMs: 1000 }),
    belief('new', 'Ada', 'lives in', 'London', { score: 0.8 }),
    belief('agrees', 'Ada', 'lives in', 'London ', { score: 0.5, ageMs: 500 }),
    belief('other', 'Bob', 'lives in', 'Rome', { score: 0.4 }),
  ];
  const marked = markConflicts(hits);
  assert.deepEqual(statuses(marked), ['outdated', 'current', 'current', undefined]);
  const penalised = penaliseOutdated(marked);
  assert.deepEqual(names(penalised), ['new', 'old', 'agrees', 'other']);
  assert.equal(penalised[1]?.score, 0.9 - 0.2);
  assert.equal(penalised[1]?.breakdown.changes.interferencePenalty, -0.2);
  assert.equal(penalised[0]?.breakdown.changes.interferencePenalty, undefined);
});

test('the surer of two contradictions of one age is current', () => {
  const hits = [
    belief('unsure', 'Ada', 'is', 'tall', { fields: { confidence: 0.3 } }),
    belief('sure', 'Ada', 'is', 'short', { fields: { confidence: 0.9 } }),
  ];
  assert.deepEqual(statuses(markConflicts(hits)), ['outdated', 'current']);
});

test('statements of two users are no contradiction, nor are equal statements', () => {
  const hits = [
    belief('a', 'user', 'likes', 'tea', { userId: 'ada' }),
    belief('b', 'user', 'likes', 'coffee', { userId: 'bob' }),
    belief('c', 'user', 'drinks', 'tea', { userId: 'bob' }),
    belief('d', 'user', 'drinks', 'tea', { userId: 'bob' }),
  ];
  assert.deepEqual(new Set(statuses(markConflicts(hits))), new Set([undefined]));
});

test('a retracted grain is outdated whatever its age, and contradicts nothing', () => {
  const hits = [
    belief('taken back', 'Ada', 'is', 'tall', { fields: { verification_status: 'retracted' } }),
    belief('stands', 'Ada', 'is', 'short', { ageMs: 5000 }),
  ];
  assert.deepEqual(statuses(markConflicts(hits)), ['outdated', undefined]);
});

test('an old version is outdated where its successor says something else, and is lowered by 0.15', () => {
  const hits = [
    belief('old', 'Ada', 'is', 'tall', { score: 0.5, superseded: true }),
    belief('new', 'Ada', 'is', 'short', { score: 0.4, ageMs: 5000 }),
  ];
  assert.deepEqual(statuses(markConflicts(hits)), ['outdated', 'current']);
  const demoted = demoteSuperseded(hits);
  assert.deepEqual(names(demoted), ['new', 'old']);
  assert.equal(demoted[1]?.breakdown.changes.supersessionDemotion, -0.15);
  assert.deepEqual(
    demoteSuperseded([hit()]).map(({ breakdown }) => breakdown.changes),
    [{}],
  );
});
