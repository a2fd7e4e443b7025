// `granary import FILE`: imports grains, beliefs, transcripts and documents from JSON lines or a .mg file. All go into
// one memory, or a field of each line names its memory.
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import { BATCH_GRAINS_MAX } from '../engine/base/limits.ts';
import { stringifyJson } from '../engine/grain/api/json.ts';
import type { Connection } from './connection.ts';
import { EXIT } from './exit-codes.ts';
import { Failure, failureOf, usage } from './failure.ts';
import type { DocumentOptions } from './import/documents.ts';
import type { ErrorsFile } from './import/errors-file.ts';
import { readLines } from './import/lines.ts';
import type { ImportedGrain, RecordOptions } from './import/record.ts';
import { ImportReport } from './import/report.ts';
import type { Outgoing } from './import/sender.ts';
import { gather, integer, withServerOptions } from './options.ts';
import { counted, number as grouped, printJson, printNote, printPairs } from './output.ts';
import { Progress } from './progress.ts';

interface ImportOptions extends DocumentOptions {
  readonly memoryFrom?: string | undefined;
  readonly errors?: string | undefined;
  readonly dryRun?: true | undefined;
  readonly documents?: true | undefined;
  readonly fromLine: number;
  readonly inFlight: number;
  readonly batch: number;
}

/** Maximum bytes of fields in one call. Well below the message limit, so several calls in flight use little memory. */
const BATCH_BYTES_MAX = 2 * 1_048_576;

export function registerImport(program: Command): void {
  const command = program
    .command('import')
    .description(
      'Import documents (PDF, DOCX, PPTX, XLSX, HTML, Markdown, CSV, e-mail, text), JSON lines, or a .mg file',
    )
    .argument('<file...>', 'files, folders and patterns such as docs/*.pdf; - is standard input')
    .addOption(new Option('-m, --memory <id>', 'the memory (default: default)').env('GRANARY_MEMORY'))
    .option('--memory-from <field>', 'field of each line that names its memory; replaces --memory')
    .option('--no-create', 'reject lines for memories that do not exist instead of creating them')
    .option('--namespace <name>', 'namespace for grains without one')
    .option('--user <id>', 'user for grains without one')
    .option('--tag <tag>', 'a tag for every grain; repeat the option for more', gather)
    .option('--errors <file>', 'write every error to this file, as JSON lines')
    .option('--documents', 'read every file as a document, whatever its name')
    .option('--chunk-size <n>', 'documents: characters of a chunk at most', integer(20, 100_000))
    .option(
      '--chunk-overlap <n>',
      'documents: characters that a chunk repeats from the one before',
      integer(0, 100_000),
    )
    .option('--extract', 'documents: extract beliefs from each chunk')
    .option('--dry-run', 'read and check everything; store nothing')
    .option('--from-line <n>', 'start at this line', integer(1, 4_294_967_295), 1)
    .option('--batch <n>', 'grains per call', integer(1, BATCH_GRAINS_MAX), BATCH_GRAINS_MAX)
    .option('--in-flight <n>', 'concurrent calls', integer(1, 64), 4)
    .addHelpText('after', HELP);
  withServerOptions(command).action(importAll);
}

const HELP = `
Documents are recognised by their content and extension; each becomes events, one for a chunk, by a job of the server. A
folder stands for the documents below it. Other files are JSON lines, or .mg files.

A line may be
  {"grain_type":"belief","fields":{...}}      a grain of any type
  {"subject":...,"relation":...,"object":...} a belief
  {"role":"user","text":...,"time":...}       a turn of a conversation, stored as an event. session, conv and speaker are
                                              recognised; other fields (_id too) are kept as they are. Turns of a
                                              conversation with equal times, or only a date, are spaced one second apart
                                              to keep their order
  {"turns":[{...},...]}                       a whole conversation
  {"text":...,"title":...}                    a document, stored as an event

Grains that exist already count as duplicates, so you can run an interrupted import again.`;

