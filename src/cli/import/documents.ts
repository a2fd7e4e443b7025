// Imports documents by jobs of the server: sends each file, follows its progress, and prints a table of what came of them.

import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { defined } from '../../engine/base/defined.ts';
import type { JsonObject } from '../../engine/grain/api/json-value.ts';
import type { Connection } from '../connection.ts';
import { framesOf } from '../event-frames.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure, failureOf } from '../failure.ts';
import type { ServerOptions } from '../options.ts';
import { clipped, printable, printJson, printLine, printNote, printTable } from '../output.ts';
import { Progress } from '../progress.ts';
import type { ErrorsFile, FileError } from './errors-file.ts';
import { ImportMemories } from './memories.ts';

/** Files that are sent and followed at a time. */
const AT_ONCE = 4;
const RETRY_MS = 1_000;
const NAME_COLUMNS = 48;
/** Largest file that the server takes. */
const BYTES_MAX = 50 * 1_048_576;

export interface DocumentOptions extends ServerOptions {
  readonly memory?: string | undefined;
  readonly create: boolean;
  readonly namespace?: string | undefined;
  readonly user?: string | undefined;
  readonly tag?: readonly string[] | undefined;
  readonly chunkSize?: number | undefined;
  readonly chunkOverlap?: number | undefined;
  readonly extract?: true | undefined;
}

interface Outcome {
  readonly file: string;
  readonly job: JsonObject | undefined;
  readonly error: { readonly code: string; readonly message: string } | undefined;
}

/** `errors` takes every error of a document and of its chunks. */
export async function importDocuments(
  files: readonly string[],
  options: DocumentOptions,
  errors: ErrorsFile | undefined,
): Promise<void> {
  const { withConnection } = await import('../connection.ts');
  const memory = options.memory ?? 'default';
  const outcomes = await withConnection(
    options,
    async (connection) => {
      await new ImportMemories(connection, options.create).ready(memory);
      return await importEach(connection, files, { memory, options, errors });
    },
    { mayCreate: true, isLong: true },
  );
  if (outcomes.some(({ error, job }) => error !== undefined || countOf(job, 'errors') > 0))
    process.exitCode = EXIT.failed;
  if (options.json) printJson({ files: outcomes.map(({ file, job, error }) => defined({ ...job, file, error })) });
  else printOutcomes(outcomes);
}

interface Target {
  readonly memory: string;
  readonly options: DocumentOptions;
  readonly errors: ErrorsFile | undefined;
}

async function importEach(
  connection: Connection,
  files: readonly string[],
  { memory, options, errors }: Target,
): Promise<Outcome[]> {
  const progress = new Progress('importing', 'chunks', options.json !== true);
  const shares = new Map<string, { readonly share: number; readonly chunks: number }>();
  const update = (file: string, job: JsonObject): void => {
    shares.set(file, { share: Number(job['percent']) / 100, chunks: Number(job['processed_chunks']) });
    let share = 0;
    let chunks = 0;
    for (const one of shares.values()) {
      share += one.share;
      chunks += one.chunks;
    }
    progress.update(chunks, share / files.length);
  };
  const outcomes: Outcome[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let at = next++; at < files.length; at = next++) {
      const file = files[at] ?? '';
      const outcome = await importOne(connection, file, pathOf(memory, options), (job) => update(file, job));
      outcomes[at] = outcome;
      for (const error of errorsOf(outcome)) errors?.write(error);
      await errors?.room();
      if (outcome.job !== undefined) update(file, { ...outcome.job, percent: 100 });
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  } finally {
    progress.end();
  }
  return outcomes;
}

interface Paths {
  readonly jobs: string;
  readonly direct: string;
  readonly query: string;
}

function pathOf(memory: string, { namespace, user, tag, chunkSize, chunkOverlap, extract }: DocumentOptions): Paths {
  const query = new URLSearchParams();
  if (namespace !== undefined) query.append('namespace', namespace);
  if (user !== undefined) query.append('user_id', user);
  for (const one of tag ?? []) query.append('tags', one);
  if (chunkSize !== undefined) query.append('chunk_size', String(chunkSize));
  if (chunkOverlap !== undefined) query.append('chunk_overlap', String(chunkOverlap));
  if (extract === true) query.append('extract', 'true');
  const path = `/memories/${encodeURIComponent(memory)}`;
  return { jobs: `${path}/imports`, direct: `${path}/import-document`, query: query.size === 0 ? '' : `?${query}` };
}

