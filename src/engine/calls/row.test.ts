// A row that lacks one of its properties, and a call that lacks its row, do not compile: `tsc` reports a line below that does.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ACCESS_ROWS } from './access.ts';
import { AGENT_ROWS } from './agents.ts';
import { CAL_ROWS } from './cal.ts';
import { CALL_ROWS, MEMORY_ROWS } from './calls.ts';
import { COMPLIANCE_ROWS } from './compliance.ts';
import { ERASURE_ROWS } from './erasure.ts';
import { EVENT_ROWS } from './events.ts';
import { GOAL_ROWS } from './goals.ts';
import { GOVERN_ROWS } from './govern.ts';
import { GRAIN_ROWS } from './grain.ts';
import { MEMORY_WIDE_ROWS } from './memory.ts';
import { METRIC_ROWS } from './metrics.ts';
import { RECALL_ROWS } from './recall.ts';
import type { RowsOf, ShardRowsOf } from './row.ts';
import { SESSION_ROWS } from './session.ts';
import { SHARD_ROWS } from './shard.ts';
import { TRAIL_ROWS } from './trail.ts';
import { TURN_ROWS } from './turns.ts';

interface Calls {
  look: { input: { hash: string }; output: { found: boolean } };
  put: { input: { hash: string }; output: Record<never, never> };
}
type LookRow = RowsOf<Calls>['look'];
type PutRow = RowsOf<Calls>['put'];
type ShardRow = ShardRowsOf<Calls>['look'];

const LOOK = {
  kind: 'read',
  trail: 'nothing',
  refusal: 'each',
  gather: 'holder',
  governed: 'reads',
  access: 'viewer',
} as const;
const SCAN = {
  kind: 'long',
  changes: 'nothing',
  refusal: 'first',
  gather: 'own',
  governed: 'reads',
  access: 'viewer',
} as const;
const PUT = {
  kind: 'write',
  by: 'plan',
  changes: 'grains',
  retry: 'keyed',
  gather: 'each',
  governed: 'writes',
  access: 'editor',
} as const;
const NOTE = {
  kind: 'record',
  changes: 'trail',
  retry: 'again',
  gather: 'own',
  governed: 'writes',
  access: 'editor',
} as const;

/** `whole` without one of its properties. */
function without<T extends object, P extends keyof T>(whole: T, property: P): Omit<T, P> {
  const { [property]: _, ...rest } = whole;
  return rest;
}

test('a complete row compiles', () => {
  const rows: readonly (LookRow | PutRow)[] = [LOOK, SCAN, PUT, NOTE];
  assert.deepEqual(
    rows.map(({ kind }) => kind),
    ['read', 'long', 'write', 'record'],
  );
});

test('a row without one of its properties does not compile', () => {
  const reads: LookRow[] = [
    // @ts-expect-error: how is it answered?
    without(LOOK, 'kind'),
    // @ts-expect-error: what does an answer leave in the trail?
    without(LOOK, 'trail'),
    // @ts-expect-error: which partition notes a refusal?
    without(LOOK, 'refusal'),
    // @ts-expect-error: how do partitions answer together?
    without(LOOK, 'gather'),
    // @ts-expect-error: what governs it?
    without(LOOK, 'governed'),
    // @ts-expect-error: which relation does its caller need?
    without(LOOK, 'access'),
    // @ts-expect-error: what does it change?
    without(SCAN, 'changes'),
    // @ts-expect-error: which partition notes a refusal of a long read?
    without(SCAN, 'refusal'),
  ];
  const writes: PutRow[] = [
    // @ts-expect-error: is it one plan?
    without(PUT, 'by'),
    // @ts-expect-error: what does it change?
    without(PUT, 'changes'),
    // @ts-expect-error: what does sending it again do, and does the idempotency key go along?
    without(PUT, 'retry'),
    // @ts-expect-error: how do partitions answer together?
    without(PUT, 'gather'),
    // @ts-expect-error: what governs it?
    without(PUT, 'governed'),
    // @ts-expect-error: what does sending it again do?
    without(NOTE, 'retry'),
  ];
  const long: ShardRow[] = [
    // @ts-expect-error: what does sending it again do?
    { kind: 'long', changes: 'files' },
  ];
  assert.ok(reads.every((row) => Object.keys(row).length === 5));
  assert.ok(writes.every((row) => Object.keys(row).length < Object.keys(PUT).length));
  assert.equal(long.length, 1);
});

test('a row that contradicts itself does not compile', () => {
  const rows: LookRow[] = [
    // @ts-expect-error: a read changes nothing that a write is refused for
    { ...LOOK, governed: 'writes' },
    // @ts-expect-error: what every partition answers has to be put together
    { ...LOOK, gather: 'each' },
    // @ts-expect-error: a record is not a read
    { ...NOTE, kind: 'read' },
  ];
  assert.equal(rows.length, 3);
});

test('a call without its row does not compile', () => {
  // @ts-expect-error: `put` has no row
  const rows: RowsOf<Calls> = { look: LOOK };
  assert.deepEqual(Object.keys(rows), ['look']);
});

test('no two groups of calls share a call name', () => {
  const groups = [
    MEMORY_WIDE_ROWS,
    GRAIN_ROWS,
    ERASURE_ROWS,
    RECALL_ROWS,
    CAL_ROWS,
    SESSION_ROWS,
    GOAL_ROWS,
    GOVERN_ROWS,
    ACCESS_ROWS,
    AGENT_ROWS,
    TURN_ROWS,
    TRAIL_ROWS,
    EVENT_ROWS,
    COMPLIANCE_ROWS,
    METRIC_ROWS,
  ];
  const names = groups.flatMap((group) => Object.keys(group));
  assert.deepEqual(Object.keys(MEMORY_ROWS), names);
  assert.deepEqual(Object.keys(CALL_ROWS), [...names, ...Object.keys(SHARD_ROWS)]);
  assert.equal(new Set(Object.keys(CALL_ROWS)).size, names.length + Object.keys(SHARD_ROWS).length);
});

test('exactly these calls accept an idempotency key', () => {
  const keyed = Object.entries(MEMORY_ROWS).flatMap(([method, row]) =>
    'retry' in row && row.retry === 'keyed' ? [method] : [],
  );
  assert.deepEqual(keyed.sort(), [
    'accumulate',
    'add',
    'addBatch',
    'beginTurn',
    'changeGoal',
    'consent',
    'deactivateAgent',
    'eraseScope',
    'eraseUser',
    'forget',
    'grantTuple',
    'importBlobs',
    'registerAgent',
    'restrict',
    'resumeTurn',
    'revokeTuple',
    'supersede',
  ]);
});
