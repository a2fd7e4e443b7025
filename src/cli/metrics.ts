// `granary metrics`: how well a memory and its server do, with the thresholds and what is not computed.
import type { Command } from 'commander';
import type { Metric } from '../server/metering/rows.ts';
import { usage } from './failure.ts';
import { type ServerOptions, withMemoryOption, withServerOptions } from './options.ts';
import { counted, printJson, printLine, tableText, terminalColumns, utc } from './output.ts';

interface MetricsOptions extends ServerOptions {
  readonly memory: string;
  readonly domain: string;
}

const DOMAINS = ['all', 'ops', 'intel'];
/** Terminal columns of the labels at least and at most: a narrower terminal gets none, as the ids say much the same. */
const LABEL_WIDTH = { min: 24, max: 46 };
const REASON_WIDTH_MAX = 60;
/** Terminal columns between two columns of a table. */
const GAP = 2;

export function registerMetrics(program: Command): void {
  const command = program
    .command('metrics')
    .description(
      'Show the health of a memory and its server: each metric is green, yellow or red, or says why it has no value',
    )
    .option('--domain <name>', 'only this domain: ops, intel or all', 'all');
  withServerOptions(withMemoryOption(command)).action(metrics);
}

async function metrics(options: MetricsOptions): Promise<void> {
  const { memory, domain } = options;
  if (!DOMAINS.includes(domain)) throw usage(`--domain must be one of ${DOMAINS.join(', ')}`);
  const [{ withConnection }, { RPC }] = await Promise.all([import('./connection.ts'), import('./rpcs.ts')]);
  const answer = await withConnection(options, (connection) => connection.call(RPC.metrics, { domain }, { memory }));
  const rows = JSON.parse(answer.metricsJson) as Metric[]; // the contract: an array of metrics
  const { total, green, yellow, red, notComputed } = answer;
  const computedAt = Number(answer.computedAt);
  if (options.json)
    return printJson({
      memory,
      computed_at: computedAt,
      domain: answer.domain,
      metrics: rows,
      ...{ total, green, yellow, red, not_computed: notComputed },
    });
  for (const table of metricTables(rows, terminalColumns())) printLine(`${table}\n`);
  printLine(
    `${counted(total, 'metric')} at ${utc(computedAt)}: ${green} green, ${yellow} yellow, ${red} red, ${notComputed} not computed`,
  );
}

/** The computed metrics, and the reasons why others are missing, each as a table of at most `columns`. */
export function metricTables(rows: readonly Metric[], columns: number): string[] {
  const known = rows.filter(({ status }) => status !== 'not_computed');
  const missing = rows.filter(({ status }) => status === 'not_computed');
  return [
    ...(known.length === 0 ? [] : [knownTable(known, columns)]),
    ...(missing.length === 0 ? [] : [missingTable(missing, columns)]),
  ];
}

function knownTable(known: readonly Metric[], columns: number): string {
  const titles = [
    ...[{ title: 'status' }, { title: 'metric' }, { title: 'value', align: 'right' as const }],
    ...[{ title: 'unit' }, { title: 'green' }, { title: 'yellow' }],
  ];
  const cells = known.map((row) => [
    ...[row.status, row.id, String(row.value), row.unit, bound(row, 'green'), bound(row, 'yellow')],
  ]);
  const narrow = tableText(titles, cells);
  const width = Math.min(LABEL_WIDTH.max, columns - widthOf(narrow) - GAP);
  if (width < LABEL_WIDTH.min) return narrow;
  return tableText(
    [...titles, { title: 'what', width }],
    cells.map((row, at) => [...row, known[at]!.label]),
  );
}

function missingTable(missing: readonly Metric[], columns: number): string {
  const width = columns - Math.max(...missing.map(({ id }) => id.length)) - GAP;
  return tableText(
    [{ title: 'not computed' }, { title: 'reason', width: Math.min(REASON_WIDTH_MAX, width) }],
    missing.map(({ id, reason = '' }) => [id, reason]),
  );
}

function widthOf(table: string): number {
  return Math.max(...table.split('\n').map((line) => line.length));
}

function bound(row: Metric, colour: 'green' | 'yellow'): string {
  return `${row.direction === 'lower' ? '≤' : '≥'} ${row[colour]}`;
}
