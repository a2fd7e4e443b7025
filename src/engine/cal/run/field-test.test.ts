import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FieldTest } from '../../calls/cal.ts';
import type { JsonObject } from '../../grain/api/json-value.ts';
import type { CalGrain } from '../output/grain.ts';
import { passes } from './field-test.ts';

const grain = (fields: JsonObject, grainType = 'belief'): CalGrain => ({
  hash: 'ab'.repeat(32),
  grainType,
  fields,
  createdAtMs: 1_000,
  namespace: 'n',
  score: 0.5,
});

const BELIEF = grain({ subject: ' Zoë ', object: 'x', confidence: 0.5, tags: ['a', 'b'], importance: null });

test('section 5.5: a field that is missing or null fails every operator but EXCLUDE', () => {
  const operators: readonly FieldTest[] = [
    { field: 'importance', op: '=', value: 1 },
    { field: 'importance', op: '!=', value: 1 },
    { field: 'importance', op: '<', value: 2 },
    { field: 'importance', op: 'in', values: [1] },
    { field: 'importance', op: 'between', low: 0, high: 9 },
    { field: 'importance', op: 'present' },
    { field: 'source_type', op: 'include', values: ['a'] },
  ];
  for (const one of operators) assert.equal(passes(BELIEF, one), false, one.op);
  assert.equal(passes(BELIEF, { field: 'source_type', op: 'exclude', values: ['a'] }), true);
});

test('a list of values is read once, however many grains are tested', () => {
  let reads = 0;
  const values = new Proxy(
    Array.from({ length: 500 }, (_, i) => `s${i}`),
    {
      get: (list, name) => {
        if (typeof name === 'string' && /^\d+$/.test(name)) reads += 1;
        return Reflect.get(list, name) as unknown;
      },
    },
  );
  for (const op of ['in', 'not_in'] as const)
    for (let i = 0; i < 600; i++) {
      const isIn = passes(grain({ subject: ` s${i}` }), { field: 'subject', op, values });
      assert.equal(isIn, i < 500 ? op === 'in' : op === 'not_in', `${op} ${i}`);
    }
  assert.ok(reads <= 500, `${reads} reads`);
  const ofNumbers: FieldTest = { field: 'confidence', op: 'in', values: [0, true, '0.5', 0.25] };
  assert.equal(passes(grain({ confidence: -0 }), ofNumbers), true);
  assert.equal(passes(grain({ confidence: 0.5 }), ofNumbers), false);
  assert.equal(passes(grain({ tags: ['a', 's3'] }), { field: 'tags', op: 'in', values }), true);
});

test('numbers compare as doubles, texts by code points in NFC, with the sides of a triple trimmed', () => {
  const holds: readonly FieldTest[] = [
    { field: 'confidence', op: '>=', value: 0.5 },
    { field: 'confidence', op: '<=', value: 0.5 },
    { field: 'confidence', op: '!=', value: 0.25 },
    { field: 'subject', op: '=', value: 'Zoe\u0308' },
    { field: 'subject', op: '!=', value: 'zoë' },
    { field: 'subject', op: 'in', values: ['x', 'Zoë'] },
    { field: 'tags', op: 'include', values: ['b', 'a'] },
    { field: 'tags', op: 'exclude', values: ['c'] },
    { field: 'score', op: '>=', value: 0.5 },
    { field: 'time', op: 'between', low: 1_000, high: 1_000 },
    { field: 'hash', op: '=', value: `sha256:${'AB'.repeat(32)}` },
  ];
  for (const one of holds) assert.ok(passes(BELIEF, one), JSON.stringify(one));
  const fails: readonly FieldTest[] = [
    { field: 'confidence', op: '>', value: 0.5 },
    { field: 'confidence', op: '<', value: 0.5 },
    { field: 'confidence', op: '=', value: '0.5' },
    { field: 'tags', op: 'include', values: ['a', 'c'] },
    { field: 'tags', op: 'exclude', values: ['c', 'a'] },
    { field: 'subject', op: 'in', values: [] },
    { field: 'time', op: 'between', low: 1_001, high: 999 },
  ];
  for (const one of fails) assert.ok(!passes(BELIEF, one), JSON.stringify(one));
});

test('D-15: both vocabularies of goal states have the same meaning', () => {
  for (const [stored, asked] of [
    ['satisfied', 'completed'],
    ['completed', 'satisfied'],
    ['failed', 'abandoned'],
    ['suspended', 'blocked'],
  ] as const) {
    const goal = grain({ goal_state: stored }, 'goal');
    assert.ok(passes(goal, { field: 'goal_state', op: '=', value: asked }), asked);
    assert.ok(!passes(goal, { field: 'goal_state', op: '!=', value: asked }), asked);
    assert.ok(!passes(goal, { field: 'goal_state', op: '=', value: 'active' }));
  }
});

test('a list matches if one of its members does', () => {
  const consent = grain({ scope: ['analytics', 'marketing'] }, 'consent');
  assert.ok(passes(consent, { field: 'scope', op: '=', value: 'marketing' }));
  assert.ok(!passes(consent, { field: 'scope', op: '=', value: 'analytics, marketing' }));
});
