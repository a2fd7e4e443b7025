import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EMBED_REST_MS_MAX } from '../engine/base/limits.ts';
import { Pace, WHOLE_SHARE } from './pace.ts';

/** A thread that works for `cpuMs` of the `tookMs` that a run takes. */
function paced(part: number) {
  const share = new Int32Array(new SharedArrayBuffer(4));
  const clock = { nowMs: 1_000, workedMs: 500 };
  const pace = new Pace({ share, nowMs: () => clock.nowMs, workedMs: () => clock.workedMs });
  const set = (of: number): void => void Atomics.store(share, 0, of * WHOLE_SHARE);
  set(part);
  const run = ({ cpuMs, tookMs }: { cpuMs: number; tookMs: number }): Promise<void> =>
    pace.run(async () => {
      clock.nowMs += tookMs;
      clock.workedMs += cpuMs;
    });
  return { pace, clock, set, run };
}

test('after a run the thread rests until its work is the share of the time', async () => {
  const { pace, clock, run } = paced(1 / 4);
  assert.equal(pace.restMs(), 0);
  await run({ cpuMs: 20, tookMs: 20 });
  assert.equal(pace.restMs(), 60);
  clock.nowMs += 59;
  assert.equal(pace.restMs(), 1);
  clock.nowMs += 5;
  assert.equal(pace.restMs(), 0);
});

test('time that a run waited for a processor is part of the rest', async () => {
  const { pace, run } = paced(1 / 4);
  await run({ cpuMs: 20, tookMs: 50 });
  assert.equal(pace.restMs(), 30);
  await run({ cpuMs: 20, tookMs: 100 });
  assert.equal(pace.restMs(), 0);
});

test('a change of the share changes the rest at once', async () => {
  const { pace, set, run } = paced(1 / 4);
  await run({ cpuMs: 20, tookMs: 20 });
  set(1 / 8);
  assert.equal(pace.restMs(), 140);
  set(1);
  assert.equal(pace.restMs(), 0);
});

test('every rest ends, whatever the share', async () => {
  const { pace, clock, set, run } = paced(0);
  await run({ cpuMs: 500, tookMs: 500 });
  assert.equal(pace.restMs(), EMBED_REST_MS_MAX);
  clock.nowMs += EMBED_REST_MS_MAX;
  assert.equal(pace.restMs(), 0);
  set(1 / WHOLE_SHARE);
  await run({ cpuMs: 1, tookMs: 1 });
  assert.equal(pace.restMs(), 1_023);
});

test('without a share there is no rest', async () => {
  const pace = new Pace({ workedMs: () => 0 });
  await pace.run(async () => undefined);
  assert.equal(pace.restMs(), 0);
});
