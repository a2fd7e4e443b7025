// The context of an operation: caller, memory, and the parts of the server that it may use.
import type { Clock } from '../engine/base/clock.ts';
import type { KeyFiles } from '../engine/keys/key-files.ts';
import type { CallContext, Input, MemoryCalls, Output } from '../shards/protocol.ts';
import type { RawReply } from '../shards/transport/codec.ts';
import type { Turns } from '../shards/turns.ts';
import type { Principal, Scope } from './auth/principal.ts';
import type { CalGate } from './cal-gate.ts';
import type { Chats } from './chat/chats.ts';
import type { Config } from './config.ts';
import type { Keys } from './control/keys.ts';
import type { Memories, MemoryRecord } from './control/memories.ts';
import type { ControlStore } from './control/store.ts';
import type { Documents } from './documents/documents.ts';
import type { VectorsSetup } from './embedding/egress.ts';
import type { Embedders } from './embedding/embedders.ts';
import type { IndexWaits } from './embedding/index-waits.ts';
import type { QueryVectors } from './embedding/query-vector.ts';
import type { EventBells } from './events/bells.ts';
import type { EventHub } from './events/hub.ts';
import type { HarnessTurns } from './harness/turns/turn-service.ts';
import type { Deliveries } from './hooks/deliveries.ts';
import type { Hooks } from './hooks/hooks.ts';
import type { ImportJobs } from './imports/import-jobs.ts';
import type { ProgressStreams } from './imports/streams.ts';
import type { Erasures } from './jobs/erasures.ts';
import type { Extractions } from './jobs/extractions.ts';
import type { ImportedFile } from './jobs/read-import.ts';
import type { TextOutcome, TextTask } from './jobs/read-text.ts';
import type { MasterKeys } from './master-keys.ts';
import type { Metering } from './metering/metering.ts';
import type { HasGrants } from './models/egress.ts';
import type { ExtractionModels } from './models/extraction/extractor.ts';
import type { LanguageModels } from './models/language.ts';
import type { LocalReranker } from './models/local-reranker.ts';
import type { ModelLists } from './models/model-lists.ts';
import type { RecallModels } from './models/models.ts';
import type { Outgoing } from './models/outgoing.ts';
import type { Providers } from './models/providers.ts';
import type { Monitor } from './monitor/monitor.ts';
import type { CursorSeal } from './operations/cursor-seal.ts';
import type { UnknownMember } from './operations/unknown-members.ts';
import type { ProofKeys } from './proofs/proof-keys.ts';
import type { QueryMode } from './query-mode.ts';
import type { FirstChange } from './replies.ts';
import type { Shards } from './shards.ts';
import type { PdfReports } from './subject-requests/report/pdf-reports.ts';
import type { SubjectRequests } from './subject-requests/requests.ts';

