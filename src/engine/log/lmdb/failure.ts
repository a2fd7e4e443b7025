// What a failed commit of LMDB means: no room (the log goes on), or nobody knows what is on disk (it is poisoned).
//
// In LMDB a commit writes pages that nothing points to yet, syncs them, and then writes one meta page through a
// descriptor opened with O_DSYNC; only that makes the pages count. (mdb.c, mdb_txn_commit and mdb_env_write_meta.) So:
// - An error before any write (a map or transaction that is full, no heap) or ENOSPC on the pages leaves the last
//   commit as it was, and the pages are free again: nothing was written, the next commit may succeed.
// - A short write on a disk that fills up comes back as EIO, as a broken disk does. Room on the disk tells them apart.
// - A failed meta page sets MDB_FATAL_ERROR in the environment, whatever the error was: every later transaction fails
//   with MDB_PANIC. lmdb-js does not survive that in its writer thread (a failed mdb_txn_begin leaves its lock taken and
//   its promise pending), so the log must not try again; it asks first, with an empty transaction in this thread.
import { statfsSync } from 'node:fs';
import type { RootDatabase } from 'lmdb';

const EIO = 5;
const ENOMEM = 12;
const EFBIG = 27;
const ENOSPC = 28;
const EDQUOT = 122;
const MDB_MAP_FULL = -30_792;
const MDB_TXN_FULL = -30_788;
const NO_ROOM: readonly number[] = [ENOMEM, EFBIG, ENOSPC, EDQUOT, MDB_MAP_FULL, MDB_TXN_FULL];
/** A disk with less than this left, or less than the append would take, counts as full. */
const ROOM_BYTES_MIN = 1_048_576;

export interface CommitFailure {
  readonly reason: string;
  /** True when the disk or the map is full: nothing was written, and the same append may succeed later. */
  readonly noRoom: boolean;
}

/** Judges the error that a batch's promise rejected with. `bytes` is what the append wanted to write. */
export async function judgeFailure(
  error: unknown,
  root: RootDatabase,
  directory: string,
  bytes: number,
): Promise<CommitFailure> {
  const cause = await causeOf(error);
  // The writer thread's job has to be over before a transaction of this thread, or that one waits for its lock.
  await new Promise((resolve) => setImmediate(resolve));
  const reason = cause instanceof Error ? cause.message : String(cause);
  if (!isUsable(root)) return { reason: `the environment cannot be written any more after: ${reason}`, noRoom: false };
  const code = codeOf(cause);
  if (code !== undefined && NO_ROOM.includes(code)) return { reason, noRoom: true };
  if (code === EIO && freeBytes(directory) < Math.max(ROOM_BYTES_MIN, bytes * 2))
    return { reason: `${reason} (a short write: the disk is full)`, noRoom: true };
  return { reason, noRoom: false };
}

/** lmdb-js rejects with "Commit failed (see commitError for details)", whose `commitError` is a promise of the cause. */
async function causeOf(error: unknown): Promise<unknown> {
  if (!(error instanceof Error) || !('commitError' in error)) return error;
  try {
    await error.commitError;
    return error;
  } catch (cause) {
    return cause;
  }
}

function codeOf(cause: unknown): number | undefined {
  if (!(cause instanceof Error) || !('code' in cause)) return undefined;
  return typeof cause.code === 'number' ? cause.code : undefined;
}

/** An empty transaction does no I/O, and fails only when the environment had a fatal error. */
function isUsable(root: RootDatabase): boolean {
  try {
    root.transactionSync(() => undefined);
    return true;
  } catch {
    return false;
  }
}

function freeBytes(directory: string): number {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize;
}
