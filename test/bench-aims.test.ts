// The table of aims says what was met, and of what nothing is known.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AIMED_SCENARIOS, aimsText } from '../bench/lib/aims.ts';
import type { ScenarioRun } from '../bench/lib/report.ts';
import { SUITE } from '../bench/suite.ts';

const FOOTPRINT: ScenarioRun = {
  ...{ name: 'footprint', about: '', seconds: 1, cpu: {}, wholeCpu: {} },
  aims: [
    { metric: 'disk_bytes_per_grain', atMost: 520 },
    { metric: 'open_after_kill_s', atMost: 1.5 },
  ],
  result: {
    parameters: {},
    metrics: { disk_bytes_per_grain: 628, blob_bytes: 250, open_after_kill_s: 0.6, open_after_stop_s: 0.1 },
  },
};

test('an aim is met, missed, not judged or not measured', () => {
  const line = (text: string, what: string): string => text.split('\n').find((one) => one.includes(what)) ?? '';
  const full = aimsText([FOOTPRINT], 'full');
  assert.match(line(full, 'bytes on disk'), / 628 +<= 520 +MISSED +blob_bytes 250$/);
  assert.match(line(full, 'open after kill'), / 0\.6 +<= 1\.5 +met +open_after_stop_s 0\.1$/);
  assert.match(line(full, 'BatchAdd, one memory'), / - +not measured$/);
  assert.match(line(aimsText([FOOTPRINT], 'quick'), 'bytes on disk'), / 628 +<= 520 +not judged /);
  const skipped = { ...FOOTPRINT, result: { skipped: 'no disk' } };
  assert.match(line(aimsText([skipped], 'full'), 'bytes on disk'), / - +not measured$/);
});

test('the table names scenarios that exist', () => {
  for (const name of AIMED_SCENARIOS) assert.ok(Object.hasOwn(SUITE, name), name);
});
