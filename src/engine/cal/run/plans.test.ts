import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CAL_PLANS_CHARS_MAX, CAL_PLANS_MAX } from '../../base/limits.ts';
import { planOf } from './plans.ts';

test('checked queries are kept up to a number, and up to a length of their texts', () => {
  const short = (i: number): string => `RECALL beliefs ABOUT "${i}"`;
  const long = (i: number): string => `RECALL beliefs ABOUT "${i}" -- ${'x'.repeat(7_000)}`;
  const first = planOf(short(0), false);
  assert.equal(planOf(short(0), false), first);
  assert.notEqual(planOf(short(0), true), first);
  for (let i = 1; i < CAL_PLANS_MAX - 1; i++) planOf(short(i), false);
  assert.equal(planOf(short(0), false), first, 'kept, and now used last');
  for (let i = 0; i < 4; i++) planOf(long(i), false);
  assert.equal(planOf(short(0), false), first, 'long queries displace those that were used before');
  const kept = planOf(long(4), false);
  for (let i = 5; i < 5 + CAL_PLANS_CHARS_MAX / 7_000; i++) planOf(long(i), false);
  assert.notEqual(planOf(long(4), false), kept);
  assert.notEqual(planOf(short(0), false), first);
});
