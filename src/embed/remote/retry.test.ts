import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EMBED_RETRY_MAX_MS } from '../../engine/base/limits.ts';
import { backoffMs, retryAfterMs } from './retry.ts';

test('a wait is random between zero and a step that doubles up to its limit', () => {
  const longest = (failures: number): number => backoffMs(failures, () => 1);
  assert.deepEqual([1, 2, 3, 4, 5, 6, 7, 99].map(longest), [
    250,
    500,
    1000,
    2000,
    4000,
    EMBED_RETRY_MAX_MS,
    EMBED_RETRY_MAX_MS,
    EMBED_RETRY_MAX_MS,
  ]);
  assert.equal(
    backoffMs(3, () => 0),
    0,
  );
});

test('Retry-After is read as seconds or a date, otherwise ignored', () => {
  const nowMs = Date.UTC(2026, 0, 2, 3, 4, 5);
  assert.equal(retryAfterMs('7', nowMs), 7000);
  assert.equal(retryAfterMs(' 1.5 ', nowMs), 1500);
  assert.equal(retryAfterMs('Fri, 02 Jan 2026 03:04:06 GMT', nowMs), 1000);
  assert.equal(retryAfterMs('Thu, 01 Jan 1970 00:00:00 GMT', nowMs), 0);
  for (const nonsense of [null, '', '-1', '1e9', 'soon', '2026-01-02', 'Fri, 99 Jan 2026 03:04:06 GMT', '9'.repeat(30)])
    assert.equal(retryAfterMs(nonsense, nowMs), undefined);
});
