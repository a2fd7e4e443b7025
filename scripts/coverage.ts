// Runs the quick tests with node's own coverage and prints what they cover of all files: lines, branches and functions in
// percent. Ends with an error when a test fails.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const FLAGS =
  "--experimental-test-coverage --test-coverage-include='src/**/*.ts' --test-coverage-exclude='src/**/*.test.ts'";

const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const { scripts } = manifest as { readonly scripts: Readonly<Record<string, string>> }; // the shape of a manifest
const command = (scripts['test:quick'] ?? '').replace(' scripts/run-tests.ts ', ` scripts/run-tests.ts ${FLAGS} `);

const quick = spawn(command, { shell: true, stdio: ['ignore', 'pipe', 'inherit'] });
const ended = once(quick, 'close');
const told = ['coverage by the quick tests'];
for await (const line of createInterface({ input: quick.stdout }))
  if (/^(✖|ℹ (file |all files|pass|fail))/.test(line)) told.push(line);
await ended;
console.log(told.join('\n'));
process.exitCode = quick.exitCode ?? 1;
