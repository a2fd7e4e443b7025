// The log: records in, the same records back, in order. It knows no grains. LMDB is the first store behind this
// interface (lmdb/); a second one would have to keep what the comments promise.
import { EngineError } from '../base/errors.ts';

/** Place of a record in the log, from 1, ascending, never reused. Below 2^32: it is also a grain's ordinal. */
export type Sequence = number;

export interface Append {
  /** Records in order; the i-th gets sequence `log.nextSequence + i`, where nextSequence is that before the append. */
  readonly records: readonly Uint8Array[];
  /** Records that take the place of one that is there, in the same transaction: its sequence stays. */
  readonly replacements?: readonly (readonly [sequence: Sequence, bytes: Uint8Array])[];
  /** Sequences whose values are deleted in the same transaction; they stay as gaps. */
  readonly removals?: readonly Sequence[];
  /** Small key-value state, changed in the same transaction; null deletes. Keys are ASCII, at most 200 bytes. */
  readonly state?: readonly (readonly [key: string, value: Uint8Array | null])[];
}

export interface LogRecord {
  readonly sequence: Sequence;
  /** A copy owned by the caller, checksum already checked and taken off. */
  readonly bytes: Uint8Array;
}

export interface Log {
  /** The sequence that the next record will get. Known before an append, so a plan can refer to its own records. */
  readonly nextSequence: Sequence;
  /**
   * Writes all of `append` or nothing, in one transaction with fsync; resolves when it is durable, with the sequence
   * of the first record. One append may be in flight at a time (asserted). Rejects with EngineError STO-E001 when the
   * store has no room or refuses: nothing was written, the log goes on. After a failed *sync*, and when another process
   * has written to the log, it is poisoned: every later append rejects with STO-E001 until it is reopened; reads go on.
   */
  append(append: Append): Promise<Sequence>;
  /**
   * For what reaches the disk beside an append, as keys do: throws STO-E001, and poisons the log, when another process has written
   * to it since. Every append asks the same in its transaction. Absent where nobody else could write.
   */
  checkOwner?(): void;
  /** False where `append` takes no other record in the place of this one (asserted). Absent: any that is there may be replaced. */
  mayReplace?(sequence: Sequence): boolean;
  /** The record's bytes, or undefined for a gap or a sequence never written. Throws CorruptRecord when the checksum fails. */
  read(sequence: Sequence): Uint8Array | undefined;
  /**
   * What `look` makes of a record's bytes, unchecked and uncopied: for what damage does not hurt. They are the store's own, and
   * hold until `look` returns; what stands behind the record is not its. Without it `read` serves.
   */
  peek?<T>(sequence: Sequence, look: (bytes: Buffer) => T): T | undefined;
  /** Records with from <= sequence < to (default: all), in order, gaps left out. A corrupt one is yielded as an Error. */
  scan(from: Sequence, to?: Sequence): IterableIterator<LogRecord | CorruptRecord>;
  /** A value of the state, or undefined. The bytes are the caller's. */
  getState(key: string): Uint8Array | undefined;
  /** State entries whose key begins with `prefix`, in key order. */
  scanState(prefix: string): IterableIterator<readonly [key: string, value: Uint8Array]>;
  /** Reason why appends are refused, or undefined. */
  readonly poisoned: string | undefined;
  /** Why an append of late found no room, until there is room or a large one is taken; absent where that cannot happen. */
  readonly refusing?: string | undefined;
  /**
   * Looks through the store's own files, in steps, while appends go on. Returns what is wrong, in words: then nothing
   * should be asked of it any more. Absent where there is nothing beneath the records to look at.
   */
  checkFiles?(): Generator<void, string | undefined, void>;
  /** Bytes that the store takes on disk. */
  bytesOnDisk(): number;
  /** Writes a consistent copy of the store into `directory` (made by the caller, empty) while appends go on. */
  backup(directory: string): Promise<void>;
  close(): Promise<void>;
}

/** A storage error of whoever asked for what the record holds, not a bug. */
export class CorruptRecord extends EngineError {
  override name = 'CorruptRecord';
  readonly sequence: Sequence;
  constructor(sequence: Sequence, reason: string) {
    super('STO-E001', `log record ${sequence}: ${reason}`);
    this.sequence = sequence;
  }
}
