// `granary compliance`: runs the compliance checks on a memory and prints the results. A failed check sets exit code 1.
import type { Command } from 'commander';
import { defined } from '../engine/base/defined.ts';
import { PAGE_LIMIT_MAX } from '../engine/base/limits.ts';
import { type JsonObject, objectsOf } from '../engine/grain/api/json-value.ts';
import { EXIT } from './exit-codes.ts';
import { usage } from './failure.ts';
import { type ServerOptions, withMemoryOption, withServerOptions } from './options.ts';
import { counted, printJson, printLine, printTable, terminalColumns, utc } from './output.ts';
import { intoFile, type Piece, writeTo } from './write-stream.ts';

interface ComplianceOptions extends ServerOptions {
  readonly memory: string;
  readonly regulation?: string | undefined;
  readonly all?: true | undefined;
  readonly latest?: true | undefined;
  readonly severity?: string | undefined;
  readonly group?: string | undefined;
  readonly format?: string | undefined;
  readonly output?: string | undefined;
}

/** Terminal columns of a column of sentences at least and at most. */
const DETAIL_WIDTH = { min: 24, max: 70 };
/** Terminal columns between two columns of a table. */
const GAP = 2;
const FORMATS = ['json', 'text', 'csv'];

export function registerCompliance(program: Command): void {
  const compliance = program
    .command('compliance')
    .description('Run compliance checks on a memory and show the results');
  withServerOptions(
    withMemoryOption(
      compliance
        .command('run', { isDefault: true })
        .description('Run the checks; exit code 1 if one fails')
        .option(
          '--regulation <name>',
          'only the checks of this regulation: gdpr, hipaa, eu_ai_act, soc2, ccpa, lgpd or pipl',
        )
        .option('--all', 'also show checks that passed or were skipped')
        .option('--latest', 'show the last result; run nothing'),
    ),
  ).action(run);
  withServerOptions(
    withMemoryOption(
      compliance
        .command('violations')
        .description('Failed checks, most severe first, with how to fix them')
        .option('--severity <name>', 'only violations of this severity: critical, high, medium or low')
        .option('--group <name>', 'only violations of this group of checks'),
    ),
  ).action(violations);
  withServerOptions(
    withMemoryOption(compliance.command('impact').description('Impact assessments and the questions they leave open')),
  ).action(impact);
  withServerOptions(
    withMemoryOption(
      compliance
        .command('report')
        .description('Report of the last full run')
        .option('--format <name>', 'format of the report: json, text or csv', 'text')
        .option('--output <file>', 'write to this file instead of stdout'),
    ),
  ).action(report);
}

async function run(options: ComplianceOptions): Promise<void> {
  const { regulation } = options;
  if (options.latest && regulation !== undefined)
    throw usage('--latest shows the last result as it is: leave --regulation out');
  const result = options.latest
    ? await ask(options, 'GET', 'verify/latest')
    : await ask(options, 'POST', 'verify/run', defined({ regulation }));
  if (Number(result['fail']) > 0) process.exitCode = EXIT.failed;
  if (options.json) return printJson(result);
  const checks = objectsOf(result['checks']);
  const shown = checks.filter(({ status }) => options.all || status === 'fail' || status === 'warn');
  if (shown.length > 0)
    printDetails(
      ['status', 'severity', 'check'],
      ['detail'],
      shown.map(({ status, severity, id, detail }) => [status, severity, id, detail].map(String)),
    );
  printLine();
  const { total, pass, fail, warn, skip } = result;
  printLine(
    `${counted(Number(total), 'check')}: ${pass} passed, ${fail} failed, ${counted(Number(warn), 'warning')}, ${skip} skipped`,
  );
}

/** Columns of words, then columns of sentences, which share what the words leave of the terminal. */
function printDetails(
  words: readonly string[],
  sentences: readonly string[],
  rows: readonly (readonly string[])[],
): void {
  const taken = words.map((title, at) => Math.max(title.length, ...rows.map((row) => row[at]!.length)) + GAP);
  const left = taken.reduce((rest, columns) => rest - columns, terminalColumns());
  const each = Math.floor((left - GAP * (sentences.length - 1)) / sentences.length);
  const width = Math.min(DETAIL_WIDTH.max, Math.max(DETAIL_WIDTH.min, each));
  printTable([...words.map((title) => ({ title })), ...sentences.map((title) => ({ title, width }))], rows);
}

async function violations(options: ComplianceOptions): Promise<void> {
  const { severity, group } = options;
  const query = new URLSearchParams(
    defined({
      limit: String(PAGE_LIMIT_MAX),
      severity,
      group,
    }),
  );
  const answer = await ask(options, 'GET', `compliance/violations?${query}`);
  const found = objectsOf(answer['violations']);
  if (found.length > 0) process.exitCode = EXIT.failed;
  if (options.json) return printJson(answer);
  if (found.length === 0) return printLine('No check failed.');
  printDetails(
    ['severity', 'check', 'since'],
    ['detail', 'what helps'],
    found.map(({ severity: how, id, detected_at, detail, remediation }) => [
      String(how),
      String(id),
      utc(Number(detected_at)),
      String(detail),
      String(remediation),
    ]),
  );
}

async function impact(options: ComplianceOptions): Promise<void> {
  const answer = await ask(options, 'GET', 'compliance/impact');
  if (options.json) return printJson(answer);
  printDetails(
    ['framework', 'reference', 'status'],
    ['missing'],
    objectsOf(answer['assessments']).map(({ framework, reference, status, gaps }) =>
      [framework, reference, status, (gaps as string[]).join(', ')].map(String),
    ),
  );
}

async function report(options: ComplianceOptions): Promise<void> {
  const { format = 'text', output, memory } = options;
  if (!FORMATS.includes(format)) throw usage(`--format must be one of ${FORMATS.join(', ')}`);
  const { withConnection } = await import('./connection.ts');
  await withConnection(options, async (connection) => {
    const pieces = async function* (): AsyncGenerator<Piece> {
      const download = connection.download(`${pathOf(memory)}/compliance/export`, { query: { format } });
      for await (const bytes of download) yield { bytes, grains: undefined };
    };
    const quiet = { json: true } as const;
    await (output === undefined ? writeTo(pieces(), process.stdout, quiet) : intoFile(pieces(), output, quiet));
  });
}

async function ask(
  options: ComplianceOptions,
  verb: 'GET' | 'POST',
  path: string,
  json?: JsonObject,
): Promise<JsonObject> {
  const { withConnection } = await import('./connection.ts');
  const asked = defined({ json });
  return withConnection(options, (connection) => connection.json(verb, `${pathOf(options.memory)}/${path}`, asked));
}

function pathOf(memory: string): string {
  return `/memories/${encodeURIComponent(memory)}`;
}
