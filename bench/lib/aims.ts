// The aims of the service: one table over several scenarios, each figure next to the limit that it is compared with in
// the same run. The bounds are the scenarios' own aims.
import { aimText, type ScenarioRun } from './report.ts';
import { isMet, type Size } from './scenario.ts';

interface AimedFigure {
  readonly what: string;
  readonly scenario: string;
  /** A metric of the scenario that has an aim. */
  readonly metric: string;
  /** Metrics that tell the figure's size. */
  readonly beside: readonly string[];
}

export const AIMED: readonly AimedFigure[] = [
  {
    ...{ what: 'BatchAdd, one memory, over SQLite', scenario: 'batch', metric: 'grpc_one_over_sqlite_duties_ratio' },
    beside: ['grpc_one_grains_per_s', 'sqlite_duties_grains_per_s'],
  },
  {
    ...{
      what: 'BatchAdd, many memories, over SQLite',
      scenario: 'batch',
      metric: 'grpc_many_over_sqlite_duties_ratio',
    },
    beside: ['grpc_many_grains_per_s', 'sqlite_duties_grains_per_s'],
  },
  {
    ...{ what: 'batches with all defaults, over SQLite', scenario: 'defaults', metric: 'over_sqlite_duties_ratio' },
    beside: ['grains_per_s', 'sqlite_duties_grains_per_s', 'server_cpu_us_per_grain'],
  },
  {
    ...{ what: 'recall beside these batches, p99', scenario: 'defaults', metric: 'recall_p99_ms' },
    beside: ['recall_p50_ms'],
  },
  ...[64, 256].flatMap((inFlight): AimedFigure[] => [
    {
      ...{
        what: `Add, ${inFlight} in flight, over an echo`,
        scenario: 'add',
        metric: `grpc_${inFlight}_over_echo_ratio`,
      },
      beside: [`grpc_${inFlight}_calls_per_s`, `grpc_${inFlight}_echo_calls_per_s`],
    },
    {
      ...{
        what: `Add, ${inFlight} in flight, CPU`,
        scenario: 'add',
        metric: `grpc_${inFlight}_server_cpu_us_per_call`,
      },
      beside: [`grpc_${inFlight}_echo_server_cpu_us_per_call`],
    },
  ]),
  {
    ...{ what: 'Add, one in flight, above a sync', scenario: 'add', metric: 'grpc_1_over_sync_ms' },
    beside: ['sync_p50_ms'],
  },
  {
    ...{ what: 'recall by new words in the engine', scenario: 'recall', metric: 'new_told_p50_ms' },
    beside: ['new_opened_p50_ms', 'repeated_told_p50_ms'],
  },
  {
    ...{ what: 'the same, ranked only', scenario: 'recall', metric: 'new_ranked_p50_ms' },
    beside: ['repeated_ranked_p50_ms', 'sqlite_p50_ms'],
  },
  {
    ...{ what: 'recall by new words over gRPC', scenario: 'recall', metric: 'new_grpc_p50_ms' },
    beside: ['new_grpc_p99_ms', 'repeated_grpc_p50_ms'],
  },
  {
    ...{ what: 'recall beside 5,000 adds/s, p99', scenario: 'serve', metric: 'beside_adds_p99_ms' },
    beside: ['beside_adds_p50_ms', 'alone_p99_ms', 'beside_adds_per_s'],
  },
  {
    ...{ what: "hybrid with the caller's vector", scenario: 'hybrid', metric: 'own_vector_p50_ms' },
    beside: ['own_vector_p99_ms', 'echo_p50_ms'],
  },
  {
    ...{ what: 'many tenants over one memory', scenario: 'tenants', metric: 'many_over_one_ratio' },
    beside: ['many_grains_per_s', 'one_grains_per_s', 'many_over_one_settled_ratio'],
  },
  {
    ...{ what: 'bytes on disk for a grain', scenario: 'footprint', metric: 'disk_bytes_per_grain' },
    beside: ['blob_bytes'],
  },
  {
    ...{ what: 'open after kill -9', scenario: 'footprint', metric: 'open_after_kill_s' },
    beside: ['open_after_stop_s'],
  },
];

/** The scenarios that the table needs, in its order. */
export const AIMED_SCENARIOS: readonly string[] = [...new Set(AIMED.map(({ scenario }) => scenario))];

/** One line for each aim. A scenario that has not run, or at another size than full, judges nothing. */
export function aimsText(runs: readonly ScenarioRun[], size: Size): string {
  const rows = AIMED.map(({ what, scenario, metric, beside }) => {
    const run = runs.find(({ name }) => name === scenario);
    const aim = run?.aims.find((one) => one.metric === metric);
    const metrics = run === undefined || 'skipped' in run.result ? {} : run.result.metrics;
    const value = metrics[metric];
    if (aim === undefined || value === undefined) return [what, '-', '', 'not measured', ''];
    const judged = size === 'full' ? (isMet(aim, value) ? 'met' : 'MISSED') : 'not judged';
    return [what, String(value), aimText(aim), judged, beside.map((name) => `${name} ${metrics[name]}`).join(', ')];
  });
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => row[column]!.length)));
  const lines = rows.map(([what, value, aim, judged, beside]) =>
    [what!.padEnd(widths[0]!), value!.padStart(widths[1]!), aim!.padEnd(widths[2]!), judged!.padEnd(widths[3]!), beside]
      .join('  ')
      .trimEnd(),
  );
  return ['aims', ...lines.map((line) => `  ${line}`), ''].join('\n');
}
