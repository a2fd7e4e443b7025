// `granary dsr`: the request of a data subject from its arrival to the report that is handed over.
import { type Command, InvalidArgumentError, Option } from 'commander';
import { defined } from '../engine/base/defined.ts';
import {
  SUBJECT_REQUEST_DAYS_DEFAULT,
  SUBJECT_REQUEST_DAYS_MAX,
  SUBJECT_REQUEST_EXTENSION_DAYS_DEFAULT,
} from '../engine/base/limits.ts';
import { type JsonObject, objectOf, objectsOf } from '../engine/grain/api/json-value.ts';
import type { Connection } from './connection.ts';
import { Failure, usage } from './failure.ts';
import { integer, type ServerOptions, withMemoryOption, withServerOptions } from './options.ts';
import { printJson, printLine, printNote, printPairs, printTable, utc } from './output.ts';
import { allPages } from './pages.ts';
import { withProofFile } from './proof-file.ts';
import { printWouldGo } from './would-go.ts';
import { intoFile, type Piece } from './write-stream.ts';

interface DsrOptions extends ServerOptions {
  readonly memory: string;
  readonly user: string;
  readonly request?: string | undefined;
}

interface OpenOptions extends DsrOptions {
  readonly kind: string;
  readonly requester?: string | undefined;
  readonly received?: number | undefined;
  readonly days: number;
  readonly note?: string | undefined;
}

interface ReportOptions extends DsrOptions {
  readonly out?: string | undefined;
  readonly language: 'en' | 'de';
}

interface EraseOptions extends DsrOptions {
  readonly yes?: true | undefined;
  readonly proof?: string | undefined;
  readonly reason?: string | undefined;
}

const KINDS = ['access', 'portability', 'erasure', 'rectification', 'restriction', 'objection'];
const OUTCOMES = ['fulfilled', 'partly_fulfilled', 'refused', 'withdrawn'];
const FORMATS = ['html', 'pdf', 'json'] as const;

export function registerDsr(program: Command): void {
  const dsr = program
    .command('dsr')
    .description('Answer the request of a data subject: record it, report, export, erase, close (GDPR, Art. 12 to 22)');
  const of = (name: string, description: string): Command =>
    withServerOptions(withMemoryOption(dsr.command(name).description(description)));
  const about = (name: string, description: string): Command =>
    of(name, description)
      .requiredOption('--user <id>', 'the person whom the request is about')
      .option('--request <id>', 'number of the request, where the person has several');
  of('open', 'Record a request; its deadline runs from the day on which it was received')
    .requiredOption('--user <id>', 'the person whom the request is about')
    .addOption(new Option('--kind <kind>', 'what the person asks for').choices(KINDS).default('access'))
    .option('--requester <text>', 'who asked and how, such as a name and "by letter"')
    .option('--received <date>', 'day or time at which it was received, such as 2026-11-20; the default is now', dateOf)
    .option(
      '--days <n>',
      'days that the law allows',
      integer(1, SUBJECT_REQUEST_DAYS_MAX),
      SUBJECT_REQUEST_DAYS_DEFAULT,
    )
    .option('--note <text>', 'a note for the file')
    .action(open);
  of('list', 'List requests with their deadlines, the latest received first')
    .addOption(new Option('--status <status>', 'only requests in this state').choices(['open', 'closed']))
    .option('--user <id>', 'only requests about this person')
    .action(list);
  about('report', 'Write the report that is handed over')
    .option(
      '-o, --out <file>',
      'file to write: .html, .pdf or .json; the default is the number of the request, as .html',
    )
    .addOption(new Option('--language <language>', 'language of the report').choices(['en', 'de']).default('en'))
    .action(report);
  about('export', 'Write all data about the person as JSON')
    .requiredOption('-o, --out <file>', 'file to write')
    .option('--portable', "include each grain's bytes, for import elsewhere")
    .action(exportPerson);
  about('erase', 'Erase the person and write the signed proof')
    .option('--yes', 'carry it out; without --yes, only show what would be removed')
    .option('--proof <file>', 'write the signed proof to this new file')
    .option('--reason <text>', 'why; the default is data_subject_request')
    .action(erase);
  about('extend', 'Extend the deadline, once')
    .option('--days <n>', 'days to add', integer(1, SUBJECT_REQUEST_DAYS_MAX), SUBJECT_REQUEST_EXTENSION_DAYS_DEFAULT)
    .requiredOption('--reason <text>', 'why more time is necessary, as the person will read it')
    .action(extend);
  about('close', 'Close the request; after an erasure its record then names nobody')
    .addOption(new Option('--outcome <outcome>', 'how it ended').choices(OUTCOMES).default('fulfilled'))
    .option('--note <text>', 'why, or what remains; required for a refusal')
    .action(close);
}

