// The coverage by the quick tests of a run (scripts/run-tests.ts): lines, branches and functions in percent, of the files
// that they load. Their processes write what they ran into a folder, and node's own report reads it.
import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const ROOT = resolve(import.meta.dirname, '..');
const FLAGS = ['--test', '--experimental-test-coverage', '--test-reporter=spec'];
const OF_SOURCES = ['--test-coverage-include=src/**/*.ts', '--test-coverage-exclude=src/**/*.test.ts'];
/** The longest report has a line for each file, with its uncovered lines. */
const REPORT_BYTES_MAX = 64 * 1024 * 1024;

/** The files of `npm run test:quick`. */
export function quickTests(): ReadonlySet<string> {
  const manifest: unknown = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const { scripts } = manifest as { readonly scripts: Readonly<Record<string, string>> }; // the shape of a manifest
  const globs = (scripts['test:quick'] ?? '').split(' ').map((word) => word.replaceAll('"', ''));
  return new Set(
    globSync(
      globs.filter((word) => word.endsWith('.test.ts')),
      { cwd: ROOT },
    ),
  );
}

/** The report's line of all files, below its head. Throws if the folder holds no coverage. */
export async function coverageReport(folder: string): Promise<string> {
  const args = [...FLAGS, ...OF_SOURCES, join(ROOT, 'test/support/coverage-files.ts')];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    cwd: ROOT,
    env: { ...process.env, TEST_COVERAGE_FOLDER: folder },
    maxBuffer: REPORT_BYTES_MAX,
  });
  const lines = stdout.split('\n').filter((line) => /^ℹ (file |all files)/.test(line));
  if (lines.length !== 2) throw new Error(`node reported no coverage:\n${stdout}`);
  return ['coverage by the quick tests', ...lines].join('\n');
}
