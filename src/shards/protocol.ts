// What can be asked of a shard: one typed map. `engine.ts` implements it, `client.ts` carries it to a worker thread,
// `direct.ts` without one. The calls themselves are the engine's (calls.ts).
import type { CallContext, MemoryCalls, ShardWideCalls } from '../engine/calls.ts';
import type { WireError } from '../engine/errors.ts';

export type {
  Accumulated,
  AddItem,
  AddOutcome,
  AuditCheck,
  CallContext,
  Candidate,
  ErasureProof,
  ExportedGrain,
  GrainFilter,
  GrainView,
  JsonObject,
  JsonValue,
  MemoryCalls,
  MemorySettings,
  MemoryStatistics,
  RecallHit,
  RecallQuery,
  ShardHealth,
  ShardWideCalls,
  TextStatistics,
  VerifyFinding,
  VerifyReport,
  VersionView,
} from '../engine/calls.ts';

export interface ShardCalls extends MemoryCalls, ShardWideCalls {}
export type Method = keyof ShardCalls;
export type Input<M extends Method> = ShardCalls[M]['input'];
export type Output<M extends Method> = ShardCalls[M]['output'];

export type Outcome<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: WireError };

/** What `direct.ts` and `client.ts` both are: a shard that can be called. Rejects with EngineError. */
export interface ShardCaller {
  call<M extends Method>(method: M, context: CallContext, input: Input<M>): Promise<Output<M>>;
}
