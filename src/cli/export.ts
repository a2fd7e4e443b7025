// `granary export`: a memory as one .mg file, which keeps every hash, or as JSON lines for other programs.
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { type Command, Option } from 'commander';
import { stringifyJson } from '../engine/grain/api-json.ts';
import type { Connection } from './connection.ts';
import { Failure, failureOf, usage } from './failure.ts';
import { gather, type ServerOptions, withMemoryOption, withServerOptions } from './options.ts';
import { bytes, number, printJson, printNote } from './output.ts';
import { itemsOf } from './pages.ts';
import { Progress } from './progress.ts';
import { writeOut } from './write-out.ts';

interface ExportOptions extends ServerOptions {
  readonly memory: string;
  readonly out?: string;
  readonly format?: 'mg' | 'jsonl';
  readonly namespace?: string;
  readonly grainType?: readonly string[];
  readonly current?: true;
}

export function registerExport(program: Command): void {
  const command = program
    .command('export')
    .description('Write a memory into a .mg file or as JSON lines')
    .option('-o, --out <file>', 'the file; without it standard output')
    .addOption(
      new Option('--format <format>', 'by default what the name of the file says, else mg').choices(['mg', 'jsonl']),
    )
    .option('--namespace <name>', 'only this namespace')
    .option('--grain-type <type>', 'only this grain type; may be given several times', gather)
    .option('--current', 'no old versions');
  withServerOptions(withMemoryOption(command)).action(exportMemory);
}

async function exportMemory(options: ExportOptions): Promise<void> {
  const { out } = options;
  const format = options.format ?? (out !== undefined && /\.(jsonl|ndjson|json)$/.test(out) ? 'jsonl' : 'mg');
  if (out === undefined && format === 'mg' && process.stdout.isTTY === true)
    throw usage('a .mg file is not for a terminal: say --out FILE');
  if (out === undefined && options.json === true) throw usage('--json goes with --out');
  const { withConnection } = await import('./connection.ts');
  const written = await withConnection(options, async (connection) => {
    const pieces = format === 'mg' ? mgPieces(connection, options) : jsonPieces(connection, options);
    return out === undefined ? pour(pieces, process.stdout, options) : intoFile(pieces, out, options);
  });
  if (options.json) return printJson({ out, format, ...written });
  const grains = written.grains === undefined ? '' : `${number(written.grains)} grains, `;
  printNote(`${grains}${bytes(written.bytes)}${out === undefined ? '' : ` in ${out}`}`);
}

interface Piece {
  readonly bytes: Buffer;
  /** Grains that are out with it; of a .mg file only its head tells how many come. */
  readonly grains: number | undefined;
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

interface Written {
  readonly bytes: number;
  readonly grains: number | undefined;
}

/** The file appears under its name when it is whole. */
async function intoFile(pieces: AsyncIterable<Piece>, path: string, options: ExportOptions): Promise<Written> {
  const partial = `${path}.partial`;
  const stream = createWriteStream(partial, { mode: 0o600 });
  // Waited for below: without a listener an early failure would end the process.
  const end = finished(stream);
  end.catch(() => undefined);
  try {
    const written = await Promise.race([pour(pieces, stream, options), end.then(() => undefined)]);
    stream.end();
    await end;
    if (written === undefined) throw new Error('the file closed too early');
    await rename(partial, path);
    return written;
  } catch (error) {
    stream.destroy();
    await rm(partial, { force: true });
    if (error instanceof Failure) throw error;
    throw new Failure('FILE', `${path} cannot be written: ${failureOf(error).text}`);
  }
}

async function pour(pieces: AsyncIterable<Piece>, stream: Writable, options: ExportOptions): Promise<Written> {
  const progress = new Progress('exporting', 'bytes', options.json !== true);
  let total = 0;
  let grains: number | undefined;
  try {
    for await (const piece of pieces) {
      total += piece.bytes.length;
      grains = piece.grains ?? grains;
      if (!(await writeOut(stream, piece.bytes))) break;
      progress.update(total, undefined);
    }
  } finally {
    progress.end();
  }
  return { bytes: total, grains };
}
