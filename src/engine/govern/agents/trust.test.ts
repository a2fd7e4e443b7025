import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_COUNTS, trustPoints, trustScore } from './trust.ts';

/** Successful and failed actions, refusals, and the score by the contract. */
const ROWS: readonly (readonly [succeeded: number, failed: number, refused: number, score: number])[] = [
  [0, 0, 0, 1 / 2],
  [1, 0, 0, 2 / 3],
  [0, 1, 0, 1 / 3],
  [0, 0, 1, 1 / 4],
  [8, 0, 0, 9 / 10],
  [3, 2, 1, 4 / 9],
];

for (const [succeeded, failed, refused, score] of ROWS)
  test(`${succeeded} successes, ${failed} failures and ${refused} refusals give ${score}`, () => {
    assert.equal(trustScore({ succeeded, failed, refused }), score);
  });

test('each point has the score after its change, and the deltas add up', () => {
  const reasons = ['action_succeeded', 'policy_refusal', 'action_failed', 'action_succeeded'] as const;
  const points = trustPoints(
    NO_COUNTS,
    reasons.map((reason, atMs) => ({ atMs, reason })),
  );
  assert.deepEqual(
    points.map(({ score }) => score),
    [2 / 3, 2 / 5, 2 / 6, 3 / 7],
  );
  const sum = points.reduce((total, { delta }) => total + delta, 0);
  assert.ok(Math.abs(0.5 + sum - 3 / 7) < 1e-12);
});