function dateOf(text: string): number {
  const ms = Date.parse(text);
  if (Number.isNaN(ms) || ms < 0)
    throw new InvalidArgumentError('It must be a day such as 2026-11-20, or a time such as 2026-11-20T09:30:00Z.');
  return Math.floor(ms / 1000);
}

async function connected<T>(options: ServerOptions, work: (connection: Connection) => Promise<T>): Promise<T> {
  const { withConnection } = await import('./connection.ts');
  return withConnection(options, work, { isLong: true });
}

function pathOf(memory: string): string {
  return `/memories/${encodeURIComponent(memory)}`;
}

/** The request that the options name: the open one of the person, or else the one that was received last. */
async function requestOf(connection: Connection, { memory, user, request }: DsrOptions): Promise<JsonObject> {
  const path = `${pathOf(memory)}/subject-requests`;
  if (request !== undefined) {
    const found = await connection.json('GET', `${path}/${encodeURIComponent(request)}`);
    if (found['user_id'] !== undefined && found['user_id'] !== user.normalize('NFC'))
      throw usage(`the request ${request} is about another person`);
    return found;
  }
  const { requests } = await connection.json('GET', path, { query: { user_id: user, limit: 500 } });
  const found = objectsOf(requests);
  const open = found.filter(({ status }) => status === 'open');
  if (open.length > 1)
    throw new Failure(
      'AMBIGUOUS',
      `${user} has ${open.length} open requests: give --request with one of ${open.map(({ request_id }) => String(request_id)).join(', ')}`,
    );
  const chosen = open[0] ?? found[0];
  if (chosen === undefined)
    throw new Failure(
      'DSR-E001',
      `there is no request about ${user} in the memory ${memory}: granary dsr open records one`,
    );
  return chosen;
}

async function open(options: OpenOptions): Promise<void> {
  const { memory, user, kind, requester, received, days, note } = options;
  const json = defined({ user_id: user, kind, requester, received_at: received, days, note });
  const made = await connected(options, (connection) =>
    connection.json('POST', `${pathOf(memory)}/subject-requests`, { json }),
  );
  printRequest(made, options);
}

function printRequest(request: JsonObject, { json }: ServerOptions): void {
  if (json) {
    printJson(request);
    return;
  }
  const closed = request['closed'] as JsonObject | undefined; // the contract: an object
  printPairs([
    ['request', String(request['request_id'])],
    ['person', String(request['user_id'] ?? '(no longer named)')],
    ['kind', String(request['kind'])],
    ['received', `${utc(Number(request['received_at']))} UTC`],
    ['due', `${utc(Number(request['due_at']))} UTC`],
    [
      'days used',
      `${String(request['days_used'])} of ${String(request['days_allowed'])}${request['overdue'] === true ? ' (overdue)' : ''}`,
    ],
    [
      'state',
      closed === undefined ? 'open' : `${String(closed['outcome'])}, closed ${utc(Number(closed['closed_at']))} UTC`,
    ],
  ]);
  for (const warning of warningsOf(request)) printNote(`Warning: ${warning}`);
}

function warningsOf({ warnings }: JsonObject): string[] {
  return Array.isArray(warnings) ? warnings.map(String) : [];
}

async function list(options: ServerOptions & { memory: string; status?: string; user?: string }): Promise<void> {
  const { memory, status, user } = options;
  const query = new URLSearchParams(defined({ status, user_id: user })).toString();
  const path = `${pathOf(memory)}/subject-requests${query === '' ? '' : `?${query}`}`;
  const requests = await connected(options, (connection) => allPages(connection, path, 'requests'));
  if (options.json) return printJson({ requests, total: requests.length });
  if (requests.length === 0) return printLine('No request matches.');
  printTable(
    ['request', 'person', 'kind', 'due (UTC)', 'days used', 'state'].map((title) => ({ title })),
    requests.map((request) => [
      String(request['request_id']),
      String(request['user_id'] ?? ''),
      String(request['kind']),
      utc(Number(request['due_at'])),
      `${String(request['days_used'])} of ${String(request['days_allowed'])}`,
      request['status'] === 'open' && request['overdue'] === true ? 'overdue' : String(request['status']),
    ]),
  );
}

async function report(options: ReportOptions): Promise<void> {
  const format = formatOf(options.out);
  const written = await connected(options, async (connection) => {
    const request = await requestOf(connection, options);
    const id = String(request['request_id']);
    const out = options.out ?? `${id}.html`;
    const path = `${pathOf(options.memory)}/subject-requests/${encodeURIComponent(id)}/report`;
    const bytes = await reportBytes(connection, path, format, options.language);
    await intoFile(pieceOf(bytes), out, { json: true });
    return { request_id: id, out, format, language: options.language, bytes: bytes.length };
  });
  if (options.json) return printJson(written);
  printLine(`The report is in ${written.out}.`);
}

