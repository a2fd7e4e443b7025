import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventLine } from './event-line.ts';

const EVENT = {
  sequence: 12,
  partition: 3,
  event_type: 'grain_created',
  timestamp_ms: Date.UTC(2026, 10, 28, 3, 36, 43),
  hash: 'dd3397da61fc9d1f'.repeat(4),
  grain_type: 'belief',
  subject: 'ann',
  relation: 'likes',
  object: 'black coffee',
  user_id: 'ann',
  details: {},
};

test('an event is a line that fits the terminal', () => {
  assert.equal(
    eventLine(EVENT, 110),
    '2026-11-28 03:36:43     3:12  grain_created         dd3397da61fc  ann likes black coffee, user ann',
  );
  assert.equal(
    eventLine(EVENT, 80),
    '11-28 03:36:43   3:12  grain_created         dd3397da  ann likes black coffee, …',
  );
  for (const columns of [80, 99, 100, 240])
    for (const event_type of ['grain_created', 'processing_unrestricted'])
      for (const object of ['tea', 'word '.repeat(100)])
        assert.ok(eventLine({ ...EVENT, event_type, object }, columns).length <= columns, `${columns}`);
});

test('a goal that moves shows both states, and an event without a grain its details', () => {
  const moved = {
    ...EVENT,
    event_type: 'goal_state_changed',
    grain_type: 'goal',
    details: { from: 'active', to: 'failed' },
  };
  const { subject: _, relation: __, object: ___, ...goal } = moved;
  assert.match(eventLine(goal, 80), / {2}goal, active → failed, u…$/);
  assert.match(eventLine(goal, 110), / {2}goal, active → failed, user ann$/);
  const policy = { sequence: 1, event_type: 'policy_changed', timestamp_ms: 0, details: { version: 2 } };
  assert.match(eventLine(policy, 80), /^01-01 00:00:00 {6}1 {2}policy_changed {18}version 2$/);
});
