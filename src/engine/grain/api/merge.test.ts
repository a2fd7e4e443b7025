import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError } from '../../base/errors.ts';
import { fromApi } from './input.ts';
import type { JsonObject } from './json-value.ts';
import { accumulateFields, supersedeFields } from './merge.ts';
import { toApi } from './output.ts';

const nowMs = 1_800_000_000_000;
const A = 'a'.repeat(64);

function grainOf(type: string, fields: JsonObject) {
  return fromApi(type, fields, { nowMs });
}

/** The answer of the next version. */
function superseded(type: string, fields: JsonObject, input: JsonObject, grainType?: string): JsonObject {
  const next = supersedeFields(grainOf(type, fields), input, grainType);
  return toApi(fromApi(next.grainType, next.fields, { nowMs: nowMs + 5_000 }));
}

function refuses(code: string, act: () => unknown): void {
  assert.throws(act, (error) => error instanceof EngineError && error.code === code);
}

const BELIEF = { subject: 's', relation: 'r', object: 'o' };

test('fields that are not sent carry over, except the time and the sources', () => {
  const old = { ...BELIEF, confidence: 0.5, tags: ['t'], colour: 'red', category: 'c', user_id: 'u', namespace: 'n' };
  const next = superseded(
    'belief',
    { ...old, created_at: 5, derived_from: A, related_to: [A], supersession_justification: 'x' },
    { object: 'new' },
  );
  assert.deepEqual(next, {
    ...old,
    object: 'new',
    related_to: [{ hash: A, relation_type: 'related' }],
    created_at: 1_800_000_005,
    source_type: 'user',
    temporal_type: 'state',
  });
});

test('defaults of an answer are not stored in the next blob', () => {
  const { fields } = supersedeFields(grainOf('event', { content: 'c' }), { content: 'd' }, undefined);
  assert.deepEqual(fields, { content: 'd', namespace: 'default' });
});

test('null drops a field, and a dropped required field is reported as missing', () => {
  assert.equal(
    superseded('belief', { ...BELIEF, confidence: 0.5, colour: 'red' }, { confidence: null })['confidence'],
    1,
  );
  assert.equal(superseded('belief', { ...BELIEF, colour: 'red' }, { colour: null })['colour'], undefined);
  assert.throws(() => superseded('belief', BELIEF, { subject: null }), /VAL-E003: missing field `subject`/);
  assert.equal(superseded('belief', BELIEF, { colour: null })['colour'], undefined);
});

test('aliases of a field replace it', () => {
  assert.deepEqual(superseded('belief', { ...BELIEF, tags: ['a'] }, { structural_tags: ['b'] })['tags'], ['b']);
  assert.deepEqual(superseded('belief', BELIEF, { structural_tags: ['b'], tags: ['c'] })['tags'], ['c']);
  assert.equal(superseded('action', { input: 'i', content: 'a' }, { output: 'b' })['content'], 'b');
  assert.deepEqual(superseded('state', { data: { a: 1 } }, { context_data: { b: 2 } })['data'], { b: 2 });
});

test('the type is that of the old version', () => {
  assert.equal(supersedeFields(grainOf('belief', BELIEF), {}, 'fact').grainType, 'belief');
  assert.equal(supersedeFields(grainOf('belief', BELIEF), {}, '').grainType, 'belief');
  refuses('VAL-E001', () => supersedeFields(grainOf('belief', BELIEF), {}, 'event'));
  refuses('VAL-E001', () => supersedeFields(grainOf('belief', BELIEF), {}, 'nothing'));
});

test('a state changes key by key, or as a whole by data', () => {
  const old: JsonObject = { data: { a: 1, b: 2 }, label: 'x', context: { c: 1 } };
  const grain = grainOf('state', old);
  const next = superseded('state', old, { b: 3, c: 4, label: 'y', a: null, tags: ['t'] });
  assert.deepEqual(
    [next['data'], next['label'], next['tags'], next['context']],
    [{ b: 3, c: 4 }, 'y', ['t'], { c: 1 }],
  );
  assert.deepEqual(superseded('state', old, { data: { z: 1 }, extra: 1 })['data'], { z: 1 });
  assert.deepEqual(toApi(grain)['data'], { a: 1, b: 2 }, 'the old version is untouched');
});

test('an observed value is replaced under either of its names', () => {
  for (const sent of [{ content: 'new' }, { object: 'new' }] as JsonObject[]) {
    const next = superseded('observation', { content: 'old' }, sent);
    assert.deepEqual([next['content'], next['object']], ['new', 'new']);
  }
  const both = superseded('observation', { content: 'words', object: 'thing' }, { object: 'other' });
  assert.deepEqual([both['content'], both['object']], ['words', 'other']);
  assert.equal(superseded('observation', { content: 'old' }, { subject: 's' })['content'], 'old');
});

