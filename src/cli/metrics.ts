// `granary metrics`: how well a memory and its server do, with the thresholds and what is not computed.
import type { Command } from 'commander';
import type { Metric } from '../server/metering/rows.ts';
import { usage } from './failure.ts';
import { type ServerOptions, withMemoryOption, withServerOptions } from './options.ts';
import { printJson, printLine, printTable, utc } from './output.ts';

interface MetricsOptions extends ServerOptions {
  readonly memory: string;
  readonly domain: string;
}

const DOMAINS = ['all', 'ops', 'intel'];
/** Terminal columns of the labels, and of the reasons. */
const LABEL_WIDTH = 46;
const REASON_WIDTH = 60;

export function registerMetrics(program: Command): void {
  const command = program
    .command('metrics')
    .description('Show how well a memory and its server do: green, yellow, red, or why a value is missing')
    .option('--domain <name>', 'only this domain: ops, intel or all', 'all');
  withServerOptions(withMemoryOption(command)).action(metrics);
}

async function metrics(options: MetricsOptions): Promise<void> {
  const { memory, domain } = options;
  if (!DOMAINS.includes(domain)) throw usage(`--domain is one of ${DOMAINS.join(', ')}`);
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
  const known = rows.filter(({ status }) => status !== 'not_computed');
  if (known.length > 0) {
    printTable(
      [
        ...[{ title: 'status' }, { title: 'metric' }, { title: 'value', align: 'right' as const }, { title: 'unit' }],
        ...[{ title: 'green' }, { title: 'yellow' }, { title: 'what', width: LABEL_WIDTH }],
      ],
      known.map((row) => [
        row.status,
        row.id,
        String(row.value),
        row.unit,
        bound(row, 'green'),
        bound(row, 'yellow'),
        row.label,
      ]),
    );
    printLine();
  }
  const missing = rows.filter(({ status }) => status === 'not_computed');
  if (missing.length > 0) {
    printTable(
      [{ title: 'not computed' }, { title: 'reason', width: REASON_WIDTH }],
      missing.map(({ id, reason = '' }) => [id, reason]),
    );
    printLine();
  }
  printLine(
    `${total} metrics at ${utc(computedAt)}: ${green} green, ${yellow} yellow, ${red} red, ${notComputed} not computed`,
  );
}

function bound(row: Metric, colour: 'green' | 'yellow'): string {
  return `${row.direction === 'lower' ? '≤' : '≥'} ${row[colour]}`;
}
