// Two revisions are compared round by round, and nothing of a comparison remains.
import assert from 'node:assert/strict';
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { type Comparison, comparisonText, ratiosOf } from '../bench/lib/compare.ts';
import type { ScenarioRun } from '../bench/lib/report.ts';

const ROOT = join(import.meta.dirname, '..');
const RUN = join(ROOT, 'bench', 'run.ts');

function runOf(metrics: Readonly<Record<string, number>>, cpuUs?: number): ScenarioRun {
  const figures = { operations: 1, total_us: cpuUs ?? 0, main_us: 0, workers_us: 0, helpers_us: 0 };
  const cpu = cpuUs === undefined ? {} : { add: { ...figures, libuv_us: 0, v8_us: 0, other_us: 0, gc_ratio: 0 } };
  return {
    ...{ name: 'one', about: '', aims: [], seconds: 1 },
    result: { parameters: {}, metrics },
    cpu,
    wholeCpu: {},
  };
}

function worktrees(): string {
  return execFileSync('git', ['worktree', 'list'], { cwd: ROOT, encoding: 'utf8' });
}

test('a ratio is the middle one of the rounds', () => {
  const { metrics, cpu } = ratiosOf({
    here: [runOf({ per_s: 10, only_here: 1 }, 50), runOf({ per_s: 30 }, 60), runOf({ per_s: 20 }, 70)],
    there: [runOf({ per_s: 10, zero: 0 }, 100), runOf({ per_s: 10 }, 100), runOf({ per_s: 10 }, 100)],
  });
  assert.deepEqual(metrics, { per_s: { here: 20, there: 10, median: 2, min: 1, max: 3 } });
  assert.deepEqual(cpu, { add: { here: 60, there: 100, median: 0.6, min: 0.5, max: 0.7 } });
});

test('figures that differ in every round are marked', () => {
  const ratio = { here: 20, there: 10, median: 2, min: 1.5, max: 3 };
  const of = (rounds: number, min: number): Comparison => ({
    ...{ scenario: 'one', commit: '0123456789abcdef', rounds, cpu: { add: ratio } },
    metrics: { per_s: { ...ratio, min } },
  });
  const line = (comparison: Comparison): string => comparisonText(comparison).split('\n')[2]!;
  assert.match(line(of(5, 1.5)), /^ {2}per_s .* 2\.000 +1\.500 +3\.000 +\*$/);
  assert.match(line(of(5, 0.9)), /0\.900 +3\.000$/);
  assert.match(line(of(2, 1.5)), /1\.500 +3\.000$/);
  assert.match(comparisonText(of(5, 1.5)), /CPU us per operation\n {2}add /);
});

test('the command compares with a revision and leaves nothing', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'granary-bench-compare-'));
  try {
    const words = ['codec', '--smoke', '--json', '--compare', 'HEAD', '--rounds', '1'];
    const { stdout } = await promisify(execFile)(process.execPath, [RUN, ...words], {
      env: { ...process.env, BENCH_DIR: directory },
    });
    const { scenario, metrics } = JSON.parse(stdout) as Comparison; // what the command prints
    assert.equal(scenario, 'codec');
    assert.equal(metrics['blob_bytes']?.median, 1);
    assert.deepEqual(readdirSync(directory), []);
    assert.ok(!worktrees().includes(directory), worktrees());
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});

test('Ctrl-C ends a comparison and leaves nothing', { skip: process.platform === 'win32' }, async () => {
  const directory = mkdtempSync(join(tmpdir(), 'granary-bench-compare-'));
  try {
    const words = ['ingest', '--smoke', '--compare', 'HEAD'];
    const env = { ...process.env, BENCH_DIR: directory };
    const command = spawn(process.execPath, [RUN, ...words], { env, stdio: 'ignore' });
    const ended = once(command, 'exit');
    // The folder with the revision, and that of a running scenario.
    while (command.exitCode === null && readdirSync(directory).length < 2)
      await new Promise((resolve) => setTimeout(resolve, 10));
    command.kill('SIGINT');
    assert.deepEqual(await ended, [130, null]);
    assert.deepEqual(readdirSync(directory), []);
    assert.ok(!worktrees().includes(directory), worktrees());
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});

test('a revision that does not exist, and no rounds at all, are refused', async () => {
  const refused = (words: readonly string[]): Promise<{ code?: number; stderr?: string }> =>
    promisify(execFile)(process.execPath, [RUN, 'codec', '--smoke', ...words]).then(
      () => assert.fail('it was taken'),
      (error: { code?: number; stderr?: string }) => error,
    );
  const { code, stderr } = await refused(['--compare', 'no-such-revision']);
  assert.equal(code, 1);
  assert.match(stderr ?? '', /there is no revision no-such-revision here/);
  assert.match((await refused(['--compare', 'HEAD', '--rounds', '0'])).stderr ?? '', /--rounds is a whole number/);
});
