import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { mergeAuditChecks, mergeFingerprints, mergeHistories, mergeProofs, sumByKey } from './merge.ts';

test('fingerprints: none, one as it is, several hashed in partition order', () => {
  assert.equal(mergeFingerprints(['', '']), '');
  assert.equal(mergeFingerprints(['', 'aaaaaaaaaaaaaaaa']), 'aaaaaaaaaaaaaaaa');
  const both = hash('sha256', 'bbbbbbbbbbbbbbbbaaaaaaaaaaaaaaaa', 'hex').slice(0, 16);
  assert.equal(mergeFingerprints(['bbbbbbbbbbbbbbbb', '', 'aaaaaaaaaaaaaaaa']), both);
});

test('a repeated erasure returns the first proof again, with count 0', () => {
  const key = (keyFingerprint: string, count: number, timestamp: number) => ({
    userId: 'u',
    count,
    keyFingerprint,
    timestamp,
  });
  const first = mergeProofs([key('aa', 2, 100), key('', 0, 100), key('bb', 1, 101)]);
  const repeat = mergeProofs([key('aa', 0, 100), key('', 0, 900), key('bb', 0, 101)]);
  assert.equal(first.count, 3);
  assert.deepEqual(repeat, { ...first, count: 0 });
});

test('the proof of an unknown user has the present time and no fingerprint', () => {
  const unknown = { userId: 'u', count: 0, keyFingerprint: '', timestamp: 900 };
  assert.deepEqual(mergeProofs([unknown, unknown]), unknown);
});

test('a user who is erased again, with data in one partition since, gets a proof of the later time', () => {
  const old = { userId: 'u', count: 0, keyFingerprint: 'aa', timestamp: 100 };
  const again = { userId: 'u', count: 4, keyFingerprint: 'cc', timestamp: 200 };
  assert.equal(mergeProofs([old, again]).timestamp, 200);
});

test('audit checks: the first broken chain is named', () => {
  const good = (partition: number) => ({ valid: true, checked: 10, partition });
  assert.deepEqual(mergeAuditChecks([good(0), good(1)]), { valid: true, checked: 20, partition: 0 });
  const bad = (partition: number) => ({ valid: false, checked: 5, firstBadSeq: 6, partition });
  assert.deepEqual(mergeAuditChecks([good(0), bad(1), bad(2)]), {
    valid: false,
    checked: 20,
    partition: 1,
    firstBadSeq: 6,
  });
});

test('histories add up, and a partition without a point at a time counts as it last was', () => {
  const point = (timestamp: number, totalGrains: number) => ({
    timestamp,
    totalGrains,
    diskSpaceBytes: totalGrains * 10,
    typeCounts: { event: totalGrains },
  });
  const merged = mergeHistories([{ points: [point(1, 5), point(3, 7)] }, { points: [point(2, 100)] }]);
  assert.deepEqual(merged.points, [point(1, 5), point(2, 105), point(3, 107)]);
  // Nothing changed in one of them since before the first time.
  const quiet = mergeHistories([{ points: [point(10, 5)] }, { points: [], before: point(1, 100) }]);
  assert.deepEqual(quiet.points, [point(10, 105)]);
  const day = 86_400;
  const byDay = mergeHistories([
    { points: [point(100, 1), point(day, 2)], isByDay: true },
    { points: [point(200, 10)], isByDay: true },
  ]);
  assert.deepEqual(byDay.points, [point(200, 11), point(day, 12)]);
});

test('counts by key add up, whatever the keys are', () => {
  const sums = sumByKey([
    { a: 1, ['__proto__']: 2 },
    { ['__proto__']: 3, b: 4 },
  ]);
  assert.deepEqual(Object.entries(sums), [
    ['a', 1],
    ['__proto__', 5],
    ['b', 4],
  ]);
});
