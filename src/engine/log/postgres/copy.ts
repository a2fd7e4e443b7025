// The local copy of a log whose truth is in the database: an LMDB that may be deleted at any time. A file beside it tells
// which owner wrote it. The database confirms that owner, or the copy is deleted and filled again.
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { replaceFile, replaceFileLater, storageError, syncDirectory, syncFile } from '../../base/durable-file.ts';
import { EngineError } from '../../base/errors.ts';
import { COPY_PAGES_KNOWN_MS, COPY_SPARE_ROOM_BYTES } from '../../base/limits.ts';
import { LogFiller } from '../lmdb/filler.ts';
import { DATA_FILE } from '../lmdb/preflight.ts';
import { freeBytes } from '../lmdb/room.ts';
import type { LogStamp } from '../lmdb/stamp.ts';
import type { Database } from './database.ts';
import { ownerNow, type Taken } from './lease.ts';
import { hasDigest, listFiles, StoredFiles } from './stored-files.ts';
import { type LogTarget, StoredLog } from './stored-log.ts';

/** In the folder of a copy. */
export const COPY_MARK_FILE = 'copy.json';
/** Behind the name of the folder of a copy: another one of the same log, which takes its place when it is whole. */
const SPARE_SUFFIX = '.again';
/** Behind the same: a file with the mark of the deployment, which stays until it was reported that the database went back. */
const WENT_BACK_SUFFIX = '.went-back';

/** When this process filled a copy ahead, by its folder: it need not check the pages that it wrote just now. */
const pagesKnown = new Map<string, number>();

function arePagesKnown(directory: string): boolean {
  const sinceMs = pagesKnown.get(directory);
  pagesKnown.delete(directory);
  return sinceMs !== undefined && performance.now() - sinceMs < COPY_PAGES_KNOWN_MS;
}

interface Owner {
  readonly token: number;
  readonly mark: string;
}

/** The owner whose appends the copy ended with when it was durable. */
interface CopyMark extends Owner {
  /** The mark of the deployment. */
  readonly store: string;
  /** The node has not had the shard since: it only fetched what that owner had. */
  readonly isAhead?: boolean | undefined;
  /** A derived file was damaged: all of them are compared with those of the database. */
  readonly areFilesDoubted?: boolean | undefined;
}

export interface CopyOptions {
  readonly directory: string;
  readonly stamp: LogStamp;
  readonly store: string;
  /** As the caller has taken the shard. */
  readonly taken: Taken;
  /**
   * A folder around the copy. All else in it follows from the log as the owner of the copy had it. When another one has had the
   * shard since, only the files that the database has too are kept.
   */
  readonly derived?: string | undefined;
  /** Gives up what is being filled. */
  readonly signal?: AbortSignal | undefined;
}

/** How the copy was brought up to date. */
export interface Filled {
  /** False when what was there was deleted, or nothing was there. */
  readonly isKept: boolean;
  readonly records: number;
  /** False when what came from the database was damaged there. */
  readonly isWhole: boolean;
  /**
   * The copy had appends that the database has not: it was restored to an older state. They are gone from the copy too. True
   * each time until `reportedWentBack`.
   */
  readonly wentBack: boolean;
  /**
   * Resolves when the copy would survive a loss of power. Until then it can be used, but not be filled again. Rejects with STO-E001; the
   * copy is filled from the start the next time.
   */
  readonly settled: Promise<void>;
}

/**
 * Brings the copy to what the database has, and fetches the derived files that it lacks. The caller holds the shard's lease, so nobody
 * appends meanwhile. A file that the database does not have whole stays absent. Rejects with STO-E001 or an error of the database's
 * library; the copy can be filled again then.
 */
export async function fillCopy(database: Database, options: CopyOptions): Promise<Filled> {
  const { directory, store, taken } = options;
  takeSpare(directory);
  const kept = await openTrusted(database, options);
  const wentBack = textOf(wentBackFile(directory)) === store;
  const before = readMark(directory);
  const isKnown = before?.token === taken.token - 1 && before.areFilesDoubted !== true;
  if (kept === undefined || !isKnown) await deleteDerivedOrClose(kept, database, options, 'bytes');
  // They were compared when they were fetched, and names are given once.
  else if (before.isAhead === true) await deleteDerivedOrClose(kept, database, options, 'names');
  const { records, paths, isWhole } = await fill(database, options, kept);
  // The database, or the way from it, may have damaged it, and may be mended: the copy is filled from the start the next time.
  if (!isWhole) distrustCopy(directory);
  const mark = { store, token: taken.token, mark: taken.mark };
  const settled = settle(directory, paths, isWhole ? mark : undefined);
  // Most callers have no use for the error.
  settled.catch(() => undefined);
  return { isKept: kept !== undefined, records, isWhole, wentBack, settled };
}