async function importAll(given: string[], options: ImportOptions): Promise<void> {
  if (options.memory !== undefined && options.memoryFrom !== undefined)
    throw usage('give --memory or --memory-from, not both');
  const { sortFiles } = await import('./import/files.ts');
  const { documents, others } = await sortFiles(given, options.documents === true);
  if (documents.length > 0) {
    if (options.dryRun === true) throw usage('documents have no --dry-run');
    if (options.memoryFrom !== undefined) throw usage('documents do not name a memory: use --memory');
  }
  const errors = options.errors === undefined ? undefined : await openErrors(options.errors);
  try {
    if (documents.length > 0) {
      const { importDocuments } = await import('./import/documents.ts');
      await importDocuments(documents, options, errors);
    }
    for (const path of others) if (!(await importFile(path, options, errors))) break;
  } catch (error) {
    // The reason that ended the import says more than the state of its file of errors.
    await errors?.close().catch(() => undefined);
    throw error;
  }
  await errors?.close();
}

async function openErrors(path: string): Promise<ErrorsFile> {
  const { ErrorsFile } = await import('./import/errors-file.ts');
  return ErrorsFile.open(path);
}

/** Resolves false when it was stopped: no further file is wanted. */
async function importFile(path: string, options: ImportOptions, errors: ErrorsFile | undefined): Promise<boolean> {
  if (path !== '-') {
    if (await isMgFile(path)) {
      await importMg(path, options, errors);
      return true;
    }
    const { checkLines } = await import('./import/files.ts');
    await checkLines(path);
  }
  const report = new ImportReport(path, errors);
  let stopped: number | undefined;
  let problem: unknown;
  try {
    stopped = options.dryRun ? await dryRun(path, options, report) : await send(path, options, report);
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
    ({ problem, line: stopped } = error);
  }
  if (report.errors > 0 || stopped !== undefined) process.exitCode = EXIT.failed;
  report.print({ json: options.json === true, dryRun: options.dryRun === true, stopped });
  if (stopped !== undefined)
    printNote(`The import stopped. All lines before ${stopped} are done: continue with --from-line ${stopped}`);
  if (problem !== undefined) throw problem;
  return stopped === undefined;
}

/** An error that every further line would hit too; it ends the import. */
class Stopped extends Error {
  readonly problem: unknown;
  readonly line: number | undefined;
  constructor(problem: unknown, line: number | undefined) {
    super('the import stopped');
    this.problem = problem;
    this.line = line;
  }
}

/** Most .mg warnings to show; the JSON answer has all of them. */
const WARNINGS_SHOWN_MAX = 20;

/** Resolves to the line to continue from when the import was interrupted. */
async function send(path: string, options: ImportOptions, report: ImportReport): Promise<number | undefined> {
  const [{ withConnection }, { RPC }, { Sender }, { ImportMemories }] = await Promise.all([
    import('./connection.ts'),
    import('./rpcs.ts'),
    import('./import/sender.ts'),
    import('./import/memories.ts'),
  ]);
  return withConnection(
    options,
    async (connection) => {
      const memories = new ImportMemories(connection, options.create);
      let taken = 0;
      let storing: Progress | undefined;
      const sender = new Sender({
        batchItemsMax: options.batch,
        batchBytesMax: BATCH_BYTES_MAX,
        inFlightMax: options.inFlight,
        send: async (memory, items) => {
          await memories.ready(memory);
          const answer = await connection.call(RPC.batchAdd, { items: items.map(toRequest) }, { memory });
          return answer.results;
        },
        onResult: (item, { duplicate, errorCode, errorMessage }) => {
          if (errorCode === '') report.took(item.memory, duplicate);
          else report.refused(item.line, errorCode, errorMessage);
          const answered = report.added + report.duplicates;
          storing?.update(answered, answered / taken);
        },
      });
      const stop = new AbortController();
      const interrupt = (): void => stop.abort();
      process.once('SIGINT', interrupt);
      let stopped: number | undefined;
      try {
        for await (const { grain, number } of grainsOf(path, options, report)) {
          if (stop.signal.aborted) {
            stopped = number;
            break;
          }
          taken += 1;
          await sender.add({ ...toOutgoing(grain), line: number });
        }
        // The whole file has been read; the rest of the time goes into waiting for answers.
        storing = new Progress('storing', 'grains', options.json !== true);
        await sender.finish();
      } catch (error) {
        throw new Stopped(error, sender.firstUnanswered);
      } finally {
        storing?.end();
        process.removeListener('SIGINT', interrupt);
      }
      if (memories.created > 0 && !options.json)
        printNote(
          memories.created === 1 ? '1 memory was created.' : `${grouped(memories.created)} memories were created.`,
        );
      return stopped;
    },
    { mayCreate: true, isLong: true },
  );
}

