import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csvReport, jsonReport, type Report, textReport } from './report.ts';
import { type KeptCheck, tallyOf } from './run.ts';

const checks: readonly KeptCheck[] = [
  { id: 'encryption_at_rest', status: 'pass', detail: 'all of them, "every" one' },
  { id: 'erasure_proof', status: 'fail', detail: '=1+1' },
  { id: 'policy_present', status: 'warn', detail: 'two\nlines' },
  { id: 'tier_encryption', status: 'skip', detail: 'hot tier only' },
];
const report: Report = {
  memory: 'm',
  run: {
    runId: 'vrf_a',
    regulation: null,
    startedAt: 1_700_000_000,
    finishedAt: 1_700_000_001,
    checks,
    assessments: [],
    processing: null,
    documentation: { policy: {}, versions: { cal: '1.2' }, models: {}, checks: ['erasure_proof'], controller: null },
  },
  policy: { version: 0, presets: [], seal_hash: 'abc' },
  erasures: [{ timestamp: 1_700_000_000, event_type: 'user.erased', subject: 'erased:0011223344556677' }],
};

test('rows are quoted, and none is a formula', () => {
  const [head, first, second, ...rest] = csvReport(report).split('\r\n');
  assert.equal(head, 'id,group,regulations,severity,status,detail');
  assert.ok(first?.endsWith('critical,pass,"all of them, ""every"" one"'));
  assert.ok(second?.endsWith("high,fail,'=1+1"));
  assert.ok(rest.join('\r\n').includes('"two\nlines"'));
  assert.ok(second?.includes('gdpr Art. 17; gdpr Art. 5(2); ccpa §1798.105'));
});

test('a text report has every check, and the log of erasures', () => {
  const text = textReport(report);
  for (const { id } of checks) assert.ok(text.includes(id), id);
  assert.match(text, /4 checks: 1 pass, 1 fail, 1 warn, 1 skip/);
  assert.match(text, /2023-11-14T22:13:20\.000Z user\.erased erased:0011223344556677/);
});

test('skipped checks do not count towards rates; if all are skipped, the rate is zero', () => {
  assert.equal(tallyOf(checks).passRate, 1 / 3);
  assert.equal(tallyOf(checks.slice(3)).passRate, 0);
  assert.equal(jsonReport(report)['pass_rate'], 1 / 3);
});