async function reportBytes(
  connection: Connection,
  path: string,
  format: (typeof FORMATS)[number],
  language: 'en' | 'de',
): Promise<Buffer> {
  const query = { language, format: format === 'html' ? 'html' : 'json' };
  const pieces: Buffer[] = [];
  for await (const piece of connection.download(path, { query })) pieces.push(piece);
  const bytes = Buffer.concat(pieces);
  if (format !== 'pdf') return bytes;
  const { reportPdf } = await import('../server/subject-requests/report/pdf.ts');
  const { PdfkitMissing } = await import('../server/subject-requests/report/find-pdfkit.ts');
  const { readReport } = await import('./dsr/read-report.ts');
  try {
    return await reportPdf(readReport(bytes.toString('utf8')), language);
  } catch (error) {
    throw error instanceof PdfkitMissing ? new Failure('NO-PDFKIT', error.message) : error;
  }
}

function formatOf(out: string | undefined): (typeof FORMATS)[number] {
  if (out === undefined) return 'html';
  const format = FORMATS.find((one) => out.toLowerCase().endsWith(`.${one}`));
  if (format === undefined) throw usage(`--out ${out}: the name must end in .html, .pdf or .json`);
  return format;
}

async function* pieceOf(bytes: Buffer): AsyncGenerator<Piece> {
  yield { bytes, grains: undefined };
}

async function exportPerson(options: DsrOptions & { readonly out: string; readonly portable?: true }): Promise<void> {
  const { memory, user, out, portable } = options;
  const written = await connected(options, async (connection) => {
    const { request_id } = await requestOf(connection, options);
    const path = `${pathOf(memory)}/export/${encodeURIComponent(user)}`;
    const download = connection.download(path, { query: portable === true ? { portability: true } : {} });
    const pieces = async function* (): AsyncGenerator<Piece> {
      for await (const bytes of download) yield { bytes, grains: undefined };
    };
    const { bytes } = await intoFile(pieces(), out, options);
    return { request_id: request_id ?? null, out, bytes };
  });
  if (options.json) return printJson(written);
  printLine(`All data about ${user} is in ${out}.`);
}

async function erase(options: EraseOptions): Promise<void> {
  const { memory, user, reason, proof: file, yes } = options;
  if (yes !== true) {
    if (file !== undefined) throw usage('--proof is for an erasure that is carried out: give --yes as well');
    const json = { user_id: user, dry_run: true };
    const preview = await connected(options, async (connection) => {
      await requestOf(connection, options);
      return connection.json('POST', `${pathOf(memory)}/forget`, { json });
    });
    return printWouldGo(preview, options);
  }
  const answer = await connected(options, async (connection) => {
    const { request_id } = await requestOf(connection, options);
    const path = `${pathOf(memory)}/subject-requests/${encodeURIComponent(String(request_id))}/erase`;
    const perform = (): Promise<JsonObject> =>
      connection.json('POST', path, { json: defined({ confirm: user, reason }) });
    if (file === undefined) return perform();
    let erased: JsonObject = {};
    await withProofFile(file, async () => {
      erased = await perform();
      return objectOf(erased['proof']);
    });
    return erased;
  });
  if (options.json) return printJson(answer);
  const proof = objectOf(answer['proof']);
  const purge = objectOf(proof['purge']);
  printPairs([
    ['person', user],
    ['grains erased', Number(proof['count'])],
    [
      'key fingerprint',
      proof['key_fingerprint'] === '' ? '(no such person was known)' : String(proof['key_fingerprint']),
    ],
    ['erased at', String(proof['erased_at'])],
    ['purge', String(purge['state'])],
  ]);
  if (file !== undefined) printLine(`The proof is in ${file}.`);
}

async function extend(options: DsrOptions & { readonly days: number; readonly reason: string }): Promise<void> {
  printRequest(await change(options, 'extend', { days: options.days, reason: options.reason }), options);
}

async function close(options: DsrOptions & { readonly outcome: string; readonly note?: string }): Promise<void> {
  printRequest(await change(options, 'close', defined({ outcome: options.outcome, note: options.note })), options);
}

function change(options: DsrOptions, act: 'extend' | 'close', json: JsonObject): Promise<JsonObject> {
  return connected(options, async (connection) => {
    const { request_id } = await requestOf(connection, options);
    const id = encodeURIComponent(String(request_id));
    return connection.json('POST', `${pathOf(options.memory)}/subject-requests/${id}/${act}`, { json });
  });
}
