// `granary upgrade --check`: what the first start of this version does to a data directory.
import { existsSync, statfsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DISK_ROOM_BYTES_MIN } from '../../engine/base/limits.ts';
import { type Config, readConfig } from '../../server/config.ts';
import { checkLayout, LAYOUT_FILE, readShards } from '../../server/data-directory.ts';
import { LOCK_FILE, tryLockDirectory } from '../../server/directory-lock.ts';
import { isNodeDirectory } from '../../server/node-directory.ts';
import { readServerFile } from '../../server/server-file.ts';
import { VERSION } from '../../server/version.ts';
import { UPGRADE_EXIT } from '../exit-codes.ts';
import { Failure, failureOf, usage } from '../failure.ts';
import { bytes, counted, printable, printJson, printLine, printTable } from '../output.ts';
import { type Format, formatsOf, type Vectors, vectorsOf } from './formats.ts';
import { type MemoryEmbedder, memoriesOf } from './memories.ts';

export interface UpgradeOptions {
  readonly flags: Readonly<Record<string, string | boolean | undefined>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly json: boolean;
}

interface Change {
  readonly kind: 'format' | 'index' | 'write_ahead' | 'vectors';
  readonly message: string;
  /** Bytes that it needs beside the ones that are there. */
  readonly bytes: number;
}

/** Sizes of a rebuilt segment to the one that it replaces: later formats hold more. */
const SEGMENT_GROWTH = 2;
const HALF_FLOAT_BYTES = 2;

/** Prints the report and sets the exit code. Rejects with Failure FILE for a folder that is no data directory. */
export async function upgradeCheck({ flags, env, json }: UpgradeOptions): Promise<void> {
  const config = readConfig(flags, env);
  const dataDir = resolve(config.dataDir);
  if (config.store !== undefined || isNodeDirectory(dataDir))
    throw usage('granary upgrade --check checks a data directory: for a store, run granary store check');
  if (!existsSync(join(dataDir, LAYOUT_FILE)))
    throw new Failure('FILE', `${dataDir} is not a data directory: it has no ${LAYOUT_FILE}`);
  const server = serverOn(dataDir);
  const problems: string[] = [];
  const shards = readShards(dataDir);
  attempt(() => checkLayout(dataDir, config.shards), problems);
  const formats = attempt(() => formatsOf(dataDir, shards), problems) ?? [];
  problems.push(...formats.flatMap((format) => refusal(format)));
  // Files of another format are not read further: they may mean something else.
  const isRead = problems.length === 0;
  const vectors = isRead ? (attempt(() => vectorsOf(dataDir, shards), problems) ?? []) : [];
  const memories = isRead && server.state === 'none' ? await memoriesIn({ ...config, dataDir }, shards, problems) : [];
  const changes = isRead ? changesOf(formats, embeddedAgain(vectors, memories)) : [];
  const disk = diskFor(dataDir, changes);
  if (disk.free < disk.needed)
    problems.push(`The disk has ${bytes(disk.free)} free, and the start needs ${bytes(disk.needed)}: make room.`);
  const isBound = changes.some(({ kind }) => kind === 'format');
  process.exitCode = problems.length > 0 ? UPGRADE_EXIT.refused : isBound ? UPGRADE_EXIT.changes : UPGRADE_EXIT.same;
  const report = { directory: dataDir, version: VERSION, shards, opens: problems.length === 0, server, formats };
  const back = { can_go_back: !isBound, disk, changes, problems };
  if (json) return printJson({ ...report, ...back });
  print({ ...report, ...back });
}

function attempt<T>(read: () => T, problems: string[]): T | undefined {
  try {
    return read();
  } catch (error) {
    const { code, text } = failureOf(error);
    problems.push(`${code}: ${text}.`);
    return undefined;
  }
}

async function memoriesIn(config: Config, shards: number, problems: string[]): Promise<readonly MemoryEmbedder[]> {
  if (!existsSync(join(config.dataDir, 'control', 'data.mdb'))) return [];
  try {
    return await memoriesOf(config, shards);
  } catch (error) {
    const { code, text } = failureOf(error);
    problems.push(`${code}: ${text}.`);
    return [];
  }
}

/** Whether a server has the directory: `unknown` where this user may not ask for the lock. */
function serverOn(directory: string): { readonly state: 'none' | 'running' | 'unknown'; readonly http?: string } {
  // Asking for the lock would make its file.
  if (!existsSync(join(directory, LOCK_FILE))) return { state: 'none' };
  try {
    const lock = tryLockDirectory(directory);
    lock?.release();
    if (lock !== undefined) return { state: 'none' };
  } catch {
    return { state: 'unknown' };
  }
  const http = readServerFile(directory)?.http;
  return http === undefined ? { state: 'running' } : { state: 'running', http };
}

