// Stages reach the call that they are about, and the shards are asked once for many calls.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../../test/support/eventually.ts';
import { EngineError } from '../engine/base/errors.ts';
import { StageTimes } from '../engine/base/stage-times.ts';
import type { Router } from '../shards/router.ts';
import { StageCollector, type TracedCall } from './stage-collector.ts';

/** Two shards, the first of which may fail. */
function begun() {
  const shards = [new StageTimes(), new StageTimes()];
  let asked = 0;
  let fails = false;
  const callShard = async (shard: number) => {
    asked += 1;
    if (fails && shard === 0) throw new EngineError('STO-E002');
    return shards[shard]!.take();
  };
  // It answers one method.
  const router = { callShard, shardCount: shards.length } as unknown as Pick<Router, 'callShard' | 'shardCount'>;
  const collector = new StageCollector(router);
  const taken: string[] = [];
  const begin = (requestId: string, name: string) => {
    const call: TracedCall = {
      requestId,
      fromMs: performance.timeOrigin + performance.now(),
      earlier: undefined,
      addStage: (stage) => void taken.push(`${name}: ${stage.name} in ${stage.partition}`),
    };
    collector.begin(call);
    return () => collector.end(call);
  };
  const note = (shard: number, requestId: string, name: string): void => {
    const now = performance.now();
    shards[shard]!.note({ requestId, partition: shard, traced: true }, name, now, now);
  };
  const fail = (): void => {
    fails = true;
  };
  return { begin, note, taken, asked: () => asked, fail };
}

test('many calls take one question to each shard', async () => {
  const { begin, note, taken, asked } = begun();
  for (let at = 0; at < 200; at += 1) {
    const ended = begin(`r${at}`, `call ${at}`);
    note(0, `r${at}`, 'plan');
    note(1, `r${at}`, 'read');
    ended();
  }
  await eventually('all stages are there', () => taken.length === 400);
  assert.equal(asked(), 2);
  assert.ok(taken.includes('call 199: plan in 0') && taken.includes('call 199: read in 1'));
});

test('each of two calls of one request gets its own stages', async () => {
  const { begin, note, taken } = begun();
  const first = begin('r', 'first');
  note(0, 'r', 'read');
  first();
  await new Promise((resolve) => setImmediate(resolve));
  const second = begin('r', 'second');
  note(0, 'r', 'plan');
  second();
  await eventually('both are there', () => taken.length === 2);
  assert.deepEqual(taken, ['first: read in 0', 'second: plan in 0']);
});

test('stages of a call that nobody waits for any more, and those of a shard that fails, are left out', async () => {
  const { begin, note, taken, fail } = begun();
  fail();
  note(1, 'unknown', 'read');
  const ended = begin('r', 'call');
  note(0, 'r', 'plan');
  note(1, 'r', 'read');
  ended();
  await eventually('the stage of the other shard is there', () => taken.length === 1);
  assert.deepEqual(taken, ['call: read in 1']);
});
