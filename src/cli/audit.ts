// `granary audit`: a memory's audit trail. It prints the newest entries as a table, or exports all of them as JSON
// lines.
import type { Command } from 'commander';
import { stringifyJson } from '../engine/grain/api/json.ts';
import { type JsonObject, type JsonValue, objectOf, objectsOf } from '../engine/grain/api/json-value.ts';
import type { Connection } from './connection.ts';
import { EXIT } from './exit-codes.ts';
import { usage } from './failure.ts';
import { wholeHash } from './hash.ts';
import { gather, integer, type ServerOptions, withMemoryOption, withServerOptions } from './options.ts';
import { clipped, counted, printJson, printLine, printNote, printTable, terminalColumns, utc } from './output.ts';
import { itemsOf } from './pages.ts';
import { intoFile, type Piece, writeTo } from './write-stream.ts';

interface Conditions extends ServerOptions {
  readonly memory: string;
  readonly user?: string | undefined;
  readonly event?: readonly string[] | undefined;
  readonly grain?: string | undefined;
  readonly actor?: string | undefined;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

const SECONDS_MAX = 9_999_999_999;
/** Digits of a hash to show. They are enough to look the grain up. */
const HASH_DIGITS = 12;
const NARROW_HASH_DIGITS = 8;
/** Narrower terminals get shorter columns. */
const WIDE = 110;
const NARROW_WHO = 14;
const DETAILS_MIN = 8;

export function registerAudit(program: Command): void {
  const audit = program.command('audit').description('Show or export the audit trail of a memory');
  const tail = audit
    .command('tail', { isDefault: true })
    .description('Print the newest entries, oldest of them first')
    .option('-n, --limit <n>', 'maximum number of entries', integer(1, 500), 20)
    .option('--verify', 'the hash chain is recomputed too');
  withConditions(tail).action(tailEntries);
  const all = audit
    .command('export')
    .description('Write all entries as JSON lines, oldest first')
    .option('-o, --out <file>', 'output file; the default, or -, is standard output');
  withConditions(all).action(exportEntries);
}

function withConditions(command: Command): Command {
  command
    .option('--user <id>', 'only entries about this user, or by them')
    .option(
      '--event <type>',
      'only these event types; a name that ends in * stands for all that begin with it; repeat the option for more',
      gather,
    )
    .option('--grain <hash>', 'only entries about this grain; its hash, or the first 8 digits or more')
    .option('--actor <name>', 'only entries of this actor')
    .option('--since <seconds>', 'only entries from this time on, in Unix seconds', integer(0, SECONDS_MAX))
    .option('--until <seconds>', 'only entries up to this time, in Unix seconds', integer(0, SECONDS_MAX));
  return withServerOptions(withMemoryOption(command));
}

async function queryOf(connection: Connection, { memory, user, event, grain, actor, since, until }: Conditions) {
  const hash = grain === undefined ? undefined : await wholeHash(connection, memory, grain);
  return { user, event_type: event, grain_hash: hash, actor, since, until };
}

function pathOf({ memory }: Conditions): string {
  return `/memories/${encodeURIComponent(memory)}/audit`;
}

async function tailEntries(
  options: Conditions & { readonly limit: number; readonly verify?: true | undefined },
): Promise<void> {
  const { withConnection } = await import('./connection.ts');
  const { limit, verify } = options;
  const page = await withConnection(options, async (connection) => {
    const query = { ...(await queryOf(connection, options)), limit, verify };
    return connection.json('GET', pathOf(options), { query });
  });
  const entries = objectsOf(page['entries']).toReversed();
  const isBroken = page['chain_valid'] === false;
  if (isBroken) process.exitCode = EXIT.failed;
  if (options.json) return printJson({ ...page, entries });
  if (entries.length === 0) printLine('No audit entry matches.');
  else printEntries(entries);
  if (verify === true) printLine(isBroken ? 'The audit chain is broken.' : 'The audit chain is intact.');
}

/** In a narrow terminal without the year, and with shorter names: `--json` has them whole. */
function printEntries(entries: readonly JsonObject[]): void {
  const isWide = terminalColumns() >= WIDE;
  const cells = entries.map((entry) => {
    const when = utc(Number(entry['timestamp']));
    const who = String(entry['actor']);
    return [
      isWide ? when : when.slice('2026-'.length),
      // The server leaves sequence numbers out for callers that may read only some of the entries.
      entry['partition'] === 0
        ? String(entry['seq'] ?? '')
        : `${String(entry['partition'])}:${String(entry['seq'] ?? '')}`,
      String(entry['event_type']),
      isWide ? who : clipped(who, NARROW_WHO),
      String(entry['grain_hash'] ?? '').slice(0, isWide ? HASH_DIGITS : NARROW_HASH_DIGITS),
    ];
  });
  const titles = ['when (UTC)', 'seq', 'what', 'who', 'grain'];
  const taken = titles.map((title, at) => 2 + Math.max(title.length, ...cells.map((row) => row[at]!.length)));
  const left = taken.reduce((rest, columns) => rest - columns, terminalColumns());
  printTable(
    [...titles, 'details'].map((title) => ({ title })),
    cells.map((row, at) => [
      ...row,
      clipped(stringifyJson(withoutNames(entries[at]!['details'])), Math.max(DETAILS_MIN, left)),
    ]),
  );
}

const NAMES: ReadonlySet<string> = new Set(['grain', 'old_grain', 'prior_grain', 'source']);

/** Entry details without the enciphered names of grains. The entry has the readable hash while the grain exists. */
export function withoutNames(details: JsonValue | undefined): JsonObject {
  const named = Object.entries(objectOf(details));
  return Object.fromEntries(named.filter(([member]) => !NAMES.has(member)));
}

async function exportEntries(options: Conditions & { readonly out?: string | undefined }): Promise<void> {
  const out = options.out === '-' ? undefined : options.out;
  if (out === undefined && options.json === true) throw usage('--json needs --out FILE');
  const { withConnection } = await import('./connection.ts');
  let entries = 0;
  const written = await withConnection(options, (connection) => {
    const pieces = async function* (): AsyncGenerator<Piece> {
      for await (const entry of itemsOf(connection, pathOf(options), 'entries', {
        ...(await queryOf(connection, options)),
        order: 'asc',
      })) {
        entries += 1;
        yield { bytes: Buffer.from(`${stringifyJson(entry)}\n`, 'utf8'), grains: undefined };
      }
    };
    return out === undefined ? writeTo(pieces(), process.stdout, options) : intoFile(pieces(), out, options);
  });
  if (options.json) return printJson({ out, entries, bytes: written.bytes });
  printNote(`${counted(entries, 'entry', 'entries')}${out === undefined ? '' : ` in ${out}`}`);
}
