// Several test files in one process, one after the other, each in a suite that has the name of the file. A process for
// each file would spend more time on its start and on loading the same modules than on most files' tests.
import assert from 'node:assert/strict';
import { appendFileSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, mock, type SuiteContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { beginsFile } from './hang.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** Variables that modules of the product set when they are loaded. */
const OF_PRODUCT: ReadonlySet<string> = new Set(['UWS_HTTP_MAX_HEADERS_SIZE']);

/** Where each file's CPU time goes to; undefined without `--cpu` of scripts/run-tests.ts. */
const CPU_FILE = process.env['TEST_CPU_FILE'];
/** Of `/proc/PID/stat`, everywhere in Linux. */
const TICK_MS = 10;

/** Files are relative to the root. `prefix`: before their names, in what is printed. */
export async function runFiles(files: readonly string[], prefix = ''): Promise<void> {
  record('the starts of processes', 0);
  for (const [i, file] of files.entries()) {
    const before = cpuMs();
    beginsFile();
    await runFile(file, prefix, i === files.length - 1);
    record(`${prefix}${file}`, before);
  }
}

function record(what: string, beforeMs: number): void {
  if (CPU_FILE !== undefined) appendFileSync(CPU_FILE, `${JSON.stringify({ what, ms: cpuMs() - beforeMs })}\n`);
}

/** Of this process, and of the processes that it started and that have ended. */
function cpuMs(): number {
  if (CPU_FILE === undefined) return 0;
  const { user, system } = process.cpuUsage();
  const stat = readFileSync('/proc/self/stat', 'utf8');
  // After the name in parentheses: cutime and cstime are the fields 16 and 17 of all.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (user + system) / 1_000 + (Number(fields[13]) + Number(fields[14])) * TICK_MS;
}

/** The last file of its process may leave it changed. */
async function runFile(file: string, prefix: string, isLast: boolean): Promise<void> {
  const variables = { ...process.env };
  const clocks = clocksOf();
  const cwd = process.cwd();
  let suite: { readonly passed?: boolean } = {};
  // Resolves when its tests and hooks have ended.
  await describe(`${prefix}${file}`, async (context: SuiteContext) => {
    suite = context;
    await import(pathToFileURL(resolve(ROOT, file)).href);
  });
  mock.reset();
  const changed = isLast ? [] : changedVariables(variables);
  const isAway = !isLast && process.cwd() !== cwd;
  const isMocked = !isLast && clocksOf().some((clock, i) => clock !== clocks[i]);
  if (suite.passed === true && changed.length === 0 && !isAway && !isMocked) return;
  // Node's sums count tests alone: not a suite whose hook fails, and not one that cannot be loaded.
  await test(`the file ${prefix}${file}`, () => {
    assert.deepEqual(changed, [], 'it leaves variables changed for the files after it');
    assert.ok(!isAway, 'it leaves another working directory for the files after it');
    assert.ok(!isMocked, 'it leaves a mocked clock for the files after it');
    assert.fail('it, its tests or its hooks failed');
  });
}

/** Functions that a test may replace to step the time. */
function clocksOf(): readonly unknown[] {
  return [performance.now, Date.now, setTimeout, setInterval, setImmediate];
}

/** The names alone: values may be secrets of the machine. */
function changedVariables(before: NodeJS.ProcessEnv): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(process.env)]);
  return [...names].filter((name) => !OF_PRODUCT.has(name) && process.env[name] !== before[name]);
}