test('a pending action is completed by its outcome', () => {
  const next = superseded(
    'action',
    { tool_name: 't', input: 'i', status: 'pending' },
    { status: 'completed', content: 'done' },
  );
  assert.deepEqual(
    [next['status'], next['content'], next['is_error'], next['action_phase']],
    ['completed', 'done', false, undefined],
  );
});

test('a threshold follows the observers', () => {
  const old = grainOf('consensus', { participating_observers: ['a', 'b'], threshold: 0.5 });
  const next = supersedeFields(old, { participating_observers: ['a', 'b', 'c', 'd'] }, undefined);
  assert.equal(fromApi(next.grainType, next.fields, { nowMs }).fields['threshold'], 2);
});

test('accumulate adds, starts missing fields at 0, and sets', () => {
  const old = grainOf('belief', { ...BELIEF, visits: 3, score: 0.5, big: 2n ** 60n });
  const deltas = { visits: 2, score: -0.25, fresh: 7, big: 1, confidence: -0.25 };
  const { grainType, fields, applied } = accumulateFields(old, deltas, { mood: 'good' });
  assert.deepEqual(applied, [
    { field: 'visits', old: 3, new: 5 },
    { field: 'score', old: 0.5, new: 0.25 },
    { field: 'fresh', old: 0, new: 7 },
    { field: 'big', old: 2n ** 60n, new: 2n ** 60n + 1n },
    { field: 'confidence', old: 1, new: 0.75 },
  ]);
  const answer = toApi(fromApi(grainType, fields, { nowMs }));
  assert.deepEqual([answer['visits'], answer['fresh'], answer['mood'], answer['confidence']], [5, 7, 'good', 0.75]);
});

test('accumulate reaches the keys of a state', () => {
  const old = grainOf('state', { data: { hits: 1, name: 'x' }, rank: 5 });
  const { fields, applied } = accumulateFields(old, { hits: 2, misses: 1, rank: 1, importance: 0.5 }, {});
  assert.deepEqual(fields['data'], { hits: 3, misses: 1, name: 'x' });
  assert.deepEqual([fields['rank'], fields['importance']], [6, 0.5]);
  assert.deepEqual(
    applied.map(({ field }) => field),
    ['hits', 'misses', 'rank', 'importance'],
  );
  refuses('VAL-E001', () => accumulateFields(old, { name: 1 }, {}));
  const set: JsonObject = { data: { hits: 10 } };
  assert.deepEqual(accumulateFields(old, { hits: 1 }, set).fields['data'], { hits: 11 });
  assert.deepEqual(set, { data: { hits: 10 } }, 'the request is untouched');
});

test('accumulate refuses values that are not numbers and results out of range', () => {
  const old = grainOf('belief', { ...BELIEF, n: Number.MAX_SAFE_INTEGER, x: Number.MAX_VALUE, big: 2n ** 60n });
  refuses('VAL-E001', () => accumulateFields(old, { subject: 1 }, {}));
  refuses('VAL-E001', () => accumulateFields(old, { tags: 1, structural_tags: 1 }, { tags: [] }));
  refuses('VAL-E001', () => accumulateFields(old, { n: 1 }, {}));
  refuses('VAL-E001', () => accumulateFields(old, { x: Number.MAX_VALUE }, {}));
  refuses('VAL-E001', () => accumulateFields(old, { fresh: Number.NaN }, {}));
  refuses('VAL-E001', () => accumulateFields(old, { fresh: Number.POSITIVE_INFINITY }, {}));
  refuses('VAL-E001', () => accumulateFields(old, { big: 0.5 }, {}));
  refuses('VAL-E001', () => accumulateFields(old, { created_at: 1 }, {}));
  refuses('VAL-E001', () => accumulateFields(old, { n: -1 }, { n: 5 }));
  refuses('VAL-E003', () => accumulateFields(old, JSON.parse('{"n":"1"}'), {}));
  assert.equal(accumulateFields(old, { n: -1 }, {}).fields['n'], Number.MAX_SAFE_INTEGER - 1);
});

test('deltas with the names of Object.prototype members are fields', () => {
  const { applied, fields } = accumulateFields(
    grainOf('belief', BELIEF),
    JSON.parse('{"__proto__":1,"constructor":2}'),
    {},
  );
  assert.deepEqual(
    applied.map(({ new: after }) => after),
    [1, 2],
  );
  assert.equal(Object.getOwnPropertyDescriptor(fields, '__proto__')?.value, 1);
});
