// All shards of a server, wherever their engines run: in worker threads (pool.ts) or in the thread that calls (local.ts).
import type { RawShardCaller } from './client.ts';

export interface ShardSet {
  readonly shards: number;
  /** A caller for this shard index. It stays valid when the shard's thread restarts. */
  caller(shard: number): RawShardCaller;
  /**
   * Opens a shard that is not open. Rejects with EngineError: STO-E002 while another node holds it, or when its thread ends
   * meanwhile.
   */
  open(shard: number): Promise<void>;
  /**
   * Answers the calls that have left for a shard, and closes it. Later ones, and those of this turn of the event loop, reject
   * with STO-E002. Rejects with EngineError.
   */
  closeShard(shard: number): Promise<void>;
  /** Fetches what this node needs to open a shard soon, while another node has it. Rejects with EngineError. */
  fetch(shard: number): Promise<void>;
  /** Seals an open shard and brings it to the database, so that it is closed in little time. Calls go on. Rejects with EngineError. */
  prepare(shard: number): Promise<void>;
  /** False when the shard was never opened, was closed, or its thread ended and left its opening to the caller. */
  isOpen(shard: number): boolean;
  /** Sends the calls of this turn of the event loop to their threads now: no more of them gather. */
  flush(): void;
  health(): readonly WorkerHealth[];
  loads(): readonly WorkerLoad[];
  /** Refuses new calls and waits for pending ones. False if some are still pending after `deadlineMs` milliseconds. */
  drain(deadlineMs: number): Promise<boolean>;
  /** Lets the engines answer queued calls, seal and close. Ends what takes longer than `deadlineMs`. */
  close(deadlineMs?: number): Promise<void>;
}

/** The same set, whose calls go through `callers`, by shard. */
export function calledBy(set: ShardSet, callers: readonly RawShardCaller[]): ShardSet {
  return {
    shards: set.shards,
    caller: (shard) => callers[shard]!,
    open: (shard) => set.open(shard),
    closeShard: (shard) => set.closeShard(shard),
    fetch: (shard) => set.fetch(shard),
    prepare: (shard) => set.prepare(shard),
    isOpen: (shard) => set.isOpen(shard),
    flush: () => set.flush(),
    health: () => set.health(),
    loads: () => set.loads(),
    drain: (deadlineMs) => set.drain(deadlineMs),
    close: (deadlineMs) => set.close(deadlineMs),
  };
}

/** The server of a number of shards: a worker thread, or the calling thread. */
export interface WorkerHealth {
  readonly worker: number;
  readonly shards: readonly number[];
  readonly state: WorkerState;
  /** Number of restarts. */
  readonly restarts: number;
  readonly pendingItems: number;
  readonly pendingBytes: number;
  /** For each shard, the calls since the start that were refused because too much was pending. */
  readonly refused: readonly { readonly shard: number; readonly calls: number }[];
  /** Why the worker is not serving. */
  readonly reason?: string | undefined;
}
export type WorkerState = 'starting' | 'serving' | 'down' | 'closed';

/** Time that a worker has spent so far, in milliseconds. It begins anew when the worker restarts. */
export interface WorkerLoad {
  /** Its event loop was not idle; 0 if it is the calling thread. */
  readonly activeMs: number;
  /** Calls were under way that somebody asked. */
  readonly askedMs: number;
}

/** Options of both kinds of sets. */
export interface OpeningOptions {
  /**
   * `all`: every shard is open from the start, and again when its thread was restarted. `asked`: only those that `open` was
   * called for, since that thread began. Default: all.
   */
  readonly opens?: 'all' | 'asked' | undefined;
  /** Why the shard may not answer at the moment, asked before each answer; undefined while it may. Default: it may. */
  readonly lapsed?: ((shard: number) => string | undefined) | undefined;
}

/** The log of a set of shards; pino's fits. */
export interface ShardSetLog {
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Waits for `clients` without pending calls, at most `deadlineMs`. False if some are left. */
export async function drained(clients: readonly { drained(): Promise<void> }[], deadlineMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), deadlineMs);
  });
  const all = Promise.all(clients.map((client) => client.drained())).then(() => true);
  const inTime = await Promise.race([all, late]);
  clearTimeout(timer);
  return inTime;
}
