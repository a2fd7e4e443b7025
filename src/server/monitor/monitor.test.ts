import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MONITORED_MEMORIES_MAX } from '../../engine/base/limits.ts';
import { type Alarm, type Burst, Monitor, THRESHOLDS } from './monitor.ts';

const MINUTE = 60_000;

function monitored(startMs = 1_700_000_000_000) {
  const alarms: Alarm[] = [];
  const clock = { ms: startMs };
  const monitor = new Monitor({ nowMs: () => clock.ms, raise: (alarm) => void alarms.push(alarm) });
  return { alarms, clock, monitor };
}

test('each kind of burst raises an alarm above its threshold, once, and again at ten times of it', () => {
  for (const [burst, threshold] of Object.entries(THRESHOLDS) as [Burst, number][]) {
    const { alarms, monitor } = monitored();
    for (let i = 0; i < threshold; i++) monitor.saw(burst, 7);
    assert.deepEqual(alarms, []);
    for (let i = 0; i < threshold * 10; i++) monitor.saw(burst, 7);
    assert.deepEqual(alarms, [
      { burst, memory: 7, count: threshold + 1, severity: 'warning' },
      { burst, memory: 7, count: threshold * 10 + 1, severity: 'critical' },
    ]);
  }
});

test('acts leave the count after an hour, and a new burst raises a new alarm', () => {
  const { alarms, clock, monitor } = monitored();
  monitor.saw('excessive_forget', 1, 60);
  clock.ms += 50 * MINUTE;
  monitor.saw('excessive_forget', 1, 41);
  assert.equal(alarms.length, 1);
  clock.ms += 20 * MINUTE;
  monitor.saw('excessive_forget', 1, 1);
  assert.equal(alarms.length, 1);
  monitor.saw('excessive_forget', 1, 59);
  assert.deepEqual(alarms.at(-1), { burst: 'excessive_forget', memory: 1, count: 101, severity: 'warning' });
  clock.ms += 48 * 60 * MINUTE;
  monitor.saw('excessive_forget', 1, 100);
  assert.equal(alarms.length, 2);
});

test('a clock that is set back loses no acts', () => {
  const { alarms, clock, monitor } = monitored();
  monitor.saw('excessive_forget', 1, 60);
  clock.ms -= 30 * MINUTE;
  monitor.saw('excessive_forget', 1, 41);
  assert.equal(alarms.length, 1);
});

test('memories are counted apart, and only so many of them', () => {
  const { alarms, monitor } = monitored();
  for (const memory of [1, 2]) monitor.saw('excessive_forget', memory, 60);
  assert.deepEqual(alarms, []);
  for (let memory = 3; memory < MONITORED_MEMORIES_MAX + 3; memory++) monitor.saw('excessive_forget', memory);
  // The counts of memory 1 are gone.
  monitor.saw('excessive_forget', 1, 60);
  assert.deepEqual(alarms, []);
});

test('a drill raises no alarm of its own', () => {
  const { alarms, monitor } = monitored();
  assert.deepEqual(monitor.drill(), { threshold: 100, tooEarly: false, raised: true });
  assert.deepEqual(alarms, []);
});
