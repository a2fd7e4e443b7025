import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GrainType } from '../grain/grain.ts';
import type { ValueMap } from '../grain/value.ts';
import { fieldKey } from '../index/parts/part.ts';
import { actionNumbers, callKeys, errorOf, OUTCOMES, priorityRank } from './action-numbers.ts';

const memory = { numberOf: (text: string) => text.length };
const numbersOf = (fields: ValueMap, type: GrainType = 'action') => actionNumbers(memory, { type, fields });

const outcomes: readonly (readonly [string, ValueMap, number | undefined])[] = [
  ['a whole call', { tool_name: 'a' }, OUTCOMES.succeeded],
  ['a failed call', { tool_name: 'a', is_error: true }, OUTCOMES.failed],
  ['a call that has not ended', { tool_name: 'a', action_phase: 'call' }, OUTCOMES.called],
  ['a result', { tool_name: 'a', action_phase: 'result' }, OUTCOMES.returned],
  ['a failed result', { tool_name: 'a', action_phase: 'result', is_error: true }, OUTCOMES.raised],
  ['a definition', { tool_name: 'a', action_phase: 'definition' }, undefined],
];
for (const [what, fields, outcome] of outcomes)
  test(`the outcome of ${what}`, () => {
    assert.equal(numbersOf(fields).outcome, outcome);
    assert.equal(numbersOf(fields).tool, outcome === undefined ? undefined : 1);
  });

test('only actions have outcomes, and only failed ones an error', () => {
  assert.deepEqual(numbersOf({ tool_name: 'abc', duration_ms: 12, error: 'ignored' }), {
    outcome: OUTCOMES.succeeded,
    tool: 3,
    durationMs: 12,
  });
  assert.equal(numbersOf({ is_error: true, error: 'timed out' }).error, 'timed out'.length);
  assert.deepEqual(numbersOf({ content: 'x', duration_ms: 1 }, 'event'), {});
});

test('a failed action says why in the first field that has a text', () => {
  const said = (fields: Record<string, unknown>): string => errorOf((name) => fields[name]);
  assert.equal(said({ error: ' disk full ', content: 'x' }), 'disk full');
  assert.equal(said({ error: '', failure_cause: 'timeout' }), 'timeout');
  assert.equal(said({ content: { code: 1 } }), 'unknown');
  assert.equal(said({ content: 'y'.repeat(900) }).length, 200);
});

test('the rank of a priority is that of its word, and medium for everything else', () => {
  const rank = (fields: ValueMap) => priorityRank({ type: 'goal', fields }).priority;
  assert.deepEqual([rank({ priority: 1 }), rank({ priority: 4 }), rank({ priority: 9 }), rank({})], [1, 4, 3, 3]);
  assert.deepEqual(priorityRank({ type: 'belief', fields: { priority: 1 } }), {});
});

test('an action is found by its task and by its call', () => {
  assert.deepEqual(callKeys({ type: 'action', fields: { parent_task_id: 't', tool_call_id: 'c' } }), [
    fieldKey('parent_task_id', 't'),
    fieldKey('tool_call_id', 'c'),
  ]);
  assert.deepEqual(callKeys({ type: 'action', fields: { tool_call_id: '' } }), []);
  assert.deepEqual(callKeys({ type: 'event', fields: { tool_call_id: 'c' } }), []);
});