/**
 * Brings the copy to what the database has, while another node owns the shard and goes on: `taken` is as that owner has it. The
 * changes that come meanwhile are read when this node takes the shard. Rejects as `fillCopy`.
 */
export async function fillCopyAhead(database: Database, options: CopyOptions): Promise<void> {
  const { directory } = options;
  takeSpare(directory);
  if (await filledAhead(database, options)) return;
  distrustCopy(directory);
  await filledAhead(database, options);
}

/** Resolves to false when changes that the copy lacked may have been pruned before they were read. */
async function filledAhead(database: Database, options: CopyOptions): Promise<boolean> {
  const { directory, store, taken, stamp } = options;
  const kept = await openTrusted(database, options);
  const since = kept?.appends;
  const before = readMark(directory);
  const isKnown =
    kept !== undefined && before?.isAhead === true && before.token === taken.token && before.areFilesDoubted !== true;
  // Until the end, the copy is that of the mark before, and some changes are in it already.
  await deleteDerivedOrClose(kept, database, options, isKnown ? 'names' : 'bytes');
  const { paths, isWhole } = await fill(database, options, kept);
  if (since !== undefined) {
    // The owner says how far it prunes before it does so.
    const { pruned = 0 } = (await ownerNow(database, stamp.shard)) ?? {};
    if (since < pruned) return false;
  }
  if (!isWhole) distrustCopy(directory);
  await settle(directory, paths, isWhole ? { store, token: taken.token, mark: taken.mark, isAhead: true } : undefined);
  if (isWhole) pagesKnown.set(directory, performance.now());
  return true;
}

/** `damaged`: in the database. */
export type SpareFilled = 'filled' | 'damaged' | 'no room';

/**
 * Fills another copy of the log beside the one in `directory`, while the caller has the shard and goes on. The next `fillCopy` takes it
 * in place of that one. Leaves none when the database has something damaged, or when the disk has no room for both. Rejects as `fillCopy`,
 * and when `signal` aborts; nothing goes on then.
 */
export async function fillSpareCopy(
  database: Database,
  options: CopyOptions,
  signal: AbortSignal,
): Promise<SpareFilled> {
  const spare = `${options.directory}${SPARE_SUFFIX}`;
  const { store, taken } = options;
  rmSync(spare, { recursive: true, force: true });
  const neededBytes = statSync(join(options.directory, DATA_FILE)).size + COPY_SPARE_ROOM_BYTES;
  if (freeBytes(options.directory) < neededBytes) return 'no room';
  let isSettled = false;
  try {
    const own = { ...options, directory: spare, derived: undefined, signal };
    const { paths, isWhole } = await fill(database, own, undefined);
    if (isWhole) await settle(spare, paths, { store, token: taken.token, mark: taken.mark });
    isSettled = isWhole;
    return isWhole ? 'filled' : 'damaged';
  } finally {
    if (!isSettled) rmSync(spare, { recursive: true, force: true });
  }
}

function takeSpare(directory: string): void {
  const spare = `${directory}${SPARE_SUFFIX}`;
  if (!existsSync(spare)) return;
  if (readMark(spare) === undefined) rmSync(spare, { recursive: true, force: true });
  else {
    removeCopy(directory);
    renameSync(spare, directory);
  }
  syncDirectory(dirname(directory));
}

/** The copy is filled from the start the next time: something in it is damaged. */
export function distrustCopy(directory: string): void {
  rmSync(join(directory, COPY_MARK_FILE), { force: true });
  syncDirectory(directory);
}

/** The next time, derived files are compared with those of the database. Rejects with STO-E001. */
export async function doubtFiles(directory: string): Promise<void> {
  const mark = readMark(directory);
  if (mark === undefined) return;
  const doubted: CopyMark = { ...mark, areFilesDoubted: true };
  try {
    await replaceFileLater(join(directory, COPY_MARK_FILE), Buffer.from(JSON.stringify(doubted)));
  } catch (error) {
    throw storageError(`the mark of the copy in ${directory} cannot be written`, error);
  }
}

