// `npm run bench -- [NAME...]`: measures, and prints a table and a line of JSON for each scenario. Without names it
// runs the whole suite. README.md beside this file lists the claims.
import { execFileSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { AIMED_SCENARIOS, aimsText } from './lib/aims.ts';
import { compare, comparisonText } from './lib/compare.ts';
import { writeFigures } from './lib/figures.ts';
import { jsonOf, runScenario, type ScenarioRun, tableOf } from './lib/report.ts';
import type { Options, Size } from './lib/scenario.ts';
import { LONG, SUITE } from './suite.ts';

const HELP = `npm run bench -- [NAME...] [options]

  aims             as a name: the scenarios of the service's aims, and a table of them at the end

  --quick          a tenth of the time; figures are rougher, and aims do not apply
  --smoke          tiny sizes: shows that every scenario still works
  --json           print only lines of JSON
  --keep           append the lines to bench/history.ndjson
  --readme         write the newest stored figures into README.md and bench/README.md, without measuring
  --ingest         with peers: loading the same rows, and recalls meanwhile (the scenario peers-ingest)
  --compare REV    run each scenario on this tree and on REV in alternation, and print the ratios of their figures
  --rounds N       runs on each side with --compare (5)
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
    ingest: { type: 'boolean', default: false },
    compare: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    list: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

/** A name for several scenarios. */
const AIMS = 'aims';
const asked = positionals.flatMap((name) => {
  if (name === AIMS) return AIMED_SCENARIOS;
  return [values.ingest && name === 'peers' ? 'peers-ingest' : name];
});
const named = asked.length === 0 ? Object.keys(SUITE).filter((name) => !LONG.has(name)) : [...new Set(asked)];
const size: Size = values.smoke ? 'smoke' : values.quick ? 'quick' : 'full';
const unknown = asked.filter((name) => !Object.hasOwn(SUITE, name));
if (unknown.length > 0) {
  process.stderr.write(`unknown scenario: ${unknown.join(', ')}\n\n${HELP}`);
  process.exitCode = 2;
} else if (values.ingest && !asked.includes('peers-ingest')) {
  process.stderr.write('--ingest belongs to peers: npm run bench -- peers --ingest\n');
  process.exitCode = 2;
} else if (values.help) process.stdout.write(HELP);
else if (values.list) await list();
else if (values.readme) await readme();
else if (values.compare !== undefined) await compareWith(values.compare, named);
else await runAll(named);

async function list(): Promise<void> {
  for (const load of Object.values(SUITE)) {
    const { name, about } = (await load()).scenario;
    console.log(`${name.padEnd(12)}${about}`);
  }
}

async function readme(): Promise<void> {
  const scenarios = await Promise.all(Object.values(SUITE).map(async (load) => (await load()).scenario));
  const missing = writeFigures(scenarios);
  if (missing.length > 0) console.error(`no full run is stored for: ${missing.join(', ')}`);
}

async function runAll(names: readonly string[]): Promise<void> {
  const options: Options = { size, profile: values.profile };
  const runs: ScenarioRun[] = [];
  for (const name of names) {
    try {
      const run = await runScenario(name, options);
      runs.push(run);
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
  if (positionals.includes(AIMS) && !values.json) console.log(aimsText(runs, size));
}

async function compareWith(revision: string, names: readonly string[]): Promise<void> {
  const rounds = Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1) {
    process.stderr.write(`--rounds is a whole number from 1: ${values.rounds}\n`);
    process.exitCode = 2;
    return;
  }
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  try {
    await compare(names, revision, {
      ...{ size, profile: values.profile, rounds, signal: stop.signal },
      report: (comparison) => console.log(values.json ? JSON.stringify(comparison) : comparisonText(comparison)),
      warn: (text) => console.error(text),
    });
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = stop.signal.aborted ? 130 : 1;
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
