import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeGrain, encodeGrain } from '../codec/blob.ts';
import type { GrainType } from '../grain.ts';
import { Float, type ValueMap } from '../value.ts';
import { fromApi } from './input.ts';
import { stringifyJson } from './json.ts';
import { type GrainFields, storedFields, toApi } from './output.ts';

const A = 'a'.repeat(64);
const B = 'b'.repeat(64);

/** A foreign grain with only the fields that the format requires. */
function imported(type: GrainType, fields: ValueMap, typeString: string = type): GrainFields {
  return decodeGrain(encodeGrain(typeString, { created_at: 1_700_000_000_999, ...fields }).blob);
}

test('defaults that the blob lacks are filled in, and only in the answer', () => {
  const grain = imported('event', { content: 'c' });
  assert.deepEqual(toApi(grain), {
    content: 'c',
    created_at: 1_700_000_000,
    confidence: 1,
    tags: [],
    source_type: 'user',
    temporal_type: 'event',
  });
  assert.deepEqual(storedFields(grain), { content: 'c', created_at: 1_700_000_000 });
});

test('times of imported grains are whole seconds, rounded down', () => {
  const grain = imported('event', { content: 'c', valid_from: -1, valid_to: 1999 });
  assert.equal(toApi(grain)['valid_from'], -1);
  assert.equal(toApi(grain)['valid_to'], 1);
});

test('floats are numbers, bytes are base64, long integers keep their digits', () => {
  const grain = imported('event', {
    content: 'c',
    ratio: new Float(2),
    deep: [{ ratio: new Float(3) }],
    big: 2n ** 60n,
    trusted_timestamp: { tsp_response: Buffer.from('xyz'), tsa_uri: 'u' },
  });
  const answer = toApi(grain);
  assert.equal(answer['ratio'], 2);
  assert.deepEqual(answer['deep'], [{ ratio: 3 }]);
  assert.deepEqual(answer['trusted_timestamp'], { tsp_response: 'eHl6', tsa_uri: 'u' });
  assert.ok(stringifyJson(answer).includes('"big":1152921504606846976'));
  assert.deepEqual(fromApi('event', answer, { nowMs: 2e12 }).fields['trusted_timestamp'], {
    tsp_response: Buffer.from('xyz'),
    tsa_uri: 'u',
  });
});

test('the link to the previous version is not among the sources', () => {
  const grain = (sources: string[]): GrainFields => ({ type: 'event', fields: { derived_from: sources } });
  assert.equal(toApi(grain([A]))['derived_from'], A);
  assert.equal(toApi(grain([A]), { predecessor: A })['derived_from'], undefined);
  assert.equal(toApi(grain([A, B]), { predecessor: B })['derived_from'], A);
  assert.deepEqual(toApi(grain([]))['derived_from'], []);
});

test('actions whose type is the string tool are answered with the name of their phase', () => {
  const tool = imported('action', { tool_phase: 'call', tool_name: 't', input: {} }, 'tool');
  assert.equal(toApi(tool)['action_phase'], 'call');
  assert.equal(toApi(tool)['tool_phase'], undefined);
});

test('a foreign threshold is answered as the ratio that it amounts to', () => {
  const consensus = (threshold: number) =>
    imported('consensus', {
      participating_observers: ['a', 'b', 'c'],
      threshold,
      agreement_count: 0,
      dissent_count: 0,
    });
  assert.equal(toApi(consensus(2))['threshold'], 2 / 3);
  assert.equal(fromApi('consensus', toApi(consensus(2)), { nowMs: 2e12 }).fields['threshold'], 2);
  assert.equal(toApi(consensus(4))['threshold'], 4);
});

test('a priority outside the four words is answered as its number', () => {
  const goal = imported('goal', { description: 'd', goal_state: 'active', priority: 9 });
  assert.equal(toApi(goal)['priority'], 9);
});

test('kept extra fields yield to existing fields, and need not be a map', () => {
  const grain = (extras: ValueMap[string]): GrainFields => ({
    type: 'event',
    fields: { role: 'user', extra_fields: extras },
  });
  assert.deepEqual(storedFields(grain({ role: 'x', type: 'y' })), { role: 'user', type: 'y' });
  assert.deepEqual(storedFields(grain('text')), { role: 'user', extra_fields: 'text' });
});
