// Classifies a failed commit of LMDB: no room (the log still accepts appends), or an unknown state on disk (the log is poisoned).
//
// In LMDB a commit writes pages that nothing points to yet, syncs them, and then writes one meta page through a
// descriptor opened with O_DSYNC; only that makes the pages count. (mdb.c, mdb_txn_commit and mdb_env_write_meta.) So:
// - An error before any write (a map or transaction that is full, no heap) or ENOSPC on the pages leaves the last
//   commit as it was, and the pages are free again: nothing was written, the next commit may succeed.
// - A short write on a disk that fills up comes back as EIO, as a broken disk does. Room on the disk tells them apart.
// - A failed meta page sets MDB_FATAL_ERROR in the environment, whatever the error was: every later transaction fails
//   with MDB_PANIC, reads too. lmdb-js does not survive that in its writer thread (a failed mdb_txn_begin leaves its lock
//   taken and its promise pending), so the log must not try again; it asks first, with a read.
import { freeBytes } from './room.ts';

const EIO = 5;
const ENOMEM = 12;
const EFBIG = 27;
const ENOSPC = 28;
const EDQUOT = 122;
const MDB_MAP_FULL = -30_792;
const MDB_TXN_FULL = -30_788;
const NO_ROOM: readonly number[] = [ENOMEM, EFBIG, ENOSPC, EDQUOT, MDB_MAP_FULL, MDB_TXN_FULL];
/** A disk counts as full when less than this, or less than the append needs, is free. */
const ROOM_BYTES_MIN = 1_048_576;

export interface CommitFailure {
  readonly reason: string;
  /**
   * `no room`: nothing was written, and the same append may succeed later. `unknown`: the state on disk is unknown.
   * `fatal`: also unknown, and LMDB refuses readers too until the environment is opened again.
   */
  readonly kind: 'no room' | 'unknown' | 'fatal';
}

/**
 * Classifies the error that a batch's promise was rejected with. `bytes` is the size of the append; `probe` performs
 * any read in a new read transaction.
 */
export async function judgeFailure(
  error: unknown,
  probe: () => void,
  directory: string,
  bytes: number,
): Promise<CommitFailure> {
  const cause = await causeOf(error);
  const reason = cause instanceof Error ? cause.message : String(cause);
  try {
    probe();
  } catch {
    return { reason, kind: 'fatal' };
  }
  const code = codeOf(cause);
  if (code !== undefined && NO_ROOM.includes(code)) return { reason, kind: 'no room' };
  if (code === EIO && freeBytes(directory) < Math.max(ROOM_BYTES_MIN, bytes * 2))
    return { reason: `${reason} (a short write: the disk is full)`, kind: 'no room' };
  return { reason, kind: 'unknown' };
}

/**
 * lmdb-js rejects with "Commit failed (see commitError for details)", where `commitError` is a promise of the cause.
 */
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
