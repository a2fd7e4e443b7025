// What an operation gets beside its input: who asks, of which memory, and the parts of the server that it may use.
import type { Clock } from '../engine/base/clock.ts';
import type { CallContext, Input, MemoryCalls, Output } from '../shards/protocol.ts';
import type { Principal, Scope } from './auth/principal.ts';
import type { CalGate } from './cal-gate.ts';
import type { Config } from './config.ts';
import type { Keys } from './control/keys.ts';
import type { Memories, MemoryRecord } from './control/memories.ts';
import type { ControlStore } from './control/store.ts';
import type { Embedders } from './embedding/embedders.ts';
import type { IndexWaits } from './embedding/index-waits.ts';
import type { QueryVectors } from './embedding/query-vector.ts';
import type { Erasures } from './jobs/erasures.ts';
import type { Extractions } from './jobs/extractions.ts';
import type { ImportedFile } from './jobs/read-import.ts';
import type { TextOutcome, TextTask } from './jobs/read-text.ts';
import type { MasterKeys } from './master-keys.ts';
import type { RecallModels } from './models/models.ts';
import type { CursorSeal } from './operations/cursor-seal.ts';
import type { UnknownMember } from './operations/unknown-members.ts';
import type { Shards } from './shards.ts';

/** The parts of a running server. Made once in main.ts. */
export interface Services {
  readonly config: Config;
  readonly clock: Clock;
  readonly shards: Shards;
  readonly control: ControlStore;
  readonly memories: Memories;
  readonly keys: Keys;
  /** Erasures, and the rest of each after its answer. */
  readonly erasures: Pick<Erasures, 'user' | 'scope'>;
  readonly masterKeys: Pick<MasterKeys, 'current' | 'rotate' | 'whileStill'>;
  /** Milliseconds since 1970 at which this process began to serve. */
  readonly startedAtMs: number;
  /** Reads a .mg file or a single blob, off this thread when it is large. Throws FMT-E001, FMT-E003. */
  readonly readImport: (bytes: Uint8Array) => Promise<ImportedFile>;
  /** Reads the facts or the first date in a text, in a thread of its own. Rejects with LIM-E001, SYS-E005, SYS-E001. */
  readonly readText: (task: TextTask) => Promise<TextOutcome>;
  /** What is extracted after the answer. */
  readonly extractions: Pick<Extractions, 'reserve' | 'markerOf' | 'clear'>;
  /** What CAL may do here, beside what each query may. */
  readonly cal: CalGate;
  /** What makes vectors of texts. */
  readonly embedders: Pick<Embedders, 'of' | 'status' | 'check' | 'nameOf'>;
  /** What makes the vectors of questions. */
  readonly queryVectors: Pick<QueryVectors, 'of' | 'isSettled'>;
  /** Reads that wait for vectors. */
  readonly indexWaits: Pick<IndexWaits, 'wait'>;
  /** What a recall may ask of models. */
  readonly models: RecallModels;
  /** Cursors that tell nothing of what others do. */
  readonly cursors: CursorSeal;
  /** The HTTP listener in use, which may be another than asked for. */
  readonly httpListener: () => string;
  /** The port of gRPC; undefined before it listens. */
  readonly grpcPort: () => number | undefined;
  /** Why disks take no writes; empty when all do. */
  readonly disks: () => readonly string[];
  /** True when the server is shutting down: health says so. */
  readonly isEnding: () => boolean;
}

/** Members of a shard call's context that an operation may set for one call. */
export type CallExtras = Partial<Pick<CallContext, 'reason' | 'purpose' | 'idempotency' | 'deadlineMs'>>;

export interface Context {
  readonly services: Services;
  readonly principal: Principal;
  readonly requestId: string;
  readonly deadlineMs: number;
  readonly reason: string | undefined;
  /** Where the call may look and write: what its key is bound to, narrowed by headers. */
  readonly namespace: string | undefined;
  readonly userId: string | undefined;
  readonly idempotency: { readonly key: string; readonly bodyHash: string } | undefined;
  /** True when the caller wants no unknown member passed over (`x-strict`). */
  readonly strict: boolean;
  /** True when the caller wants to know what the call would do (`x-dry-run`). */
  readonly dryRun: boolean;
  /** How long the call is to wait for indexes (`x-wait-for-index-ms`); undefined: not at all. */
  readonly waitForIndexMs: number | undefined;
  /** What the request brought beside what its row knows; they are told already. */
  readonly unknown: UnknownMember[];
  /** Warnings of the answer beside those in its output. Operations add to them. */
  readonly told: string[];
  /** The memory that the call is about; asserts that it is about one. */
  readonly memory: MemoryRecord;
  /** One call on that memory. */
  call<M extends keyof MemoryCalls>(method: M, input: Input<M>, extras?: CallExtras): Promise<Output<M>>;
  /**
   * Runs a change of that memory whose shard calls keep no answer of their own: with an idempotency key once, and its
   * output is answered again.
   */
  once<T>(work: () => Promise<T>): Promise<T>;
  /** Throws AUT-E001 unless the caller has this scope too. */
  require(scope: Scope): void;
}
