// All calls on a shard, with one row for each.

import { ACCESS_ROWS, type AccessCalls } from './access.ts';
import { AGENT_ROWS, type AgentCalls } from './agents.ts';
import { CAL_ROWS, type CalCalls } from './cal.ts';
import { COMPLIANCE_ROWS, type ComplianceCalls } from './compliance.ts';
import { ERASURE_ROWS, type ErasureCalls } from './erasure.ts';
import { EVENT_ROWS, type EventCalls } from './events.ts';
import { GOAL_ROWS, type GoalCalls } from './goals.ts';
import { GOVERN_ROWS, type GovernCalls } from './govern.ts';
import { GRAIN_ROWS, type GrainCalls } from './grain.ts';
import { MEMORY_WIDE_ROWS, type MemoryWideCalls } from './memory.ts';
import { METRIC_ROWS, type MetricCalls } from './metrics.ts';
import { RECALL_ROWS, type RecallCalls } from './recall.ts';
import type { Kind, RowsOf } from './row.ts';
import { SESSION_ROWS, type SessionCalls } from './session.ts';
import { SHARD_ROWS, type ShardWideCalls } from './shard.ts';
import { TRAIL_ROWS, type TrailCalls } from './trail.ts';
import { TURN_ROWS, type TurnCalls } from './turns.ts';

/** The calls on one memory's partition in one shard. */
export interface MemoryCalls
  extends MemoryWideCalls,
    GrainCalls,
    ErasureCalls,
    RecallCalls,
    CalCalls,
    SessionCalls,
    GoalCalls,
    GovernCalls,
    AccessCalls,
    AgentCalls,
    TurnCalls,
    TrailCalls,
    EventCalls,
    ComplianceCalls,
    MetricCalls {}

export interface ShardCalls extends MemoryCalls, ShardWideCalls {}

export const MEMORY_ROWS = {
  ...MEMORY_WIDE_ROWS,
  ...GRAIN_ROWS,
  ...ERASURE_ROWS,
  ...RECALL_ROWS,
  ...CAL_ROWS,
  ...SESSION_ROWS,
  ...GOAL_ROWS,
  ...GOVERN_ROWS,
  ...ACCESS_ROWS,
  ...AGENT_ROWS,
  ...TURN_ROWS,
  ...TRAIL_ROWS,
  ...EVENT_ROWS,
  ...COMPLIANCE_ROWS,
  ...METRIC_ROWS,
} satisfies RowsOf<MemoryCalls>;

/** The order gives each call its number in batches between threads. These numbers never reach the disk. */
export const CALL_ROWS = { ...MEMORY_ROWS, ...SHARD_ROWS };

export type Method = keyof ShardCalls;
export type Input<M extends Method> = ShardCalls[M]['input'];
export type Output<M extends Method> = ShardCalls[M]['output'];

export type MemoryMethod = keyof MemoryCalls;

/** The calls whose row has the value `V` in property `P`. */
export type MethodsWith<P extends string, V> = {
  [M in Method]: (typeof CALL_ROWS)[M] extends { readonly [K in P]: V } ? M : never;
}[Method];

type OfKind<K extends Kind> = MethodsWith<'kind', K>;
export type ReadMethod = OfKind<'read'>;
export type RecordMethod = OfKind<'record'>;
export type WriteMethod = OfKind<'write'>;
export type LongMethod = OfKind<'long'>;
/** Writes that are one plan in the queue. */
export type PlannedMethod = MethodsWith<'by', 'plan'>;

// The type of `Object.keys` is string[]; the table's keys are the methods.
export const METHODS = Object.keys(CALL_ROWS) as readonly Method[];
