// Writes the figures in the documents from the stored lines, so that they do not get outdated.
import { readFileSync, writeFileSync } from 'node:fs';
import { written } from './marked-part.ts';
import { writePeers } from './peers/peer-figures.ts';
import { type Aim, isMet, type Scenario } from './scenario.ts';

const HISTORY = new URL('../history.ndjson', import.meta.url);
const README = new URL('../README.md', import.meta.url);
const BEGIN = '<!-- figures: written by npm run bench -- --readme -->';
const END = '<!-- end of figures -->';

interface Line {
  readonly scenario: string;
  readonly size: string;
  readonly commit: string;
  readonly node: string;
  readonly machine: string;
  readonly skipped?: string;
  readonly metrics: Readonly<Record<string, number>>;
}

interface Kept extends Line {
  readonly aims: readonly Aim[];
}

/** Writes the newest full line of each scenario into README.md, beside its aims of today. Returns the names without one. */
export function writeFigures(scenarios: readonly Pick<Scenario, 'name' | 'aims'>[]): string[] {
  const kept = readFileSync(HISTORY, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line) // written by `--keep`
    .filter(({ size, skipped }) => size === 'full' && skipped === undefined);
  const newest = scenarios.flatMap(({ name, aims }): Kept[] => {
    const line = kept.findLast(({ scenario }) => scenario === name);
    return line === undefined ? [] : [{ ...line, aims }];
  });
  const missing = scenarios.map(({ name }) => name).filter((name) => newest.every(({ scenario }) => scenario !== name));
  writeFileSync(README, written(readFileSync(README, 'utf8'), { begin: BEGIN, end: END }, figures(newest, missing)));
  writePeers(kept.filter(({ scenario }) => scenario === 'peers-ingest'));
  return missing;
}

function figures(lines: readonly Kept[], missing: readonly string[]): string {
  const machines = [...new Set(lines.map(({ machine, node }) => `${machine}, Node ${node}`))].join('; ');
  const rows = lines.flatMap(({ scenario, metrics, aims }) => {
    const told = aims.flatMap((aim) => {
      const value = metrics[aim.metric];
      if (value === undefined) return [];
      return `${aim.metric.replace(/_ratio$/, '')} ${isMet(aim, value) ? value : `**${value}**`} (${bound(aim)})`;
    });
    return told.length === 0 ? [] : [`| ${scenario} | ${told.join('; ')} |`];
  });
  return [
    `Measured on ${machines}; each line of \`history.ndjson\` names its commit.`,
    '',
    '| scenario | measured (aim), bold where it misses; ratios without their ending |',
    '| --- | --- |',
    ...rows,
    ...(missing.length === 0 ? [] : ['', `No full run is kept of: ${missing.join(', ')}.`]),
  ].join('\n');
}

function bound({ atLeast, atMost }: Aim): string {
  return [...(atLeast === undefined ? [] : [`≥${atLeast}`]), ...(atMost === undefined ? [] : [`≤${atMost}`])].join(
    ', ',
  );
}
