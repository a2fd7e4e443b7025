// The interface of a shard's engine towards its worker. Types only.
import type { EngineOptions as Options } from '../../engine/open.ts';
import type { CallContext, Input, LongMethod, Output, ReadMethod, RecordMethod, WriteMethod } from '../protocol.ts';

/** The engine options that cross threads by structured clone: plain data only. */
export type EngineOptions = Omit<
  Options,
  'clock' | 'log' | 'onFatal' | 'isAlone' | 'betweenGroups' | 'sealer' | 'merger'
>;

export interface EngineDoor {
  /** Answers synchronously from published state. Throws EngineError; any other error is a bug. */
  read<M extends ReadMethod>(method: M, context: CallContext, input: Input<M>): Output<M>;
  /** Answers synchronously and queues an entry for the trail. Throws as `read` does. */
  record<M extends RecordMethod>(method: M, context: CallContext, input: Input<M>): Output<M>;
  /**
   * Queues a write or starts a long call. Resolves when the result is durable and visible; rejects with EngineError.
   * The engine forms groups: writes queued during an append become the next group.
   */
  write<M extends WriteMethod | LongMethod>(method: M, context: CallContext, input: Input<M>): Promise<Output<M>>;
  /**
   * Runs maintenance for at most `budgetMs` and returns true if there is more to do. Must not be called while a write
   * is being planned.
   */
  maintain(budgetMs: number): boolean;
  /** Number of unanswered writes and long calls. */
  readonly pendingWrites: number;
  /** Seals, and brings what was sealed to the database, while calls go on. A close then takes little time. Absent where no shard moves. */
  prepareMove?(): Promise<void>;
  /** Answers pending calls, seals the tails and closes the files. */
  close(): Promise<void>;
}

/** Services of the thread that an engine runs in. */
export interface EngineThread {
  /** Called for an error outside a call that only a bug can cause; the worker then stops. */
  readonly onBug: (error: unknown) => void;
  /** True while the thread has nothing to do but a single write. */
  readonly isAlone: () => boolean;
  /** Reads what has arrived and runs it. Called between two groups of writes; absent where nothing can have arrived. */
  readonly betweenGroups?: (() => void) | undefined;
}

/** Fetches what a node needs to open a shard, while another node owns it. Rejects with EngineError. */
export type FetchShard = (options: EngineOptions) => Promise<void>;

/** Opens a shard from disk. Rejects with EngineError if that fails. */
export type OpenEngine = (options: EngineOptions, thread: EngineThread) => Promise<EngineDoor>;
