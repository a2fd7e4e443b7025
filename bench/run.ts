// `npm run bench -- [NAME...]`: measures, and prints a table and a line of JSON for each scenario. Without names it
// runs the whole suite. README.md beside this file lists the claims.
import { execFileSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { writeFigures } from './lib/figures.ts';
import { jsonOf, runScenario, tableOf } from './lib/report.ts';
import type { Options, Size } from './lib/scenario.ts';
import { SUITE } from './suite.ts';

const HELP = `npm run bench -- [NAME...] [options]

  --quick          a tenth of the time; figures are rougher, and aims do not apply
  --smoke          tiny sizes: shows that every scenario still works
  --json           print only lines of JSON
  --keep           append the lines to bench/history.ndjson
  --readme         write the newest stored figures into bench/README.md, without measuring
  --profile DIR    write CPU profiles of the servers that scenarios start
  --list           list the scenarios

Data is written below the system's temporary folder, or below BENCH_DIR. Exit code 1: a scenario failed. A missed aim
is not a failure.
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    smoke: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    readme: { type: 'boolean', default: false },
    profile: { type: 'string' },
    list: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const unknown = positionals.filter((name) => !Object.hasOwn(SUITE, name));
if (unknown.length > 0) {
  process.stderr.write(`unknown scenario: ${unknown.join(', ')}\n\n${HELP}`);
  process.exitCode = 2;
} else if (values.help) process.stdout.write(HELP);
else if (values.list) await list();
else if (values.readme) readme();
else await runAll(positionals.length === 0 ? Object.keys(SUITE) : positionals);

async function list(): Promise<void> {
  for (const load of Object.values(SUITE)) {
    const { name, about } = (await load()).scenario;
    console.log(`${name.padEnd(12)}${about}`);
  }
}

function readme(): void {
  const missing = writeFigures(Object.keys(SUITE));
  if (missing.length > 0) console.error(`no full run is stored for: ${missing.join(', ')}`);
}

async function runAll(names: readonly string[]): Promise<void> {
  const size: Size = values.smoke ? 'smoke' : values.quick ? 'quick' : 'full';
  const options: Options = { size, profile: values.profile };
  for (const name of names) {
    try {
      const run = await runScenario(name, options);
      const line = jsonOf(run, size, commit());
      if (!values.json) console.log(tableOf(run, size));
      console.log(values.json ? line : `${line}\n`);
      if (values.keep) appendFileSync(new URL('./history.ndjson', import.meta.url), `${line}\n`);
    } catch (error) {
      // The other scenarios still run.
      console.error(error instanceof Error ? error.message : error);
      process.exitCode = 1;
    }
  }
}

/** Ends in `+` when the tree has uncommitted changes; `unknown` without a repository. */
function commit(): string {
  const git = (...words: string[]): string =>
    execFileSync('git', words, { cwd: import.meta.dirname, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    return git('rev-parse', '--short=12', 'HEAD').trim() + (git('status', '--porcelain', '--', '..') === '' ? '' : '+');
  } catch {
    return 'unknown';
  }
}
