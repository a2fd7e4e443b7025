import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GrainType } from '../grain.ts';
import type { Value, ValueMap } from '../value.ts';
import { type InvalidationRequest, mayInvalidate } from './invalidation.ts';

const nowMs = 1_800_000_000_000;
const ACTS = ['supersede', 'contest', 'forget'] as const;

function codes(policy: Value | undefined, request: Partial<InvalidationRequest> = {}, type: GrainType = 'belief') {
  const fields: ValueMap = policy === undefined ? {} : { invalidation_policy: policy };
  return ACTS.map((act) => mayInvalidate({ type, fields }, { actor: 'key:k', act, nowMs, ...request })?.code ?? 'yes');
}

const YES = ['yes', 'yes', 'yes'];
const NO = ['POL-E004', 'POL-E004', 'POL-E003'];
const NEEDS_REASON = ['POL-E004', 'POL-E004', 'yes'];

test('each mode permits its own acts: supersede, contest, forget', () => {
  assert.deepEqual(codes(undefined), YES);
  assert.deepEqual(codes({ mode: 'open' }), YES);
  assert.deepEqual(codes({ mode: 'consent_cascade' }), YES);
  assert.deepEqual(codes({ mode: 'soft_locked' }), NEEDS_REASON);
  assert.deepEqual(codes({ mode: 'soft_locked' }, { reason: '  ' }), NEEDS_REASON);
  assert.deepEqual(codes({ mode: 'soft_locked' }, { reason: 'typo' }), YES);
  for (const mode of ['locked', 'quorum', 'hold', 'unheard_of', '', 'OPEN'])
    assert.deepEqual(codes({ mode, authorized: ['key:k'], threshold: 1 }, { reason: 'r' }), NO, mode);
});

test('delegated permits the named delegates, but nobody may delete', () => {
  assert.deepEqual(codes({ mode: 'delegated', authorized: ['key:k'] }), ['yes', 'yes', 'POL-E003']);
  assert.deepEqual(codes({ mode: 'delegated', authorized: ['key:other'] }), NO);
  assert.deepEqual(codes({ mode: 'delegated', authorized: 'key:k' }), NO);
  assert.deepEqual(codes({ mode: 'delegated' }), NO);
});

test('timed is locked until its second, then its fallback, and locked when either is unclear', () => {
  const timed = (until: Value, fallback?: Value): ValueMap => ({
    mode: 'timed',
    locked_until: until,
    ...(fallback !== undefined && { fallback_mode: fallback }),
  });
  assert.deepEqual(codes(timed(1_800_000_001, 'open')), NO);
  assert.deepEqual(codes(timed(1_800_000_000, 'open')), YES);
  assert.deepEqual(codes(timed(1_800_000_000n, 'soft_locked')), NEEDS_REASON);
  assert.deepEqual(codes(timed(1, 'timed')), NO);
  assert.deepEqual(codes(timed(1)), NO);
  assert.deepEqual(codes(timed('1', 'open')), NO);
  assert.deepEqual(codes({ ...timed(1, 'delegated'), authorized: ['key:k'] }), ['yes', 'yes', 'POL-E003']);
});

test('a consent is softly locked unless its policy says otherwise', () => {
  assert.deepEqual(codes(undefined, {}, 'consent'), NEEDS_REASON);
  assert.deepEqual(codes({ mode: 'open' }, {}, 'consent'), YES);
});

test('an unreadable policy locks', () => {
  for (const policy of ['open', {}, { mode: 5 }, ['open'], null]) assert.deepEqual(codes(policy), NO);
});