function refusal({ part, found, reads, writes }: Format): readonly string[] {
  const newer = found.filter((version) => version > writes);
  const older = found.filter((version) => version < reads);
  const range = reads === writes ? `${writes}` : `${reads} to ${writes}`;
  return [
    ...newer.map(
      (version) =>
        `The ${part} has format ${version}, and this version reads ${range}: a newer version wrote it. Install that version, or restore a backup.`,
    ),
    ...older.map(
      (version) =>
        `The ${part} has format ${version}, and this version reads ${range}: there is no upgrade from it. Export with the version that wrote it.`,
    ),
  ];
}

/** Vectors that memories will not use any more, since their embedder is another one now. */
function embeddedAgain(vectors: readonly Vectors[], memories: readonly MemoryEmbedder[]): readonly Vectors[] {
  const wanted = new Map(memories.map(({ number: of, embedder }) => [of, embedder]));
  const complete = new Set(
    vectors.filter((one) => wanted.get(one.memory) === one.embedder).map(({ memory }) => memory),
  );
  return vectors.filter(({ memory }) => wanted.get(memory) !== undefined && !complete.has(memory));
}

function changesOf(formats: readonly Format[], again: readonly Vectors[]): readonly Change[] {
  const changes: Change[] = [];
  for (const { part, found, writes, outdated } of formats) {
    const oldest = found[0];
    if ((part === 'log' || part === 'control') && oldest !== undefined && oldest < writes) {
      const message = `The ${part === 'log' ? 'logs get' : 'control log gets'} format ${writes} instead of ${oldest}: earlier versions cannot open the directory from then on.`;
      changes.push({ kind: 'format', message, bytes: 0 });
    }
    if (outdated.files > 0) {
      const message = `Of earlier formats: ${counted(outdated.files, 'segment file')} (${bytes(outdated.bytes)}). The first start rebuilds them from the log, and takes longer.`;
      changes.push({ kind: 'index', message, bytes: outdated.bytes * SEGMENT_GROWTH });
    }
    if (part === 'write-ahead' && found.length > 0)
      changes.push({
        kind: 'write_ahead',
        message: 'Write-ahead files are read, and what the logs lack is written to them.',
        bytes: 0,
      });
  }
  const rows = again.reduce((sum, one) => sum + one.rows, 0);
  if (rows > 0) {
    const names = [...new Set(again.map(({ embedder }) => embedder))].join(', ');
    const size = again.reduce((sum, one) => sum + one.rows * one.dimensions * HALF_FLOAT_BYTES, 0);
    const message = `Of ${names}: ${counted(rows, 'vector')}. The configured embedder computes them again in the background; searches use the old ones until then.`;
    changes.push({ kind: 'vectors', message, bytes: size });
  }
  return changes;
}

function diskFor(directory: string, changes: readonly Change[]): { readonly free: number; readonly needed: number } {
  const { bavail, bsize } = statfsSync(directory);
  const needed = DISK_ROOM_BYTES_MIN + changes.reduce((sum, change) => sum + change.bytes, 0);
  return { free: bavail * bsize, needed };
}

type Report = {
  readonly directory: string;
  readonly version: string;
  readonly server: ReturnType<typeof serverOn>;
  readonly formats: readonly Format[];
  readonly changes: readonly Change[];
  readonly problems: readonly string[];
  readonly can_go_back: boolean;
  readonly disk: ReturnType<typeof diskFor>;
};

function print({ directory, version, server, formats, changes, problems, can_go_back, disk }: Report): void {
  printLine(`${printable(directory)}, checked by version ${version}. Nothing was changed.`);
  printLine(SERVER[server.state] + (server.http === undefined ? '' : ` It listens at ${server.http}.`));
  printLine();
  printTable(
    [{ title: 'part' }, { title: 'format' }, { title: 'is read' }, { title: 'is written' }],
    formats.map(({ part, found, reads, writes }) => [
      part,
      found.length === 0 ? '-' : found.join(', '),
      reads === writes ? String(writes) : `${reads} to ${writes}`,
      String(writes),
    ]),
  );
  printLine();
  for (const { message } of changes) printLine(printable(message));
  for (const problem of problems) printLine(printable(problem));
  if (problems.length > 0) {
    printLine('This version cannot open the directory.');
    return;
  }
  if (changes.length === 0) printLine('The first start changes nothing.');
  printLine(`The start needs ${bytes(disk.needed)} of disk; ${bytes(disk.free)} are free.`);
  printLine(
    can_go_back
      ? 'The version that wrote it can open it again afterwards.'
      : 'The version that wrote it cannot open it afterwards: make a backup before the first start (granary backup DIR).',
  );
}

const SERVER = {
  none: 'No server is using the directory.',
  running: 'A server is using the directory, so its memories were not checked.',
  unknown: 'It is unknown whether a server is using the directory: run the command as the user of the server.',
} as const;