function toOutgoing({ memory, grainType, fields }: ImportedGrain): Omit<Outgoing, 'line'> {
  return { memory, grainType, fieldsJson: stringifyJson(fields) };
}

function toRequest({ grainType, fieldsJson }: Outgoing): { grainType: string; fieldsJson: string } {
  return { grainType, fieldsJson };
}

/** Checks every grain as the server would, apart from rules of the memory itself. */
async function dryRun(path: string, options: ImportOptions, report: ImportReport): Promise<undefined> {
  const { fromApi } = await import('../engine/grain/api/input.ts');
  const nowMs = Date.now();
  for await (const { grain, number } of grainsOf(path, options, report)) {
    try {
      fromApi(grain.grainType, grain.fields, { nowMs });
      report.took(grain.memory, false);
    } catch (error) {
      const { code, text } = failureOf(error);
      report.refused(number, code, text);
    }
  }
}

/** Yields every grain of the file with its line number. Lines without a grain go to the report. */
async function* grainsOf(
  path: string,
  options: ImportOptions,
  report: ImportReport,
): AsyncGenerator<{ readonly grain: ImportedGrain; readonly number: number }> {
  const { readRecord } = await import('./import/record.ts');
  const { input, size, modifiedSeconds } = await openInput(path);
  const records = await recordOptions(options, modifiedSeconds, report);
  // Lines before the first one are read for the times of later turns, which follow from theirs.
  const past = { ...records, note: undefined };
  const progress = new Progress('importing', 'grains', options.json !== true);
  let sent = 0;
  try {
    for await (const line of readLines(input)) {
      await report.room();
      report.lines = line.number;
      report.bytes += line.bytes;
      const isPast = line.number < options.fromLine;
      try {
        if ('error' in line) throw line.error;
        for (const grain of readRecord(line.value, isPast ? past : records)) {
          if (isPast) continue;
          sent += 1;
          yield { grain, number: line.number };
        }
      } catch (error) {
        // Only line errors are handled here; errors of the consumer propagate.
        if (!(error instanceof Failure)) throw error;
        if (!isPast) report.refused(line.number, error.code, error.message);
      }
      progress.update(sent, size === undefined || size === 0 ? undefined : report.bytes / size);
    }
  } finally {
    progress.end();
  }
}

async function recordOptions(
  options: ImportOptions,
  modifiedSeconds: number,
  report: ImportReport,
): Promise<RecordOptions> {
  const { TurnTimes } = await import('./import/turn-times.ts');
  const { memory, memoryFrom, namespace, user, tag } = options;
  const nowSeconds = Math.floor(Date.now() / 1000);
  // A transcript without times starts on the file's modification date, so importing it again yields the same grains.
  const fallback = modifiedSeconds - (modifiedSeconds % 86_400);
  return {
    ...(memoryFrom === undefined ? { memory: memory ?? 'default' } : { memoryFrom }),
    namespace,
    userId: user,
    tags: tag,
    times: new TurnTimes({ fallback, nowSeconds }),
    documentSeconds: Math.min(modifiedSeconds, nowSeconds),
    note: (kind) => report.noted(kind),
  };
}

