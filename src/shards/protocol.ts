// What can be asked of a shard: one typed map. `engine.ts` implements it, `shards/transport/client.ts` carries it to a worker thread,
// `shards/transport/direct.ts` without one. The calls themselves are the engine's (calls.ts).

import type { MemoryCalls } from '../engine/calls/calls.ts';
import type { CallContext } from '../engine/calls/context.ts';
import type { ShardWideCalls } from '../engine/calls/shard.ts';

export type { MemoryCalls } from '../engine/calls/calls.ts';
export type { CallContext } from '../engine/calls/context.ts';
export type { ErasureProof, RemovalPreview, RemovalTarget } from '../engine/calls/erasure.ts';
export type { ConsentItem, ConsentOutcome, PolicyChange, RetentionNamespace } from '../engine/calls/govern.ts';
export type {
  AddItem,
  AddOutcome,
  ExportedGrain,
  ExtractedFrom,
  GrainFilter,
  GrainView,
  KnownFact,
  ManifestEntry,
  RefusedEntry,
} from '../engine/calls/grain.ts';
export type { MemorySettings, MemoryStatistics } from '../engine/calls/memory.ts';
export type {
  Candidate,
  CensusMetadata,
  EmbedderStamp,
  ExhaustiveMetadata,
  RecallHit,
  RecallOptions,
  RecallQuery,
  TextStatistics,
} from '../engine/calls/recall.ts';
export type { ShardHealth, ShardWideCalls, VerifyReport } from '../engine/calls/shard.ts';
export type {
  AuditCheck,
  AuditFilter,
  AuditView,
  RecallAccount,
  RecallRecordView,
  RecordFilter,
} from '../engine/calls/trail.ts';
export type { ConsentFact } from '../engine/govern/consent/consent.ts';
export type { JsonObject, JsonValue } from '../engine/grain/api/json-value.ts';

export interface ShardCalls extends MemoryCalls, ShardWideCalls {}
export type Method = keyof ShardCalls;
export type Input<M extends Method> = ShardCalls[M]['input'];
export type Output<M extends Method> = ShardCalls[M]['output'];

/**
 * How a shard answers a method. `read`: at once, from published state. `write`: joins a group, answered when it is
 * durable and visible. `long`: takes its own time beside the groups (slices), answered by a promise too. `host`: by the
 * worker itself, no engine sees it. A method that is missing here does not compile; the order gives the numbers that
 * methods have in a batch (never on disk).
 */
export const METHOD_KINDS = {
  attachMemory: 'write',
  dropMemory: 'write',
  claim: 'write',
  add: 'write',
  addBatch: 'write',
  importBlobs: 'write',
  get: 'read',
  getRaw: 'read',
  locate: 'read',
  list: 'read',
  recallStatistics: 'read',
  recallCandidates: 'read',
  fetch: 'read',
  recall: 'read',
  namespaces: 'read',
  cal: 'read',
  calRead: 'read',
  calScan: 'long',
  supersede: 'write',
  accumulate: 'write',
  forget: 'write',
  eraseUser: 'write',
  eraseScope: 'write',
  redactUser: 'write',
  previewRemoval: 'write',
  history: 'read',
  flush: 'long',
  statistics: 'read',
  users: 'long',
  statisticsHistory: 'read',
  verifyAudit: 'long',
  compliance: 'long',
  rebuildIndexes: 'long',
  compact: 'long',
  rotateKeys: 'write',
  note: 'write',
  policy: 'read',
  simulatePolicy: 'read',
  policyImpact: 'long',
  setPolicy: 'write',
  restrict: 'write',
  restrictions: 'read',
  consent: 'write',
  consentFacts: 'write',
  consents: 'read',
  retentionStatus: 'long',
  enforceRetention: 'long',
  exportPage: 'long',
  health: 'read',
  verify: 'long',
  backup: 'long',
  rewrapKeys: 'long',
  embedPages: 'read',
  keepVectors: 'write',
  fault: 'host',
  vectorState: 'read',
  vectorLag: 'read',
  alike: 'read',
  meanings: 'read',
  auditPage: 'long',
  keepRecall: 'read',
  grainNames: 'read',
  grainHashes: 'read',
  recallRecords: 'long',
  recallRecord: 'long',
  recallTotals: 'long',
  personPage: 'long',
  knownFacts: 'read',
} as const satisfies Record<Method, 'read' | 'write' | 'long' | 'host'>;

type MethodOf<K> = { [M in Method]: (typeof METHOD_KINDS)[M] extends K ? M : never }[Method];
export type ReadMethod = MethodOf<'read'>;
export type WriteMethod = MethodOf<'write'>;
export type LongMethod = MethodOf<'long'>;

// Object.keys of the table above: its keys are the methods, which the type of `keys` forgets.
const METHODS = Object.keys(METHOD_KINDS) as Method[];
const ofKind = <M extends Method>(kind: 'read' | 'write' | 'long'): ReadonlySet<M> =>
  new Set(METHODS.filter((method): method is M => METHOD_KINDS[method] === kind));

export const READ_METHODS: ReadonlySet<ReadMethod> = ofKind<ReadMethod>('read');
export const WRITE_METHODS: ReadonlySet<WriteMethod> = ofKind<WriteMethod>('write');
export const LONG_METHODS: ReadonlySet<LongMethod> = ofKind<LongMethod>('long');
export { METHODS };

/** A method with its input, as decoded from bytes. */
export type Call<M extends Method = Method> = { [K in M]: { readonly method: K; readonly input: Input<K> } }[M];

export function isReadCall(call: Call): call is Call<ReadMethod> {
  return isRead(call.method);
}

/** True for what is answered at once from published state. */
export function isRead(method: Method): method is ReadMethod {
  return METHOD_KINDS[method] === 'read';
}

/** What `shards/transport/direct.ts` and `shards/transport/client.ts` both are: a shard that can be called. Rejects with EngineError. */
export interface ShardCaller {
  call<M extends Method>(method: M, context: CallContext, input: Input<M>): Promise<Output<M>>;
}
