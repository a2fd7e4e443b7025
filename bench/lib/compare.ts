// Runs scenarios on this tree and on another revision in alternation, and prints how their figures relate. Both are
// measured by this tree's benchmarks where those run on the other revision's sources.
import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { inFolder } from './folder.ts';
import { runScenario, type ScenarioRun } from './report.ts';
import type { Options } from './scenario.ts';
import { middle } from './statistics.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** Of one figure: this tree's over the revision's, round by round. */
export interface Ratio {
  /** Medians of the rounds. */
  readonly here: number;
  readonly there: number;
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** A scenario's ratios by metric, and of the CPU per operation by row of its table. */
export interface Comparison {
  readonly scenario: string;
  readonly commit: string;
  readonly rounds: number;
  readonly metrics: Readonly<Record<string, Ratio>>;
  readonly cpu: Readonly<Record<string, Ratio>>;
}

interface Compared extends Options {
  readonly rounds: number;
  /** When it fires, the running scenario ends, and the rest is left out. */
  readonly signal: AbortSignal;
  readonly report: (comparison: Comparison) => void;
  /** Told what the reader of the figures must know. */
  readonly warn: (text: string) => void;
}

/** Rejects when `revision` does not exist, or when a scenario fails on both sides. */
export async function compare(names: readonly string[], revision: string, options: Compared): Promise<void> {
  const { rounds, signal, report, warn, ...plain } = options;
  const commit = commitOf(revision);
  await inFolder(async (folder) => {
    const there = join(folder, 'revision');
    try {
      git('worktree', 'add', '--quiet', '--detach', there, commit);
      provide(there, warn);
      for (const name of names) {
        useOurs(there);
        const sides = { here: [] as ScenarioRun[], there: [] as ScenarioRun[] };
        const roots = { here: ROOT, there };
        for (let round = 0; round < rounds; round++)
          for (const side of (round % 2 === 0 ? ['here', 'there'] : ['there', 'here']) as (keyof typeof sides)[]) {
            const run = (): Promise<ScenarioRun> => runScenario(name, plain, { root: roots[side], signal });
            // Only the first run can fail for what the revision lacks.
            sides[side].push(
              side === 'there' && round === 0 ? await orWithItsOwn(run, { name, there, warn }) : await run(),
            );
          }
        report({ scenario: name, commit, rounds, ...ratiosOf(sides) });
      }
    } finally {
      rmSync(there, { recursive: true, force: true, maxRetries: 3 });
      git('worktree', 'prune');
    }
  });
}

/** Packages as the revision locks them. */
function provide(there: string, warn: (text: string) => void): void {
  const lockOf = (root: string): string => readFileSync(join(root, 'package-lock.json'), 'utf8');
  if (lockOf(ROOT) === lockOf(there)) {
    symlinkSync(join(ROOT, 'node_modules'), join(there, 'node_modules'), 'junction');
    return;
  }
  warn('the revision locks other packages: installing them');
  execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: there, stdio: ['ignore', 'ignore', 'inherit'] });
}

function useOurs(there: string): void {
  rmSync(join(there, 'bench'), { recursive: true, force: true });
  cpSync(join(ROOT, 'bench'), join(there, 'bench'), { recursive: true });
}

async function orWithItsOwn(
  run: () => Promise<ScenarioRun>,
  { name, there, warn }: { readonly name: string; readonly there: string; readonly warn: (text: string) => void },
): Promise<ScenarioRun> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof Error && error.name === 'AbortError') throw error;
    warn(
      `${name}: this benchmark does not run on the revision; its own measures it, and figures of one name may differ`,
    );
    rmSync(join(there, 'bench'), { recursive: true, force: true });
    git('-C', there, 'checkout', '--quiet', '--', 'bench');
    return run();
  }
}

/** Of the figures that both sides have and that are not zero. */
export function ratiosOf(
  sides: Readonly<Record<'here' | 'there', readonly ScenarioRun[]>>,
): Pick<Comparison, 'metrics' | 'cpu'> {
  const related = (figures: (run: ScenarioRun) => Readonly<Record<string, number>>): Record<string, Ratio> => {
    const here = sides.here.map(figures);
    const there = sides.there.map(figures);
    const of = (name: string): [string, Ratio] => {
      const [ours, theirs] = [here, there].map((rounds) => rounds.map((round) => round[name] ?? Number.NaN));
      const ratios = ours!.map((value, round) => value / theirs![round]!);
      const [min, max] = [Math.min(...ratios), Math.max(...ratios)];
      return [name, { here: middle(ours!), there: middle(theirs!), median: middle(ratios), min, max }];
    };
    return Object.fromEntries(
      Object.keys(here[0] ?? {})
        .map(of)
        .filter(([, ratio]) => Number.isFinite(ratio.min) && Number.isFinite(ratio.max)),
    );
  };
  return {
    metrics: related(({ result }) => ('skipped' in result ? {} : result.metrics)),
    // A revision with its own benchmarks may have no table.
    cpu: related(({ cpu = {} }) => Object.fromEntries(Object.entries(cpu).map(([row, { total_us: us }]) => [row, us]))),
  };
}

/** With fewer rounds all of them lie on one side of 1 often enough by chance. */
const ROUNDS_TO_MARK = 4;

/** `*` marks what lies on one side of 1 in every round, if there are enough. */
export function comparisonText({ scenario, commit, rounds, metrics, cpu }: Comparison): string {
  const head = ['', 'this tree', commit.slice(0, 12), 'ratio', 'lowest', 'highest', ''];
  const rowsOf = (ratios: Readonly<Record<string, Ratio>>): string[][] =>
    Object.entries(ratios).map(([name, ratio]) => [
      name,
      ...[ratio.here, ratio.there].map((value) => String(Number(value.toPrecision(4)))),
      ...[ratio.median, ratio.min, ratio.max].map((value) => value.toFixed(3)),
      rounds >= ROUNDS_TO_MARK && (ratio.min > 1 || ratio.max < 1) ? '*' : '',
    ]);
  const cpuHead = ['CPU us per operation', '', '', '', '', '', ''];
  const rows = [head, ...rowsOf(metrics), ...(Object.keys(cpu).length === 0 ? [] : [cpuHead]), ...rowsOf(cpu)];
  const widths = head.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const lines = rows.map((row) =>
    row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!))).join('  '),
  );
  return [`${scenario}: ratio of ${rounds} rounds`, ...lines.map((line) => `  ${line}`.trimEnd()), ''].join('\n');
}

function commitOf(revision: string): string {
  try {
    return git('rev-parse', '--verify', '--quiet', `${revision}^{commit}`);
  } catch (cause) {
    throw new Error(`there is no revision ${revision} here`, { cause });
  }
}

function git(...words: string[]): string {
  return execFileSync('git', words, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();
}