/** Of a copy whose files are not synced yet. */
interface Fetched {
  readonly records: number;
  readonly paths: readonly string[];
  /** False when a checksum was wrong. */
  readonly isWhole: boolean;
}

/** Log and derived files come at the same time. Nothing goes on when it rejects. */
async function fill(database: Database, options: CopyOptions, kept: LogFiller | undefined): Promise<Fetched> {
  const { derived, stamp, taken, directory } = options;
  const files = new StoredFiles(database, { shard: stamp.shard, token: taken.token });
  const both = await Promise.allSettled([
    fillLog(database, options, kept),
    derived === undefined ? [] : files.fetchAbsent(derived),
  ]);
  const [log, fetched] = both;
  if (log.status === 'rejected') throw log.reason;
  if (fetched.status === 'rejected') throw fetched.reason;
  const { count, damaged } = log.value;
  return { records: count, paths: [join(directory, DATA_FILE), ...fetched.value], isWhole: damaged === 0 };
}

async function fillLog(
  database: Database,
  { directory, stamp, taken, signal }: CopyOptions,
  kept: LogFiller | undefined,
): Promise<Pick<StoredLog, 'count' | 'damaged'>> {
  const filler = kept ?? openNew(directory, stamp);
  try {
    const filling = new StoredLog(database, signal === undefined ? filler : until(signal, filler), stamp.shard);
    const since = kept?.appends;
    const from = kept?.nextSequence ?? 1;
    if (since !== undefined) await filling.changes(since, from);
    // One that was filled in part before may have some that were removed since.
    await filling.records(from, { next: taken.next, withRemoved: kept !== undefined });
    await filling.state(since);
    await filler.finish(taken.appends, taken.next, noteOf(taken));
    return filling;
  } finally {
    await filler.close();
  }
}

function until(signal: AbortSignal, target: LogTarget): LogTarget {
  return {
    signal,
    putRecords: (records) => {
      signal.throwIfAborted();
      return target.putRecords(records);
    },
    putState: (entries) => {
      signal.throwIfAborted();
      return target.putState(entries);
    },
  };
}

/** The mark comes last: what it stands for is on disk by then. Without one, the copy is not trusted. */
async function settle(directory: string, paths: readonly string[], mark: CopyMark | undefined): Promise<void> {
  try {
    for (const path of paths) await syncFile(path);
    for (const folder of new Set(paths.map((path) => dirname(path)))) await syncFile(folder);
    if (mark !== undefined) await replaceFileLater(join(directory, COPY_MARK_FILE), Buffer.from(JSON.stringify(mark)));
  } catch (error) {
    throw storageError(`the copy of the log in ${directory} cannot be made durable`, error);
  }
}

/** The copy, opened, if the database has everything that it holds; undefined when it must be filled from the start. */
async function openTrusted(
  database: Database,
  { directory, stamp, store, taken }: CopyOptions,
): Promise<LogFiller | undefined> {
  const mark = readMark(directory);
  if (mark === undefined || mark.store !== store) return undefined;
  let filler: LogFiller | undefined;
  try {
    filler = new LogFiller(directory, stamp, { arePagesKnown: arePagesKnown(directory) });
    const { appends } = filler;
    if (appends !== undefined) {
      const owner = await ownerOf(database, { shard: stamp.shard, mark: filledFor(filler, mark), appends, taken });
      if (owner === 'the copy' && appends >= taken.pruned) return filler;
      // Before the copy, which shows it, is gone.
      if (owner === 'another') replaceFile(wentBackFile(directory), Buffer.from(store));
    }
  } catch (error) {
    // A damaged copy is filled again. Without an answer of the database, nothing is known of it.
    if (!(error instanceof EngineError)) {
      await filler?.close();
      throw error;
    }
  }
  await filler?.close();
  return undefined;
}

function wentBackFile(directory: string): string {
  return `${directory}${WENT_BACK_SUFFIX}`;
}

