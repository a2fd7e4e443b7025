import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { HASHED_AT_ONCE_BYTES } from '../engine/base/limits.ts';
import { hashInTurns } from './long-bytes.ts';

test('the hash is that of all parts, and other work runs in between', async () => {
  const parts = [Buffer.from('head\n'), Buffer.alloc(3 * HASHED_AT_ONCE_BYTES + 7, 'some words ')];
  let turns = 0;
  const count = (): void => {
    turns += 1;
    counting = setImmediate(count);
  };
  let counting = setImmediate(count);
  const sum = await hashInTurns(...parts);
  clearImmediate(counting);
  assert.equal(sum, hash('sha256', Buffer.concat(parts), 'hex'));
  assert.ok(turns >= 3, `${turns} turns`);
  assert.equal(await hashInTurns(), hash('sha256', '', 'hex'));
});
