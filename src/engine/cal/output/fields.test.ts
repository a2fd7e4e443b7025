import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../grain/api/json-value.ts';
import { GRAIN_TYPE_NAMES } from '../../grain/grain.ts';
import { TYPE_FIELDS } from '../vocabulary/fields.ts';
import { fieldValue, goalState, storedValue } from './fields.ts';
import type { CalGrain } from './grain.ts';
import { projectData } from './projection.ts';
import { EACH_TYPE, grainOf, NOW_MS } from './types.fixture.ts';

const byMark = (mark: string) => EACH_TYPE.find(({ hash }) => hash.startsWith(mark))!;

test('the examples of this folder have a grain of each type', () => {
  assert.deepEqual([...new Set(EACH_TYPE.map(({ grainType }) => grainType))], [...GRAIN_TYPE_NAMES]);
});

test('D-15: each CAL field is found under the name by which its type stores it', () => {
  const cases: [mark: string, field: string, value: unknown][] = [
    ['1', 'type', 'belief'],
    ['1', 'hash', '1'.repeat(64)],
    ['1', 'tags', ['ui', 'settings']],
    ['1', 'user_id', 'alice'],
    ['1', 'namespace', 'default'],
    ['1', 'time', NOW_MS - 30 * 3_600_000],
    ['1', 'verification_status', 'verified'],
    ['3', 'content', 'Can you pull the Q1 metrics?'],
    ['3', 'session_id', 's'],
    ['5', 'context', 'q1_review'],
    ['5', 'plan', ['outline slides', 'add velocity']],
    ['6', 'context', undefined],
    ['7', 'steps', ['retrieve', 'draft', 'send']],
    ['8', 'object', '{"deployments":47}'],
    ['8', 'action_phase', 'complete'],
    ['9', 'object', 'refused'],
    ['9', 'is_error', true],
    ['a', 'object', '21 °C'],
    ['a', 'observer', 'thermo-1'],
    ['b', 'object', 'complete Q1 review'],
    ['b', 'deadline', Date.UTC(2026, 2, 15)],
    ['c', 'reasoning_type', 'deductive'],
    ['d', 'object', 'deployments rose by 18%'],
    ['d', 'threshold', 0.67],
    ['e', 'consent_action', 'grant'],
    ['e', 'purpose', 'read dashboards'],
    ['e', 'scope', ['read dashboards']],
    ['e', 'grantor_did', 'user:alice'],
    ['f', 'consent_action', 'withdraw'],
    ['f', 'purpose', 'mail, calls'],
    ['f', 'expires_at', undefined],
  ];
  for (const [mark, field, value] of cases)
    assert.deepEqual(fieldValue(byMark(mark), field), value, `${mark} ${field}`);
});

test('a time of any type is milliseconds in CAL and a date in the output', () => {
  const noon = Date.UTC(2026, 1, 15, 12);
  const view = { level: 'standard', nowMs: NOW_MS, isoTimestamps: false } as const;
  for (const type of GRAIN_TYPE_NAMES)
    for (const { name, stored = name } of TYPE_FIELDS[type].filter((field) => field.type === 'temporal')) {
      // The end of a consent is that of its validity.
      const grain = grainWith(type, { [name === 'expires_at' ? 'valid_to' : stored]: noon / 1000 });
      assert.equal(fieldValue(grain, name), noon, `${type}: ${name}`);
      const shown = projectData(grain, { ...view, project: { content: [], attributes: [name] } });
      assert.equal(shown[name], '2026-02-15', `${type}: ${name}`);
    }
});

function grainWith(grainType: string, fields: JsonObject): CalGrain {
  return { ...byMark('1'), grainType, fields };
}

test('D-15: a phase that answers leave out is derived from kind or status', () => {
  const call = grainOf('0', 'action', { tool_name: 't', status: 'pending' });
  const definition = grainOf('0', 'action', {
    ...{ tool_name: 't', kind: 'definition', tool_description: 'd', input_schema: {} },
  });
  assert.equal(fieldValue(call, 'action_phase'), 'call');
  assert.equal(fieldValue(definition, 'action_phase'), 'definition');
});

test('D-15: both vocabularies of goal states have the same meaning', () => {
  assert.deepEqual(['completed', 'abandoned', 'blocked', 'active', 'failed'].map(goalState), [
    ...['satisfied', 'failed', 'suspended', 'active', 'failed'],
  ]);
});

test('a field of another type has no value, whatever the grain stores under that name', () => {
  const belief = grainOf('0', 'belief', { subject: 's', relation: 'r', object: 'o', role: 'user', deadline: 5 });
  for (const field of ['role', 'deadline', 'query', 'steps', 'constructor', '__proto__'])
    assert.equal(fieldValue(belief, field), undefined, field);
});

test('fields of a domain are in the context, and those of a state also in its data', () => {
  const belief = grainOf('0', 'belief', {
    subject: 's',
    relation: 'r',
    object: 'o',
    context: { 'hc:patient_id': 'P-1' },
  });
  const state = grainOf('0', 'state', { data: { 'fin:account': 7 } });
  assert.equal(fieldValue(belief, 'hc:patient_id'), 'P-1');
  assert.equal(fieldValue(state, 'fin:account'), 7);
  assert.equal(fieldValue(belief, 'hc:toString'), undefined);
});

test('a grain is contradicted when it is contested or a member of a conflict', () => {
  const fields = { subject: 's', relation: 'r', object: 'o' };
  assert.equal(fieldValue(grainOf('0', 'belief', fields), 'contradicted'), false);
  assert.equal(
    fieldValue(grainOf('0', 'belief', { ...fields, verification_status: 'contested' }), 'contradicted'),
    true,
  );
  assert.equal(fieldValue(grainOf('0', 'belief', fields, { contestedBy: ['1'.repeat(64)] }), 'contradicted'), true);
});

test('the time of a grain is its own time if it has one, in milliseconds', () => {
  const event = grainOf('0', 'event', { content: 'c', timestamp_ms: 1_234, created_at: 99 });
  assert.equal(fieldValue(event, 'time'), 1_234);
});

test('maps stay maps in data, and integers of any size are numbers in conditions', () => {
  assert.deepEqual(storedValue(byMark('8'), 'object'), { deployments: 47 });
  const large = grainOf('0', 'state', { data: { 'sci:count': 2n ** 60n } });
  assert.equal(storedValue(large, 'sci:count'), 2n ** 60n);
  assert.equal(fieldValue(large, 'sci:count'), 2 ** 60);
});
