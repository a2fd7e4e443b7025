// The interface of the log: an ordered store of records that knows nothing of grains. LMDB implements it (lmdb/). A
// second implementation must keep the promises in these comments.
import { EngineError } from '../base/errors.ts';

/** The position of a record: ascending from 1, never reused, below 2^32 because it is also a grain's ordinal. */
export type Sequence = number;

export interface Append {
  /**
   * Records in order. The i-th gets the sequence number `log.nextSequence + i`, with nextSequence before the append.
   */
  readonly records: readonly Uint8Array[];
  /** Records that replace existing ones in the same transaction and keep their sequence numbers. */
  readonly replacements?: readonly (readonly [sequence: Sequence, bytes: Uint8Array])[] | undefined;
  /** Sequence numbers whose records are deleted in the same transaction. They remain as gaps. */
  readonly removals?: readonly Sequence[] | undefined;
  /** Small key-value state, changed in the same transaction; null deletes. Keys are ASCII, at most 200 bytes. */
  readonly state?: readonly (readonly [key: string, value: Uint8Array | null])[] | undefined;
  /**
   * Slots of a key store, written in the same transaction, by key id. Only for a log that keeps them (asserted): others
   * leave keys to their own files.
   */
  readonly keySlots?: readonly (readonly [id: number, slot: Uint8Array])[] | undefined;
}

export interface LogRecord {
  readonly sequence: Sequence;
  /** A copy that the caller owns, with the checksum verified and removed. */
  readonly bytes: Uint8Array;
}

export interface Log {
  /**
   * The sequence number that the next record will get. A plan needs it before the append to refer to its own records.
   */
  readonly nextSequence: Sequence;
  /**
   * Writes all of `append` or nothing, in one transaction with fsync. Resolves when it is durable, with the sequence
   * number of the first record. One append may be in flight at a time (asserted). Rejects with EngineError STO-E001
   * when the store has no room or refuses: nothing was written, and the log still accepts appends. After a failed write or *sync*, or
   * when another process has written to the log, the log is poisoned: every later append rejects with STO-E001 until it is
   * reopened, while reads continue. After a failed write or sync, the append that failed may be there then.
   */
  append(append: Append): Promise<Sequence>;
  /**
   * Throws STO-E001 and poisons the log when another process has written to it. For callers that write outside of an
   * append, as key stores do; each append checks it in its transaction. Absent when no other process could write.
   */
  checkOwner?(): void;
  /** False when `append` may not replace this record (asserted). Absent: every existing record can be replaced. */
  mayReplace?(sequence: Sequence): boolean;
  /**
   * The record's bytes, or undefined for a gap or a sequence number that was never written. Throws CorruptRecord when
   * the checksum is wrong.
   */
  read(sequence: Sequence): Uint8Array | undefined;
  /**
   * Calls `look` with a record's bytes, unverified and uncopied, for reads that tolerate damage. The buffer is the
   * store's and is valid until `look` returns; the bytes behind the record do not belong to it. Where absent, use
   * `read`.
   */
  peek?<T>(sequence: Sequence, look: (bytes: Buffer) => T): T | undefined;
  /**
   * The records with from <= sequence < to (default: all), in order, without gaps. A corrupt record is yielded as an
   * Error.
   */
  scan(from: Sequence, to?: Sequence): IterableIterator<LogRecord | CorruptRecord>;
  /** A value of the state, or undefined. The caller owns the bytes. */
  getState(key: string): Uint8Array | undefined;
  /** State entries whose key begins with `prefix`, in key order. */
  scanState(prefix: string): IterableIterator<readonly [key: string, value: Uint8Array]>;
  /**
   * Tells of each sync that made appends durable. Logs share syncs, and each is reported to one of them. Absent when the log
   * is durable in another way.
   */
  watchSyncs?(watch: (seconds: number) => void): void;
  /** The reason why appends are refused, or undefined. */
  readonly poisoned: string | undefined;
  /**
   * Why a recent append found no room. Cleared when there is room again or a large append succeeds. Absent when that
   * cannot happen.
   */
  readonly refusing?: string | undefined;
  /**
   * Checks the store's own files, in steps, while appends continue. Returns a description of the damage; the store must
   * not be used after that. Absent when the store has no structure beneath the records.
   */
  checkFiles?(): Generator<void, string | undefined, void>;
  /**
   * Removes every copy of replaced and removed values, and of their keys, that the log keeps outside of its store. Rejects
   * with EngineError STO-E001. Absent when there are none.
   */
  scrub?(): Promise<void>;
  /** Why the log's files are not to be believed: something that was read of them was damaged. Absent or undefined while nothing was. */
  readonly damaged?: string | undefined;
  /**
   * Why nothing may be read or written at the moment: another node may have the log by now. Absent or undefined while this
   * node has it.
   */
  readonly lapsed?: string | undefined;
  /**
   * The log is about to be closed: an append whose outcome is unknown is given up soon. Absent when every append settles by
   * itself.
   */
  closing?(): void;
  /** Bytes of the store on disk. */
  bytesOnDisk(): number;
  /** Writes a consistent copy of the store into `directory` (created by the caller, empty) while appends continue. */
  backup(directory: string): Promise<void>;
  close(): Promise<void>;
}

/** A storage error for the caller that asked for the record, not a bug. */
export class CorruptRecord extends EngineError {
  override name = 'CorruptRecord';
  readonly sequence: Sequence;
  constructor(sequence: Sequence, reason: string) {
    super('STO-E001', `log record ${sequence}: ${reason}`);
    this.sequence = sequence;
  }
}
