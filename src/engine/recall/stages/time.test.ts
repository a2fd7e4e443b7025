import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hit, NOW_MS, names } from './testing/hits.ts';
import { annotateTime, approachTarget, relativeTime, weighRecency, weighTarget } from './time.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

test('recency_weight mixes the score with 1 / (1 + age in hours), and lasting grains keep their score', () => {
  const old = hit({ name: 'old', score: 0.8, grainType: 'event', ageMs: 3 * HOUR });
  const young = hit({ name: 'young', score: 0.6, grainType: 'event', ageMs: 0 });
  const lasting = hit({ name: 'lasting', score: 0.7, grainType: 'belief', ageMs: 999 * DAY });
  const event = hit({ name: 'marked', score: 0.7, fields: { temporal_type: 'event' }, ageMs: HOUR });
  const weighed = weighRecency([old, lasting, young, event], 0.5, NOW_MS);
  assert.deepEqual(names(weighed), ['young', 'lasting', 'marked', 'old']);
  const scores = weighed.map(({ score }) => Number(score.toFixed(6)));
  assert.deepEqual(scores, [0.8, 0.7, 0.6, 0.525]);
  assert.equal(weighed[3]?.breakdown.changes.recencyDecay, 0.5 * (0.25 - 0.8));
  assert.equal(weighed[1]?.breakdown.changes.recencyDecay, 0);
});

test('recency_weight 0 changes nothing, 1 leaves age alone, and a future grain has no age', () => {
  const hits = [
    hit({ grainType: 'event', score: 0.4, ageMs: HOUR }),
    hit({ grainType: 'event', score: 0.3, ageMs: -DAY }),
  ];
  assert.deepEqual(weighRecency(hits, 0, NOW_MS), hits);
  assert.deepEqual(
    weighRecency(hits, 1, NOW_MS).map(({ score }) => score),
    [1, 0.5],
  );
});

test('target_date adds 0.15 on the day, 0.05 a week away, nothing from thirty days on', () => {
  const target = NOW_MS / 1000;
  const days = [0, 3.5, 7, 18.5, 30, 400];
  const gains = days.map((away) => {
    const [moved] = approachTarget([hit({ score: 0.5, ageMs: away * DAY })], target, undefined);
    return Number(moved!.breakdown.changes.temporalDecayBoost!.toFixed(4));
  });
  assert.deepEqual(gains, [0.15, 0.1, 0.05, 0.025, 0, 0]);
});

test('temporal_field chooses the time that is compared with the target date', () => {
  const target = NOW_MS / 1000;
  const far = { score: 0.5, ageMs: 100 * DAY, fields: { valid_from: target } };
  const gain = (field: 'created_at' | 'event_date' | 'both') =>
    approachTarget([hit(far)], target, field)[0]?.breakdown.changes.temporalDecayBoost;
  assert.deepEqual([gain('created_at'), gain('event_date'), gain('both')], [0, 0.15, 0.15]);
});

test('target_date_weight mixes the score with 1 / (1 + hours away), and needs a target date', () => {
  const near = hit({ name: 'near', score: 0.2, ageMs: HOUR });
  const far = hit({ name: 'far', score: 0.6, ageMs: 9 * HOUR });
  const weighed = weighTarget([far, near], { targetDate: NOW_MS / 1000, targetDateWeight: 0.5 });
  assert.deepEqual(
    weighed.map(({ score }) => Number(score.toFixed(6))),
    [0.35, 0.35],
  );
  const hard = weighTarget([far, near], { targetDate: NOW_MS / 1000, targetDateWeight: 0.9 });
  assert.deepEqual(names(hard), ['near', 'far']);
  assert.equal(hard[0]?.breakdown.changes.targetDateProximity, 0.9 * (0.5 - 0.2));
  assert.deepEqual(weighTarget([far], { targetDateWeight: 0.9 }), [far]);
});

test('annotate_relative_time states the age in the largest unit that fits', () => {
  const ago: readonly (readonly [number, string])[] = [
    [0, 'just now'],
    [59_000, 'just now'],
    [60_000, '1 minute ago'],
    [3 * HOUR, '3 hours ago'],
    [DAY, '1 day ago'],
    [15 * DAY, '2 weeks ago'],
    [45 * DAY, '1 month ago'],
    [800 * DAY, '2 years ago'],
    [-3 * DAY, 'in 3 days'],
  ];
  for (const [apart, text] of ago) assert.equal(relativeTime(NOW_MS - apart, NOW_MS), text);
});

test('reference_date is the present of relative times', () => {
  const [annotated] = annotateTime([hit({ ageMs: 0 })], NOW_MS + 14 * DAY, undefined);
  assert.equal(annotated?.relativeTime, '2 weeks ago');
  const dated = hit({ fields: { valid_from: NOW_MS / 1000 - 7 * 86_400 } });
  assert.equal(annotateTime([dated], NOW_MS, 'event_date')[0]?.relativeTime, '1 week ago');
  assert.equal(annotateTime([dated], NOW_MS, 'created_at')[0]?.relativeTime, 'just now');
});
