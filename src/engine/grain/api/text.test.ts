import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defined } from '../../base/defined.ts';
import { GRAIN_TYPE_NAMES } from '../grain.ts';
import { Float } from '../value.ts';
import { fromApi } from './input.ts';
import type { JsonObject } from './json-value.ts';
import { searchText, sessionOf, triple, tripleForm } from './text.ts';

const context = { nowMs: 1_800_000_000_000 };

function textOf(type: string, fields: JsonObject): string {
  return searchText(fromApi(type, fields, context));
}

test('every type has a text', () => {
  const rows: readonly (readonly [string, JsonObject, string])[] = [
    ['belief', { subject: 'Ann', relation: 'likes', object: 'tea', note: 'not this' }, 'Ann likes tea'],
    ['event', { content: 'hello', subject: 'not this' }, 'hello'],
    [
      'event',
      { content: 'Thirty days.', context: { document: { file_name: 'a.pdf', page: 3, headings: ['Work', 'Leave'] } } },
      'a.pdf Work Leave Thirty days.',
    ],
    ['event', { content: 'hello', context: { document: 'not this', place: 'nor this' } }, 'hello'],
    ['observation', { content: 'hello', context: { document: { file_name: 'not this' } } }, 'unknown agent hello'],
    [
      'event',
      {
        content_blocks: [
          { type: 'text', text: 'a' },
          { type: 'image', source: 'x' },
        ],
      },
      'a',
    ],
    ['event', { content_blocks: [], subject: 's', relation: 'r', object: 'o' }, 's r o'],
    [
      'state',
      { data: { step: 3, list: ['x', null, true], deep: { z: 1.5 }, empty: '' }, context: { not: 'this' } },
      'deep z 1.5 empty list x true step 3',
    ],
    ['workflow', { nodes: ['fetch', 'send'], trigger: 'daily', name: 'not this' }, 'daily fetch send'],
    ['workflow', { steps: ['one', 'two'], trigger: 'daily' }, 'daily one two'],
    ['action', { tool_name: 'search', input: 'not this', content: 'found' }, 'search found'],
    ['action', { tool_name: 'search', input: {}, content: { rows: [1] } }, 'search rows 1'],
    ['observation', { subject: 'door', content: 'open' }, 'unknown agent door open'],
    ['observation', { observer_id: 'cam', observer_type: 'camera', object: 'o', content: 'c' }, 'cam camera o c'],
    ['goal', { description: 'ship it', criteria: ['a', 'b'], object: 'not this' }, 'ship it a b'],
    ['reasoning', { conclusion: 'so', premises: ['p', 'q'], thinking_content: 'not this' }, 'so p q'],
    ['consensus', { agreed_content: 'yes', participating_observers: ['not'] }, 'yes'],
    ['consent', { user_id: 'u', grantee_did: 'did:g', scope: 'not' }, 'user:u grants did:g'],
    ['consent', { user_id: 'u', grantee_did: 'did:g', is_withdrawal: true }, 'user:u withdraws did:g'],
  ];
  for (const [type, fields, expected] of rows) assert.equal(textOf(type, fields), expected, type);
  assert.deepEqual(new Set(rows.map(([type]) => type)), new Set(GRAIN_TYPE_NAMES));
});

test('embedding_text replaces the text', () => {
  assert.equal(textOf('belief', { subject: 's', relation: 'r', object: 'o', embedding_text: 'instead' }), 'instead');
  assert.equal(textOf('belief', { subject: 's', relation: 'r', object: 'o', embedding_text: '' }), 's r o');
});

test('the name of a speaker is part of the words of an event, and of no other type', () => {
  assert.equal(textOf('event', { content: 'hello', speaker: 'Ann' }), 'Ann hello');
  assert.equal(textOf('event', { content: 'hello', speaker: 'Ann', embedding_text: 'instead' }), 'Ann instead');
  assert.equal(textOf('event', { content: 'hello', speaker: { name: 'Ann' } }), 'hello');
  assert.equal(textOf('goal', { description: 'd', speaker: 'Ann' }), 'd');
});

test('a map gives the same text whatever the order of its keys', () => {
  assert.equal(textOf('state', { data: { b: 1, a: 2 } }), textOf('state', { data: { a: 2, b: 1 } }));
});

test('floats and long integers of imported maps are words too', () => {
  const text = searchText({
    type: 'state',
    fields: { context: { a: new Float(2), b: 2n ** 60n, c: Buffer.from('x') } },
  });
  assert.equal(text, 'a 2 b 1152921504606846976 c');
});

test('a belief always has a triple, other types if they have a side, with the type as relation', () => {
  const rows: readonly (readonly [string, JsonObject, object])[] = [
    [
      'belief',
      { subject: ' Ann ', relation: 'likes', object: 'te\u0301' },
      { subject: 'Ann', relation: 'likes', object: 't\u00e9' },
    ],
    ['event', { content: 'c' }, {}],
    ['event', { content: 'c', relation: 'said' }, {}],
    ['event', { content: 'c', subject: 'Ann' }, { subject: 'Ann', relation: 'event' }],
    ['event', { content: 'c', object: 'tea', relation: 'said' }, { relation: 'said', object: 'tea' }],
    ['event', { content: 'c', subject: ' ', object: { a: 1 } }, {}],
    ['observation', { content: 'open', subject: 'door' }, { subject: 'door', relation: 'observation', object: 'open' }],
    ['goal', { object: 'o' }, { relation: 'goal', object: 'o' }],
  ];
  for (const [type, fields, expected] of rows)
    assert.deepEqual(defined(triple(fromApi(type, fields, context))), expected);
  assert.equal(tripleForm(' Cafe\u0301 '), 'Caf\u00e9');
});

test('the session is the one that the grain names', () => {
  assert.equal(sessionOf(fromApi('event', { content: 'c', session_id: 's1', namespace: 'n' }, context)), 's1');
  assert.equal(sessionOf(fromApi('event', { content: 'c', namespace: 's1' }, context)), undefined);
  assert.equal(sessionOf(fromApi('event', { content: 'c', session_id: '' }, context)), undefined);
});
