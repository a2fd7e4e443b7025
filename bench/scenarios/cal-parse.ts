// The query parser alone: text to a checked tree, its hash included. Then the same from JSON, and the slowest texts.
import { CalError } from '../../src/engine/cal/errors.ts';
import { writeJson } from '../../src/engine/cal/json/write.ts';
import { readQuery } from '../../src/engine/cal/query.ts';
import type { Measured, Options, Scenario } from '../lib/scenario.ts';
import { sized } from '../lib/scenario.ts';
import { inTurns, median, percentile, rounded } from '../lib/statistics.ts';

const THREE_CLAUSES =
  'RECALL beliefs WHERE subject = "alice" AND relation IS PREFERENCE AND confidence >= 0.8 ORDER BY confidence DESC LIMIT 5';

const ASSEMBLE =
  'ASSEMBLE user_context FOR "a talk about preferences and goals" FROM ' +
  'beliefs: (RECALL beliefs ABOUT "alice" WHERE relation = "mg:prefers" LIMIT 20), ' +
  'goals: (RECALL goals ABOUT "alice" RECENT 10), events: (RECALL events WHERE user_id = "alice" RECENT 5) ' +
  'BUDGET 900 tokens PRIORITY beliefs > goals > events FORMAT markdown WITH progressive_disclosure, dedup(subject)';

/** Queries of about four and eight KiB: as many values and branches as allowed, and text between them. */
const FOUR_KIB = `RECALL beliefs WHERE subject IN (${values(100, 34)})`;
const HOSTILE = [
  '('.repeat(8_192),
  'RECALL WHERE subject IN ('.repeat(327),
  `RECALL WHERE a IN (1${',1'.repeat(4_080)})`,
  `BATCH { ${'a: RECALL SELECT b, '.repeat(409)}`,
  `RECALL WHERE a = 1${' AND a = 1'.repeat(817)}`,
  `RECALL ABOUT "${'\\'.repeat(8_176)}a"`,
  `RECALL AS TEMPLATE { ELEMENT {${'{{#a}}'.repeat(1_359)}`,
  // Marks in an order that normalisation has to change.
  `RECALL ABOUT "e${'\u0301\u0323'.repeat(2_040)}"`,
];

export const scenario: Scenario = {
  name: 'cal-parse',
  about: 'the query language: text or JSON to a checked tree, and the texts that take longest',
  aims: [
    { metric: 'three_clauses_us', atMost: 30 },
    { metric: 'four_kib_us', atMost: 1_000 },
  ],
  run,
};

async function run({ size }: Options): Promise<Measured> {
  const calls = sized(size, { full: 20_000, quick: 2_000, smoke: 20 });
  const rounds = sized(size, { full: 5, quick: 3, smoke: 1 });
  const json = JSON.stringify(writeJson(readQuery(THREE_CLAUSES).query));
  const figures = await inTurns(
    rounds,
    {
      three: () => times(THREE_CLAUSES, calls),
      json: () => times(json, calls),
      assemble: () => times(ASSEMBLE, calls / 4),
      fourKib: () => times(FOUR_KIB, calls / 20),
      hostile: () => HOSTILE.map((text) => median(times(text, Math.max(calls / 400, 3)))),
    },
    { three: calls, json: calls, assemble: calls / 4, fourKib: calls / 20 },
  );
  const middle = (name: keyof typeof figures, share = 0.5): number =>
    median(figures[name].map((round) => percentile(round, share)));
  const three = middle('three');
  return {
    parameters: { calls, rounds, query: THREE_CLAUSES },
    metrics: rounded({
      three_clauses_us: three,
      three_clauses_p99_us: middle('three', 0.99),
      three_clauses_json_us: middle('json'),
      assemble_us: middle('assemble'),
      four_kib_us: middle('fourKib'),
      worst_of_eight_kib_us: middle('hostile', 1),
      worst_of_eight_kib_over_three_clauses_ratio: middle('hostile', 1) / three,
    }),
  };
}

/** Microseconds of each of `count` parses. A rejected text counts with the time of its rejection. */
function times(source: string, count: number): readonly number[] {
  return Array.from({ length: Math.ceil(count) }, () => {
    const start = performance.now();
    read(source);
    return (performance.now() - start) * 1_000;
  });
}

function read(source: string): void {
  try {
    readQuery(source);
  } catch (error) {
    if (!(error instanceof CalError)) throw error;
  }
}

function values(count: number, length: number): string {
  return Array.from({ length: count }, (_, index) => `"${String(index).padEnd(length, 'x')}"`).join(', ');
}
