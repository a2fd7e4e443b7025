// The types of a call on a shard. `engine.ts` implements the calls, `transport/client.ts` carries them to a worker
// thread, and `transport/direct.ts` runs them without one. The calls and their rows are defined in engine/calls.

import {
  CALL_ROWS,
  type Input,
  type Method,
  type Output,
  type ReadMethod,
  type RecordMethod,
} from '../engine/calls/calls.ts';
import type { CallContext } from '../engine/calls/context.ts';

export {
  CALL_ROWS,
  type Input,
  type LongMethod,
  MEMORY_ROWS,
  METHODS,
  type MemoryCalls,
  type MemoryMethod,
  type Method,
  type MethodsWith,
  type Output,
  type ReadMethod,
  type RecordMethod,
  type WriteMethod,
} from '../engine/calls/calls.ts';
export type { CallContext } from '../engine/calls/context.ts';
export type { ErasureProof, RemovalPreview, RemovalTarget } from '../engine/calls/erasure.ts';
export type { ConsentItem, ConsentOutcome, PolicyChange, RetentionNamespace } from '../engine/calls/govern.ts';
export type {
  AddItem,
  AddOutcome,
  EdgeView,
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
  SessionStatistics,
  TextStatistics,
} from '../engine/calls/recall.ts';
export type { ShardHealth, ShardWideCalls, VerifyReport } from '../engine/calls/shard.ts';
export type {
  AuditCheck,
  AuditFilter,
  AuditView,
  RecallRecordContent,
  RecallRecordView,
  RecordFilter,
} from '../engine/calls/trail.ts';
export type { ConsentedUser, ConsentFact } from '../engine/govern/consent/consent.ts';
export type { JsonObject, JsonValue } from '../engine/grain/api/json-value.ts';

/** A method with its decoded input. */
export type Call<M extends Method = Method> = { [K in M]: { readonly method: K; readonly input: Input<K> } }[M];

export function isReadCall(call: Call): call is Call<ReadMethod> {
  return CALL_ROWS[call.method].kind === 'read';
}

export function isRecordCall(call: Call): call is Call<RecordMethod> {
  return CALL_ROWS[call.method].kind === 'record';
}

/** True for a call that does not join a group of writes. It may overtake writes. */
export function answersAtOnce(method: Method): boolean {
  const { kind } = CALL_ROWS[method];
  return kind === 'read' || kind === 'record';
}

/** A shard that can be called, with or without a worker thread. Rejects with EngineError. */
export interface ShardCaller {
  call<M extends Method>(method: M, context: CallContext, input: Input<M>): Promise<Output<M>>;
}