interface Input {
  readonly input: AsyncIterable<Uint8Array>;
  /** Size in bytes, when known. */
  readonly size: number | undefined;
  readonly modifiedSeconds: number;
}

async function openInput(path: string): Promise<Input> {
  if (path === '-') return { input: process.stdin, size: undefined, modifiedSeconds: Math.floor(Date.now() / 1000) };
  const file = await opened(path);
  try {
    const { size, mtimeMs } = await file.stat();
    const input = createReadStream('', { fd: file, highWaterMark: 1_048_576 });
    return { input, size, modifiedSeconds: Math.max(0, Math.floor(mtimeMs / 1000)) };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function opened(path: string) {
  try {
    const file = await open(path);
    if (!(await file.stat()).isDirectory()) return file;
    await file.close();
  } catch (error) {
    throw new Failure('FILE', `cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
  throw new Failure('FILE', `${path} is a folder: give a file`);
}

async function isMgFile(path: string): Promise<boolean> {
  const file = await opened(path);
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(3), 0, 3, 0);
    const { startsMgFile } = await import('./import/mg-file.ts');
    return path.endsWith('.mg') || (bytesRead === 3 && startsMgFile(buffer));
  } finally {
    await file.close();
  }
}

/** Uploads a .mg file unchanged, which keeps its grains' hashes. */
async function importMg(path: string, options: ImportOptions, errors: ErrorsFile | undefined): Promise<void> {
  if (options.memoryFrom !== undefined) throw usage('grains of a .mg file do not name a memory: use --memory');
  for (const flag of ['namespace', 'user', 'tag', 'dryRun'] as const)
    if (options[flag] !== undefined)
      throw usage('grains of a .mg file are stored unchanged: leave out --namespace, --user, --tag and --dry-run');
  const memory = options.memory ?? 'default';
  const [{ withConnection }, { ImportMemories }, { mgParts }] = await Promise.all([
    import('./connection.ts'),
    import('./import/memories.ts'),
    import('./import/mg-file.ts'),
  ]);
  const report = new ImportReport(path, errors);
  const hashes: string[] = [];
  const warnings: string[] = [];
  const upload = async (connection: Connection): Promise<void> => {
    await new ImportMemories(connection, options.create).ready(memory);
    const progress = new Progress('importing', 'grains', options.json !== true);
    const uploads = `/memories/${encodeURIComponent(memory)}/import-file`;
    try {
      for await (const { bytes, from, share, isRepeat } of mgParts(path)) {
        const answer = await connection.upload(uploads, 'import.mg', bytes);
        warnings.push(...((answer['warnings'] ?? []) as string[])); // the contract: strings
        // Repeated grains were counted when they were first sent.
        if (isRepeat) continue;
        report.added += Number(answer['imported']);
        report.duplicates += Number(answer['duplicates']);
        for (const hash of answer['hashes'] as string[]) hashes.push(hash); // the contract: strings
        for (const error of answer['errors'] as { index: number; code: string; error: string }[])
          report.refused(from + error.index + 1, error.code, error.error);
        await report.room();
        progress.update(report.added + report.duplicates, share);
      }
    } finally {
      progress.end();
    }
  };
  await withConnection(options, upload, { mayCreate: true, isLong: true });
  if (report.errors > 0) process.exitCode = EXIT.failed;
  const { added, duplicates, errors: refused } = report;
  if (options.json)
    return printJson({ added, duplicates, errors: refused, memories: { [memory]: hashes.length }, hashes, warnings });
  for (const warning of warnings.slice(0, WARNINGS_SHOWN_MAX)) printNote(warning);
  if (warnings.length > WARNINGS_SHOWN_MAX)
    printNote(`and ${counted(warnings.length - WARNINGS_SHOWN_MAX, 'more warning')} (--json shows all)`);
  printPairs([
    ['added', added],
    ['duplicates', duplicates],
    ['errors', refused],
  ]);
  report.printErrors('grain');
}
