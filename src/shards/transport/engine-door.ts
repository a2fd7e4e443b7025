// The engine as its worker sees it: the door of one shard. Types only.
import type { EngineOptions as Options } from '../../engine/engine.ts';
import type { CallContext, Input, LongMethod, Output, ReadMethod, RecordMethod, WriteMethod } from '../protocol.ts';

/** What one shard's engine is opened with, as far as it crosses threads (by structured clone): plain data only. */
export type EngineOptions = Omit<Options, 'clock' | 'log' | 'onFatal'>;

export interface EngineDoor {
  /** Answers at once from published state. Throws EngineError; anything else thrown is a bug. */
  read<M extends ReadMethod>(method: M, context: CallContext, input: Input<M>): Output<M>;
  /** Answers at once and leaves an entry for the trail. Throws as `read` does. */
  record<M extends RecordMethod>(method: M, context: CallContext, input: Input<M>): Output<M>;
  /**
   * Queues a write, or begins a long call; resolves when it is durable and visible, rejects with EngineError. The
   * engine forms the groups: what is queued while one append is in flight is the next group.
   */
  write<M extends WriteMethod | LongMethod>(method: M, context: CallContext, input: Input<M>): Promise<Output<M>>;
  /** Runs maintenance for at most `budgetMs`; true when there is more to do. Never called while a write is planned. */
  maintain(budgetMs: number): boolean;
  /** Writes and long calls that were not answered yet. */
  readonly pendingWrites: number;
  /** Answers what is pending, seals, and lets go of the files. */
  close(): Promise<void>;
}

/**
 * Opens a shard from disk. Rejects with EngineError when it cannot be opened. `onBug` is told of what only a bug can
 * cause outside a call: the worker stops then.
 */
export type OpenEngine = (options: EngineOptions, onBug: (error: unknown) => void) => Promise<EngineDoor>;