function textOf(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

/** Health or log has said that the database went back. */
export function reportedWentBack(directory: string): void {
  rmSync(wentBackFile(directory), { force: true });
}

function noteOf({ token, mark }: Owner): Buffer {
  return Buffer.from(JSON.stringify({ token, mark }));
}

/**
 * The owner of the log's newest append. Its log is brought to an owner before its files are, and the mark comes last, so a filling
 * that broke off left the mark behind. An older version of this program left the note behind.
 */
function filledFor({ note }: LogFiller, mark: CopyMark): Owner {
  const noted = note === undefined ? undefined : ownerIn(note.toString());
  return noted !== undefined && noted.token > mark.token ? noted : mark;
}

function ownerIn(text: string): Owner | undefined {
  const { token, mark } = JSON.parse(text) as Partial<Owner>; // checked below
  return typeof token === 'number' && typeof mark === 'string' ? { token, mark } : undefined;
}

/** The owner that made the append of this number, by the database: that of the copy, or another one. Undefined when no row of it is left. */
async function ownerOf(
  database: Database,
  { shard, mark: { token, mark }, appends, taken }: OfAppend,
): Promise<'the copy' | 'another' | undefined> {
  // A token is given once, unless its number was forgotten. The caller took the shard, or only looks at its owner.
  if (taken.token < token) return 'another';
  const rows = await database.ask(
    (sql) => sql`
      SELECT token, mark, appends FROM granary_owners WHERE shard = ${shard} AND token >= ${token}
      ORDER BY token LIMIT 2`,
  );
  const [own, next] = rows;
  // Rows of old owners are removed.
  if (own === undefined || Number(own['token']) !== token) return undefined;
  if (own['mark'].toString('hex') !== mark) return 'another';
  // The newest owner has the shard still.
  const last = next === undefined ? taken.appends : Number(next['appends']);
  return Number(own['appends']) <= appends && appends <= last ? 'the copy' : 'another';
}

interface OfAppend {
  readonly shard: number;
  readonly mark: Owner;
  readonly appends: number;
  readonly taken: Taken;
}

/** Closes the copy when it rejects: nothing is left open then. */
async function deleteDerivedOrClose(
  kept: LogFiller | undefined,
  ...given: Parameters<typeof deleteDerived>
): Promise<void> {
  try {
    await deleteDerived(...given);
  } catch (error) {
    await kept?.close();
    throw error;
  }
}

/** Keeps files that the database has too: of the same name and size, and of the same `bytes`. */
async function deleteDerived(
  database: Database,
  { directory, derived, stamp }: CopyOptions,
  compared: 'bytes' | 'names',
): Promise<void> {
  if (derived === undefined || !existsSync(derived)) return;
  const stored = new Map((await listFiles(database, stamp.shard)).map((file) => [file.name, file]));
  const entries = readdirSync(derived, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    const name = relative(derived, path).replaceAll(sep, '/');
    const isOfCopy = name.startsWith(`${basename(directory)}/`) || path === wentBackFile(directory);
    if (entry.isDirectory() || isOfCopy) continue;
    const file = stored.get(name);
    const isSame = file !== undefined && statSync(path).size === file.bytes;
    const isStored = isSame && (compared === 'names' || (await hasDigest(path, file.digest)));
    if (!isStored) rmSync(path, { force: true });
  }
  for (const entry of entries) if (entry.isDirectory()) syncDirectory(join(entry.parentPath, entry.name));
  syncDirectory(derived);
}

function openNew(directory: string, stamp: LogStamp): LogFiller {
  removeCopy(directory);
  // It has no mark until it is synced.
  return new LogFiller(directory, stamp, { isUnsynced: true });
}

function removeCopy(directory: string): void {
  if (!existsSync(directory)) return;
  // First what makes it trusted.
  distrustCopy(directory);
  rmSync(directory, { recursive: true, force: true });
}

function readMark(directory: string): CopyMark | undefined {
  try {
    const parsed: unknown = JSON.parse(readFileSync(join(directory, COPY_MARK_FILE), 'utf8'));
    const { store, token, mark, isAhead, areFilesDoubted } = parsed as Partial<CopyMark>; // Each member is checked on the next line.
    if (typeof store === 'string' && typeof token === 'number' && typeof mark === 'string')
      return { store, token, mark, isAhead: isAhead === true, areFilesDoubted: areFilesDoubted === true };
  } catch {
    // Absent or not readable: the copy is not trusted.
  }
  return undefined;
}
