// `granary compliance` against a server.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { servedForFile } from './support/cli.ts';
import { granary, granaryJson } from './support/command-thread.ts';

const { directory, here } = servedForFile();

test('checks run and print their results, and a failed one sets the exit code', async () => {
  const nothing = await granary(here('compliance', '--latest'));
  assert.notEqual(nothing.code, 0);
  assert.match(nothing.stderr, /VER-E001/);
  // A person's data without a record of processing.
  await granaryJson(here('add', 'ada', 'likes', 'tea', '--user', 'ada'));
  const run = await granary(here('compliance'));
  assert.deepEqual(
    run.stdout.split('\n').filter((line) => line.length > 110),
    [],
    'the table fits the columns of an output that is no terminal',
  );
  assert.equal(run.code, 1, run.stderr);
  assert.match(run.stdout, /fail +high +gdpr_record_of_processing/);
  assert.doesNotMatch(run.stdout, /encryption_at_rest/);
  assert.match(run.stdout, /\n88 checks: \d+ passed, \d+ failed, \d+ warnings, \d+ skipped\n$/);
  const all = await granary(here('compliance', '--latest', '--all'));
  assert.match(all.stdout, /pass +critical +encryption_at_rest/);
  const law = JSON.parse((await granary(here('compliance', '--regulation', 'ccpa', '--json'))).stdout);
  assert.ok(law.total < 88 && law.regulation === 'ccpa');
  const unknown = await granary(here('compliance', '--regulation', 'sox'));
  assert.match(unknown.stderr, /VER-E002/);
});

test('violations, impact and reports are printed, and a report is written to a file', async () => {
  const violations = await granary(here('compliance', 'violations', '--severity', 'high'));
  assert.equal(violations.code, 1);
  assert.match(violations.stdout, /high +gdpr_record_of_processing/);
  const impact = await granaryJson(here('compliance', 'impact'));
  assert.equal((impact['assessments'] as unknown[]).length, 2);
  const file = join(directory, 'report.csv');
  const report = await granary(here('compliance', 'report', '--format', 'csv', '--output', file));
  assert.equal(report.code, 0, report.stderr);
  assert.equal(readFileSync(file, 'utf8').trim().split('\r\n').length, 89);
  const text = await granary(here('compliance', 'report'));
  assert.match(text.stdout, /^Compliance of memory default\n/);
});
