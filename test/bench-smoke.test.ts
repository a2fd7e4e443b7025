// Every scenario of the benchmarks still runs and gives numbers. How large they are is not asked here: a machine that
// runs tests says nothing about that.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import type { Aim } from '../bench/lib/scenario.ts';
import { SUITE } from '../bench/suite.ts';

interface Line {
  readonly scenario: string;
  readonly skipped?: string;
  readonly metrics: Readonly<Record<string, number | null>>;
  readonly aims: readonly Aim[];
}

const RUN = join(import.meta.dirname, '..', 'bench', 'run.ts');

/** What only Linux tells of another process. */
const OF_OTHER_PROCESSES = /_server_cpu_us_per_/;

test('every scenario gives numbers, and every aim speaks of one of them', async (t) => {
  const { stdout } = await promisify(execFile)(process.execPath, [RUN, '--smoke', '--json'], { timeout: 300_000 });
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line); // what the run prints
  assert.deepEqual(
    lines.map((line) => line.scenario),
    Object.keys(SUITE),
  );
  for (const { scenario, skipped, metrics, aims } of lines) {
    if (skipped !== undefined) {
      t.diagnostic(`${scenario}: skipped: ${skipped}`);
      continue;
    }
    assert.ok(Object.keys(metrics).length > 0, `${scenario} measured nothing`);
    for (const [name, value] of Object.entries(metrics)) {
      if (process.platform !== 'linux' && OF_OTHER_PROCESSES.test(name)) continue;
      // A line of JSON has null where a number was none.
      assert.equal(typeof value, 'number', `${scenario}: ${name} is ${value}`);
    }
    for (const { metric } of aims) assert.ok(metric in metrics, `${scenario}: the aim for ${metric} has no metric`);
  }
});

test('a name that is no scenario is refused', async () => {
  const run = promisify(execFile)(process.execPath, [RUN, 'nonsense']);
  await assert.rejects(run, (error: { code?: number; stderr?: string }) => {
    assert.equal(error.code, 2);
    assert.match(error.stderr ?? '', /no such scenario: nonsense/);
    return true;
  });
});
