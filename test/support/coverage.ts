// Imported before the test files of a process whose coverage counts: at its end, the process writes what it ran of the
// sources into the folder in TEST_COVERAGE_FOLDER, in the form of NODE_V8_COVERAGE. That variable itself would cover all
// that tests start, and could not be set for some processes of a run alone.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const SOURCES = pathToFileURL(resolve(import.meta.dirname, '../../src')).href;
const folder = process.env['TEST_COVERAGE_FOLDER'];
assert.ok(folder !== undefined, 'scripts/run-tests.ts names the folder');

const session = new Session();
session.connect();
session.post('Profiler.enable');
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
process.on('exit', () => {
  session.post('Profiler.takePreciseCoverage', (error, taken) => {
    if (error !== null) throw error;
    const result = taken.result.filter(({ url }) => url.startsWith(`${SOURCES}/`));
    writeFileSync(join(folder, `coverage-${process.pid}-${Date.now()}-0.json`), JSON.stringify({ result }));
  });
});
