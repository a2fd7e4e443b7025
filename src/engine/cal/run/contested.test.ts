import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GrainView } from '../../calls/grain.ts';
import { pairOf } from './contested.ts';
import { calGrain } from './grain-of.ts';

const VIEW: GrainView = {
  ...{ hash: 'ab'.repeat(32), grainType: 'belief', namespace: 'n' },
  fields: { subject: 'ann', relation: 'likes', object: 'tea' },
  ...{ createdAt: 1, createdAtMs: 1_000, sizeBytes: 100 },
};

test('old versions contradict nothing, also those whose next version is not shown', () => {
  const pairOfView = (more: Partial<GrainView>) => pairOf(calGrain({ ...VIEW, ...more }, 1));
  assert.deepEqual(pairOfView({}), { subject: 'ann', relation: 'likes' });
  assert.equal(pairOfView({ supersededBy: 'cd'.repeat(32) }), undefined);
  assert.equal(pairOfView({ isSuperseded: true }), undefined);
});
