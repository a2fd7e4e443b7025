import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deadlineOf } from './deadline.ts';

const DAY = 86_400_000;
const RECEIVED = Date.UTC(2026, 10, 1);
const request = { receivedAtMs: RECEIVED, days: 30 };
const extension = { days: 60, atMs: RECEIVED, by: 'key:a' };
const closedAt = (atMs: number) => ({ closed: { atMs, by: 'key:a', outcome: 'fulfilled', acts: [] } as const });

test('days are whole ones since the request was received', () => {
  for (const [atMs, used, left, isOverdue] of [
    [RECEIVED, 0, 30, false],
    [RECEIVED + DAY - 1, 0, 29, false],
    [RECEIVED + DAY, 1, 29, false],
    [RECEIVED + 30 * DAY, 30, 0, false],
    [RECEIVED + 30 * DAY + 1, 30, 0, true],
    [RECEIVED + 45 * DAY, 45, 0, true],
    // A clock that was set back.
    [RECEIVED - DAY, 0, 31, false],
  ] as const)
    assert.deepEqual(
      deadlineOf(request, atMs),
      { dueAtMs: RECEIVED + 30 * DAY, daysAllowed: 30, daysUsed: used, daysLeft: left, isOverdue },
      String((atMs - RECEIVED) / DAY),
    );
});

test('an extension adds its days, and the end of a request stops the count', () => {
  const extended = deadlineOf({ ...request, extension }, RECEIVED + 45 * DAY);
  assert.deepEqual([extended.daysAllowed, extended.daysLeft, extended.isOverdue], [90, 45, false]);
  const ended = deadlineOf({ ...request, ...closedAt(RECEIVED + 12 * DAY) }, RECEIVED + 400 * DAY);
  assert.deepEqual([ended.daysUsed, ended.isOverdue], [12, false]);
  const late = deadlineOf({ ...request, ...closedAt(RECEIVED + 31 * DAY) }, RECEIVED + 400 * DAY);
  assert.deepEqual([late.daysUsed, late.isOverdue], [31, true]);
});
