// `granary export`: a memory as one .mg file, which keeps every hash, or as JSON lines for other programs; or all that it holds
// of one person, as JSON.
import { type Command, Option } from 'commander';
import { stringifyJson } from '../engine/grain/api/json.ts';
import type { Connection } from './connection.ts';
import { usage } from './failure.ts';
import { gather, type ServerOptions, withMemoryOption, withServerOptions } from './options.ts';
import { bytes, number, printJson, printNote } from './output.ts';
import { itemsOf } from './pages.ts';
import { intoFile, type Piece, pour } from './pour.ts';

interface ExportOptions extends ServerOptions {
  readonly memory: string;
  readonly out?: string;
  readonly format?: 'mg' | 'jsonl';
  readonly namespace?: string;
  readonly grainType?: readonly string[];
  readonly current?: true;
  readonly user?: string;
  readonly portable?: true;
}

export function registerExport(program: Command): void {
  const command = program
    .command('export')
    .description('Write a memory into a .mg file or as JSON lines')
    .option('-o, --out <file>', 'the file; without it, or with -, standard output')
    .addOption(
      new Option('--format <format>', 'by default what the name of the file says, else mg').choices(['mg', 'jsonl']),
    )
    .option('--namespace <name>', 'only grains of this namespace')
    .option('--grain-type <type>', 'only grains of these types; may be given several times', gather)
    .option('--current', 'no old versions')
    .option('--user <id>', 'all that is held of this person, as JSON: grains, consents, restriction')
    .option('--portable', 'with --user: the bytes of each grain, for another system');
  withServerOptions(withMemoryOption(command)).action(exportMemory);
}

async function exportMemory(options: ExportOptions): Promise<void> {
  const { user } = options;
  const out = options.out === '-' ? undefined : options.out;
  if (user !== undefined && (options.namespace ?? options.grainType ?? options.format ?? options.current) !== undefined)
    throw usage('--user goes with --portable and --out alone');
  if (user === undefined && options.portable === true) throw usage('--portable goes with --user');
  const format =
    user !== undefined
      ? 'json'
      : (options.format ?? (out !== undefined && /\.(jsonl|ndjson|json)$/.test(out) ? 'jsonl' : 'mg'));
  if (out === undefined && format === 'mg' && process.stdout.isTTY === true)
    throw usage('a .mg file is not for a terminal: say --out FILE');
  if (out === undefined && options.json === true) throw usage('--json goes with --out');
  const { withConnection } = await import('./connection.ts');
  const written = await withConnection(options, async (connection) => {
    const pieces =
      user !== undefined
        ? personPieces(connection, user, options)
        : format === 'mg'
          ? mgPieces(connection, options)
          : jsonPieces(connection, options);
    return out === undefined ? pour(pieces, process.stdout, options) : intoFile(pieces, out, options);
  });
  if (options.json) return printJson({ out, format, ...written });
  const grains = written.grains === undefined ? '' : `${number(written.grains)} grains, `;
  printNote(`${grains}${bytes(written.bytes)}${out === undefined ? '' : ` in ${out}`}`);
}

async function* mgPieces(connection: Connection, options: ExportOptions): AsyncGenerator<Piece> {
  const { memory, namespace, grainType, current } = options;
  const query = { namespace, grain_type: grainType, include_superseded: current !== true };
  let grains: number | undefined;
  for await (const chunk of connection.download(`/memories/${encodeURIComponent(memory)}/export-file`, { query })) {
    if (grains === undefined && chunk.length >= 8) grains = chunk.readUInt32BE(4);
    yield { bytes: chunk, grains };
  }
}

async function* personPieces(connection: Connection, user: string, options: ExportOptions): AsyncGenerator<Piece> {
  const path = `/memories/${encodeURIComponent(options.memory)}/export/${encodeURIComponent(user)}`;
  const query = options.portable === true ? { portability: true } : {};
  for await (const bytes of connection.download(path, { query })) yield { bytes, grains: undefined };
}

async function* jsonPieces(connection: Connection, options: ExportOptions): AsyncGenerator<Piece> {
  const { memory, namespace, grainType, current } = options;
  const query = { order: 'asc', namespace, grain_type: grainType, include_superseded: current !== true };
  let grains = 0;
  for await (const grain of itemsOf(connection, `/memories/${encodeURIComponent(memory)}/grains`, 'grains', query)) {
    grains += 1;
    const { hash, grain_type, fields: shown, superseded_by } = grain;
    // An import takes no link between versions among the fields.
    const { superseded_by: _, ...fields } = shown as Record<string, unknown>; // a grain's fields are an object
    const line = { grain_type, fields, hash, ...(superseded_by == null ? {} : { superseded_by }) };
    yield { bytes: Buffer.from(`${stringifyJson(line)}\n`, 'utf8'), grains };
  }
}
