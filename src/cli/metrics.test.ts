import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Metric, ROWS } from '../server/metering/rows.ts';
import { metricTables } from './metrics.ts';

/** Every metric with a value of many digits, and every one without a value. */
const KNOWN = Object.entries(ROWS).map(([id, row]): Metric => {
  return { id, domain: 'ops', ...row, value: 12_345.678, status: 'yellow', samples: 1 };
});
const REASON = 'fewer than 20 recalls by text with a record and a result in 24 hours: 0';
const MISSING = KNOWN.map((row): Metric => ({ ...row, value: null, status: 'not_computed', reason: REASON }));

test('the tables fit the terminal, and say what is measured where there is room', () => {
  const of = (columns: number): string[] => metricTables([...KNOWN, ...MISSING], columns);
  for (const columns of [80, 100, 110, 240])
    for (const line of of(columns).join('\n').split('\n')) assert.ok(line.length <= columns, `${columns}: ${line}`);
  assert.doesNotMatch(of(80)[0]!, /95th percentile/);
  assert.match(of(130)[0]!, /ops\.write_latency_p95_ms .* 95th percentile of the time of a write$/m);
  assert.equal(of(80)[1]!.replaceAll(/\s+/g, ' ').split(REASON).length - 1, MISSING.length);
});
