// `granary export`: writes a memory to a .mg file, which keeps every hash, or to JSON lines; or all data about one
// person as JSON.
import { type Command, Option } from 'commander';
import { stringifyJson } from '../engine/grain/api/json.ts';
import type { Connection } from './connection.ts';
import { usage } from './failure.ts';
import { gather, type ServerOptions, withMemoryOption, withServerOptions } from './options.ts';
import { bytes, counted, printJson, printNote } from './output.ts';
import { itemsOf } from './pages.ts';
import { intoFile, type Piece, writeTo } from './write-stream.ts';

interface ExportOptions extends ServerOptions {
  readonly memory: string;
  readonly out?: string | undefined;
  readonly format?: 'mg' | 'jsonl' | undefined;
  readonly namespace?: string | undefined;
  readonly grainType?: readonly string[] | undefined;
  readonly current?: true | undefined;
  readonly user?: string | undefined;
  readonly portable?: true | undefined;
}

export function registerExport(program: Command): void {
  const command = program
    .command('export')
    .description('Write a memory to a .mg file or as JSON lines')
    .option('-o, --out <file>', 'output file; the default, or -, is standard output')
    .addOption(new Option('--format <format>', 'default: from the file name, else mg').choices(['mg', 'jsonl']))
    .option('--namespace <name>', 'only grains of this namespace')
    .option('--grain-type <type>', 'only grains of these types; repeat the option for more', gather)
    .option('--current', 'leave superseded versions out')
    .option('--user <id>', 'all data about this person, as JSON: grains, consents, restriction')
    .option('--portable', "with --user: include each grain's bytes, for import elsewhere");
  withServerOptions(withMemoryOption(command)).action(exportMemory);
}

async function exportMemory(options: ExportOptions): Promise<void> {
  const { user } = options;
  const out = options.out === '-' ? undefined : options.out;
  if (user !== undefined && (options.namespace ?? options.grainType ?? options.format ?? options.current) !== undefined)
    throw usage('--user combines only with --portable and --out');
  if (user === undefined && options.portable === true) throw usage('--portable needs --user');
  const format =
    user !== undefined
      ? 'json'
      : (options.format ?? (out !== undefined && /\.(jsonl|ndjson|json)$/.test(out) ? 'jsonl' : 'mg'));
  if (out === undefined && format === 'mg' && process.stdout.isTTY === true)
    throw usage('a .mg file is binary and does not go to a terminal: give --out FILE');
  if (out === undefined && options.json === true) throw usage('--json needs --out FILE');
  const { withConnection } = await import('./connection.ts');
  const written = await withConnection(
    options,
    async (connection) => {
      const pieces =
        user !== undefined
          ? personPieces(connection, user, options)
          : format === 'mg'
            ? mgPieces(connection, options)
            : jsonPieces(connection, options);
      return out === undefined ? writeTo(pieces, process.stdout, options) : intoFile(pieces, out, options);
    },
    { isLong: true },
  );
  if (options.json) return printJson({ out, format, ...written });
  const grains = written.grains === undefined ? '' : `${counted(written.grains, 'grain')}, `;
  printNote(`${grains}${bytes(written.bytes)}${out === undefined ? '' : ` in ${out}`}`);
}

/** Bytes of a .mg file that hold the number of its grains. */
const COUNT_AT = 4;
const COUNT_END = 8;

async function* mgPieces(connection: Connection, options: ExportOptions): AsyncGenerator<Piece> {
  const { memory, namespace, grainType, current } = options;
  const query = { namespace, grain_type: grainType, include_superseded: current !== true };
  // The head may come in several pieces.
  let head = Buffer.alloc(0);
  for await (const chunk of connection.download(`/memories/${encodeURIComponent(memory)}/export-file`, { query })) {
    if (head.length < COUNT_END) head = Buffer.concat([head, chunk.subarray(0, COUNT_END - head.length)]);
    yield { bytes: chunk, grains: head.length < COUNT_END ? undefined : head.readUInt32BE(COUNT_AT) };
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
    // An import rejects version links among the fields, so leave them out.
    const { superseded_by: _, ...fields } = shown as Record<string, unknown>; // a grain's fields are an object
    const line = { grain_type, fields, hash, superseded_by: superseded_by ?? undefined };
    yield { bytes: Buffer.from(`${stringifyJson(line)}\n`, 'utf8'), grains };
  }
}