/** The parts of a running server. main.ts makes them once. */
export interface Services {
  readonly config: Config;
  readonly clock: Clock;
  readonly shards: Shards;
  readonly control: ControlStore;
  readonly memories: Memories;
  readonly keys: Keys;
  /** Erasures, with the work that continues after the answer. */
  readonly erasures: Pick<Erasures, 'user' | 'scope' | 'isPending'>;
  /** Requests of data subjects. */
  readonly subjectRequests: SubjectRequests;
  /** The keys that sign proofs of erasures. */
  readonly proofKeys: ProofKeys;
  readonly keyFiles: KeyFiles;
  readonly masterKeys: Pick<MasterKeys, 'current' | 'rotate' | 'whileStill'>;
  /** When this process started to serve, in milliseconds since 1970. */
  readonly startedAtMs: number;
  /** Reads a .mg file or a single blob; large ones in another thread. Throws FMT-E001, FMT-E003. */
  readonly readImport: (bytes: Uint8Array) => Promise<ImportedFile>;
  /** Reads the facts or the first date from a text, in a separate thread. Rejects with LIM-E001, SYS-E005, SYS-E001. */
  readonly readText: (task: TextTask) => Promise<TextOutcome>;
  /** Reads uploaded documents, in separate threads. */
  readonly documents: Pick<Documents, 'text' | 'chunks'>;
  /** Writes reports as PDF, in a separate thread. Rejects with LIM-E001, LIM-E003, SYS-E005, SYS-E001. */
  readonly pdfs: Pick<PdfReports, 'write'>;
  /** Extractions that run after the answer. */
  readonly extractions: Pick<Extractions, 'reserve' | 'markerOf' | 'clear' | 'backlogOf'>;
  /** The deployment's limits for CAL, apart from those of each query. */
  readonly cal: CalGate;
  /** Embedders for texts. */
  readonly embedders: Pick<Embedders, 'of' | 'ready' | 'has' | 'status' | 'check' | 'nameOf'>;
  /** The default backend of vectors, and where the backend `remote` sends texts. */
  readonly vectorsSetup: () => VectorsSetup;
  /** Vectors of questions. */
  readonly queryVectors: Pick<QueryVectors, 'of' | 'isSettled'>;
  /** Reads that wait for vectors. */
  readonly indexWaits: Pick<IndexWaits, 'wait'>;
  /** Tells which memories have new events. */
  readonly eventBells: EventBells;
  /** Streams of events. */
  readonly events: EventHub;
  /** Chat turns under way. */
  readonly chats: Chats;
  /** Imports of documents that continue after their answer. */
  readonly imports: ImportJobs;
  /** Streams of their progress. */
  readonly progress: ProgressStreams;
  /** The hooks of all memories. */
  readonly hooks: Hooks;
  /** The deliveries of webhooks. */
  readonly deliveries: Deliveries;
  /** Notices bursts of removals, refusals, exports and failed keys. */
  readonly monitor: Monitor;
  /** Metrics of memories, computed on demand. */
  readonly metering: Metering;
  /** Providers of models, and the models of the roles. */
  readonly providers: Providers;
  /** Language models, one step at a time. They decide which texts of a memory may leave. */
  readonly models: LanguageModels;
  /** Whether persons let their texts cross a border. */
  readonly hasGrants: HasGrants;
  /** The models of each provider. */
  readonly modelLists: ModelLists;
  /** HTTP requests to providers. */
  readonly outgoing: Outgoing;
  /** Models that extract facts. */
  readonly extractionModels: ExtractionModels;
  /** Models for recall. */
  readonly recallModels: RecallModels;
  /** The model of this process that orders hits. */
  readonly localReranker: LocalReranker;
  /** Turns of harnesses, and how their tools run. */
  readonly turns: HarnessTurns;
  /** Changes of harness definitions: those of one harness take turns. */
  readonly harnessChanges: Turns;
  /** Seals cursors, so that they reveal nothing about other callers' data. */
  readonly cursors: CursorSeal;
  /** The HTTP listener in use, which may differ from the requested one. */
  readonly httpListener: () => string;
  /** The gRPC listener in use; on a shared port it is always `node`. */
  readonly grpcListener: () => string;
  /** The gRPC port; undefined before the server listens. */
  readonly grpcPort: () => number | undefined;
  /** Why disks reject writes; empty when all accept them. */
  readonly disks: () => readonly string[];
  /** True during shutdown; health reports it. */
  readonly isEnding: () => boolean;
}

/** Members of a shard call's context that an operation may set per call. */
export type CallExtras = Partial<Pick<CallContext, 'reason' | 'purpose' | 'idempotency' | 'deadlineMs'>>;

export interface Context {
  readonly services: Services;
  readonly principal: Principal;
  readonly requestId: string;
  readonly deadlineMs: number;
  readonly reason: string | undefined;
  /** The purpose of processing (`x-purpose`); absent: the default. */
  readonly purpose?: string | undefined;
  /** Bindings of the key, narrowed by headers: the call reads and writes only within them. */
  readonly namespace: string | undefined;
  readonly userId: string | undefined;
  readonly idempotency: { readonly key: string; readonly bodyHash: string } | undefined;
  /** True when unknown members are errors (`x-strict`). */
  readonly strict: boolean;
  /** True on a node that answers by a copy of the control log. */
  readonly isOnCopy?: boolean | undefined;
  /** True for a dry run (`x-dry-run`). */
  readonly dryRun: boolean;
  /** Maximum wait for indexes in ms (`x-wait-for-index-ms`); undefined: no wait. */
  readonly waitForIndexMs: number | undefined;
  /** How a recall reads operators (`x-query-mode`); undefined: as its body says. */
  readonly queryMode: QueryMode | undefined;
  /** Request members that the operation does not know. The answer already reports them. */
  readonly unknown: UnknownMember[];
  /** Warnings of the answer besides those in its output. Operations add to them. */
  readonly warnings: string[];
  /** The memory of the call; asserts that there is one. */
  readonly memory: MemoryRecord;
  /** Makes one shard call on that memory. */
  call<M extends keyof MemoryCalls>(method: M, input: Input<M>, extras?: CallExtras): Promise<Output<M>>;
  /** The same for a changing call in bytes: `codec` is the number of what reads them (operations/codecs.ts). */
  callRaw(codec: number, bytes: Uint8Array, extras?: CallExtras): Promise<RawReply>;
  /**
   * Runs a change of that memory whose shard calls store no answer. A repeated idempotency key returns the first
   * output. Work that makes something in the control log keeps it by `first`.
   */
  once<T>(work: (first: FirstChange) => Promise<T>): Promise<T>;
  /** Throws AUT-E001 unless the caller also has this scope. */
  require(scope: Scope): void;
}
