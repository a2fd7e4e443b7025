import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HEALTH_WAIT_MS } from '../engine/base/limits.ts';
import type { ShardHealth } from './protocol.ts';
import { ShardsHealth } from './shard-health.ts';

const healthOf = (shard: number, ...reasons: string[]): ShardHealth => ({
  shard,
  ok: reasons.length === 0,
  reasons,
  pendingWrites: 0,
  tailGrains: 0,
  segments: 0,
  sequence: 0,
  sealedSequence: 0,
});

/** Two shards; the second answers only on command. Every health check without all answers is late. */
function start() {
  const state = {
    nowMs: 0,
    asked: 0,
    answer: (_: ShardHealth): void => undefined,
    fail: (_: Error): void => undefined,
  };
  const health = new ShardsHealth({
    shards: 2,
    ask: (shard) => {
      if (shard === 0) return Promise.resolve(healthOf(0));
      state.asked += 1;
      return new Promise((resolve, reject) => {
        state.answer = resolve;
        state.fail = reject;
      });
    },
    unreachable: (shard, reason) => healthOf(shard, String(reason)),
    nowMs: () => state.nowMs,
    late: () => new Promise((resolve) => setImmediate(resolve)),
  });
  return { state, health };
}

const okOf = (all: readonly ShardHealth[]): boolean[] => all.map(({ ok }) => ok);

test('a busy shard is reported by its last answer, and asked once', async () => {
  const { state, health } = start();
  const first = health.all();
  state.answer(healthOf(1));
  assert.deepEqual(okOf(await first), [true, true]);

  state.nowMs += HEALTH_WAIT_MS - 1;
  assert.deepEqual(okOf(await health.all()), [true, true]);
  assert.deepEqual(okOf(await health.all()), [true, true]);
  assert.equal(state.asked, 2);
  state.answer(healthOf(1, 'the disk is full'));
  assert.deepEqual(okOf(await health.all()), [true, false]);
});

test('a shard whose last answer is old, or that never answered, is waited for', async () => {
  const { state, health } = start();
  let isAnswered = false;
  const first = health.all().finally(() => {
    isAnswered = true;
  });
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(isAnswered, false);
  state.answer(healthOf(1));
  assert.deepEqual(okOf(await first), [true, true]);

  state.nowMs += HEALTH_WAIT_MS;
  const second = health.all();
  await new Promise((resolve) => setImmediate(resolve));
  state.fail(new Error('restarting'));
  assert.deepEqual((await second)[1]!.reasons, ['Error: restarting']);
});