/** An error of one file does not end the import, unless every file would have it. */
async function importOne(
  connection: Connection,
  file: string,
  paths: Paths,
  onProgress: (job: JsonObject) => void,
): Promise<Outcome> {
  try {
    const job = await jobOf(connection, file, paths, onProgress);
    const failed = job['error'] as { code: string; message: string } | undefined; // the contract: code and message
    const cancelled =
      job['status'] === 'cancelled' ? { code: 'IMP-E003', message: 'the import was cancelled' } : undefined;
    return { file, job, error: failed ?? cancelled };
  } catch (error) {
    const { code, text } = failureOf(error);
    if (/^(?:AUT-E00[245]|MEM-E003|NO-SERVER)$/.test(code)) throw error;
    return { file, job: undefined, error: { code, message: text } };
  }
}

async function jobOf(
  connection: Connection,
  file: string,
  { jobs, direct, query }: Paths,
  onProgress: (job: JsonObject) => void,
): Promise<JsonObject> {
  const bytes = await bytesOf(file);
  for (;;)
    try {
      const { job_id: id } = await connection.upload(`${jobs}${query}`, basename(file), bytes);
      return await followed(connection, `${jobs}/${String(id)}`, onProgress);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      // A hosted deployment has no jobs.
      if (error.code === 'AUT-E006') return await connection.upload(`${direct}${query}`, basename(file), bytes);
      if (error.code !== 'LIM-E001') throw error;
      await delay(RETRY_MS);
    }
}

async function bytesOf(file: string): Promise<Buffer> {
  try {
    if ((await stat(file)).size > BYTES_MAX) throw new Failure('LIM-E003', 'the file is larger than 50 MiB');
    return await readFile(file);
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new Failure('FILE', `cannot read ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The job when it has ended. A stream that breaks off is opened again. */
async function followed(
  connection: Connection,
  path: string,
  onProgress: (job: JsonObject) => void,
): Promise<JsonObject> {
  for (;;) {
    try {
      for await (const { event, data } of framesOf(connection.download(`${path}/stream`))) {
        if (event === 'progress') onProgress(data);
        else if (event !== 'end') return data;
      }
    } catch (error) {
      if (!(error instanceof Failure && error.retryable) || error.code === 'NO-SERVER') throw error;
    }
    await delay(RETRY_MS);
  }
}

function errorsOf({ file, job, error }: Outcome): FileError[] {
  const whole = error === undefined ? [] : [{ file, code: error.code, error: withoutCode(error) }];
  return [...whole, ...refusedOf(job).map(({ index, code, error: why }) => ({ file, chunk: index, code, error: why }))];
}

/** The chunks that the server refused. */
function refusedOf(job: JsonObject | undefined) {
  return (job?.['errors'] ?? []) as { index: number; code: string; error: string }[]; // the contract
}

function countOf(job: JsonObject | undefined, name: string): number {
  const value = job?.[name];
  return Array.isArray(value) ? value.length : Number(value ?? 0);
}

function printOutcomes(outcomes: readonly Outcome[]): void {
  const rows = outcomes.map(({ file, job, error }) => [
    clipped(printable(file), NAME_COLUMNS),
    error === undefined ? 'imported' : 'failed',
    countOf(job, job?.['chunks'] === undefined ? 'total_chunks' : 'chunks'),
    countOf(job, 'grains_created'),
    countOf(job, 'duplicates'),
    countOf(job, 'errors'),
  ]);
  printTable(
    [
      { title: 'file' },
      { title: 'status' },
      { title: 'chunks', align: 'right' },
      { title: 'added', align: 'right' },
      { title: 'duplicates', align: 'right' },
      { title: 'errors', align: 'right' },
    ],
    rows,
  );
  for (const { file, job, error } of outcomes) {
    if (error !== undefined) printNote(`${printable(file)}: ${error.code}: ${printable(withoutCode(error))}`);
    const [first] = refusedOf(job);
    if (first !== undefined)
      printNote(`${printable(file)}: chunk ${first.index} was refused: ${printable(first.error)}`);
    for (const warning of (job?.['warnings'] ?? []) as string[]) printNote(`${printable(file)}: ${printable(warning)}`);
  }
  const failed = outcomes.filter(({ error }) => error !== undefined).length;
  if (outcomes.length > 1) printLine(`${outcomes.length - failed} of ${outcomes.length} files were imported.`);
}

function withoutCode({ code, message }: { readonly code: string; readonly message: string }): string {
  return message.startsWith(`${code}: `) ? message.slice(code.length + 2) : message;
}
