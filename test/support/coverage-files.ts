// Run by node's test runner with its coverage (scripts/coverage.ts): gives it the files that other processes wrote.
import assert from 'node:assert/strict';
import { copyFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const { TEST_COVERAGE_FOLDER: from, NODE_V8_COVERAGE: to } = process.env;
assert.ok(from !== undefined && to !== undefined, 'both folders are named');
const files = readdirSync(from);
assert.ok(files.length > 0, 'no process wrote its coverage');
for (const file of files) copyFileSync(join(from, file), join(to, file));
