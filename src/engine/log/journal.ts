// A journal makes appends durable before the logs' own stores have them: the write-ahead files of a worker, or a database.
import type { NumberedAppend } from './numbered-append.ts';

/** A log whose appends a journal makes durable. */
export interface CheckpointedLog {
  readonly shard: number;
  /** The number of its newest durable append. */
  readonly appends: number;
  /** The append is durable. Must not throw. */
  durable(append: NumberedAppend): void;
  /** A write of the journal to its disk, with its sync, took so long. Each is reported to one of the logs in it. */
  synced(seconds: number): void;
  /** Writes every append that is durable now to the log's own store. Rejects with EngineError. */
  checkpoint(): Promise<void>;
}

export interface Journal {
  /** The reason why appends are refused until the logs are opened again, or undefined. */
  readonly poisoned: string | undefined;
  /** Why a recent append found no room. */
  readonly refusing: string | undefined;
  /** As of a log. */
  readonly lapsed?: string | undefined;
  attach(log: CheckpointedLog): void;
  /**
   * Resolves when the append is durable, after `log.durable(append)`. Rejects with STO-E001. The journal calls the log's
   * `checkpoint` from time to time.
   */
  write(log: CheckpointedLog, append: NumberedAppend): Promise<void>;
  /** Throws STO-E001 and refuses all later appends when the journal belongs to somebody else. */
  checkOwner(): void;
  /**
   * Removes every copy of what was appended before: when it resolves, the logs' own stores are all that holds it. Rejects
   * with EngineError. Absent when the journal keeps nothing of its own.
   */
  scrub?(): Promise<void>;
  /** The log's own store takes nothing any more until the log is opened again. Must not throw. Absent where nobody opens it again. */
  storeFailed?(reason: string): void;
  /** The log begins to close, and waits for the append in flight: the journal must settle it soon. Absent when it always does. */
  closing?(): void;
  /** Call when the log's own store holds all of its appends (`isSettled`), or never will. */
  detach(log: CheckpointedLog, isSettled: boolean): Promise<void>;
}
