import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError } from '../../base/errors.ts';
import { GRAIN_DEPTH_MAX, GRAIN_FIELDS_MAX } from '../../base/limits.ts';
import { encodeGrain } from '../codec/blob.ts';
import type { Value } from '../value.ts';
import { type ApiContext, fromApi } from './input.ts';
import { parseJson } from './json.ts';
import type { JsonObject, JsonValue } from './json-value.ts';
import { toApi } from './output.ts';

const nowMs = 1_800_000_000_123;
const A = 'a'.repeat(64);
const B = 'b'.repeat(64);
const ZEROS = '0'.repeat(64);

const MINIMAL: Record<string, JsonObject> = {
  belief: { subject: 's', relation: 'r', object: 'o' },
  event: { content: 'c' },
  state: { data: {} },
  workflow: { nodes: ['a', 'b'] },
  action: { input: 'i' },
  observation: { content: 'seen' },
  goal: { description: 'd' },
  reasoning: {},
  consensus: {},
  consent: { user_id: 'alice' },
};

function take(type: string, fields: JsonObject, context: Partial<ApiContext> = {}) {
  const grain = fromApi(type, { ...MINIMAL[type], ...fields }, { nowMs, ...context });
  encodeGrain(grain.type, grain.fields); // an accepted input can be encoded
  return grain;
}

/** Type, fields sent, resulting fields of the grain (`undefined`: absent), fields of the answer. */
type Row = readonly [string, JsonObject, Record<string, Value | undefined>, JsonObject?];

function nested(depth: number): JsonValue {
  let value: JsonValue = 'leaf';
  for (let level = 1; level < depth; level++) value = { a: value };
  return value;
}

const ROWS: Record<string, readonly Row[]> = {
  'seconds become milliseconds': [
    ['belief', { created_at: 1_700_000_000 }, { created_at: 1_700_000_000_000 }, { created_at: 1_700_000_000 }],
    ['belief', {}, { created_at: nowMs }, { created_at: 1_800_000_000 }],
    ['belief', { created_at: null }, { created_at: nowMs }],
    ['belief', { created_at: 1_800_000_300 }, { created_at: 1_800_000_300_000 }],
    [
      'belief',
      { valid_from: -86_400, valid_to: 1 },
      { valid_from: -86_400_000, valid_to: 1000 },
      { valid_from: -86_400 },
    ],
    ['goal', { deadline: 1_900_000_000 }, { deadline: 1_900_000_000_000 }, { deadline: 1_900_000_000 }],
    ['event', { timestamp_ms: 1_700_000_000_123 }, { timestamp_ms: 1_700_000_000_123 }],
    ['action', { duration_ms: 12 }, { duration_ms: 12 }],
    ['belief', { expires_at: 1_900_000_000 }, { expires_at: 1_900_000_000 }, { expires_at: 1_900_000_000 }],
    [
      'belief',
      { invalidation_policy: { mode: 'timed', locked_until: 1_900_000_000, fallback_mode: 'open' } },
      { invalidation_policy: { mode: 'timed', locked_until: 1_900_000_000, fallback_mode: 'open' } },
    ],
  ],
  'names and fills of every type': [
    [
      'belief',
      { tags: ['b', 'a', 'b'] },
      { structural_tags: ['b', 'a', 'b'], tags: undefined },
      { tags: ['b', 'a', 'b'] },
    ],
    ['belief', { structural_tags: ['x'] }, { structural_tags: ['x'] }, { tags: ['x'] }],
    ['belief', { structural_tags: ['x'], tags: ['y'] }, { structural_tags: ['y'] }],
    [
      'belief',
      {},
      { structural_tags: undefined, source_type: undefined, temporal_type: undefined, importance: undefined },
    ],
    ['belief', {}, { confidence: 1, namespace: 'default' }, { confidence: 1, namespace: 'default' }],
    ['event', {}, { confidence: undefined }, { confidence: 1, tags: [], source_type: 'user', temporal_type: 'event' }],
    ['goal', {}, {}, { temporal_type: 'state' }],
    ['event', { confidence: 0.5, importance: 1 }, { confidence: 0.5, importance: 1 }],
    ['belief', { namespace: '', user_id: '' }, { namespace: 'default', user_id: undefined }],
    ['belief', { namespace: 'a/b', user_id: 'u' }, { namespace: 'a/b', user_id: 'u' }],
    ['belief', { source_type: 'anything' }, { source_type: 'anything' }],
    ['belief', { derived_from: A }, { derived_from: [A] }, { derived_from: A }],
    ['belief', { derived_from: [A, B] }, { derived_from: [A, B] }, { derived_from: [A, B] }],
    ['belief', { related_to: [A] }, { related_to: [{ hash: A, relation_type: 'related' }] }],
    ['belief', { related_to: A }, { related_to: [{ hash: A, relation_type: 'related' }] }],
    [
      'belief',
      { related_to: [{ hash: A, relation_type: 'causal', weight: 1, why: 'x' }] },
      { related_to: [{ hash: A, relation_type: 'causal', weight: 1, why: 'x' }] },
    ],
    ['belief', { verification_status: 'verified' }, { verification_status: undefined }],
    [
      'belief',
      { superseded_by: A, access_count: 3, last_accessed_at: 1, system_valid_to: 2 },
      { superseded_by: undefined },
    ],
    ['belief', { processing_basis: 'contract' }, { processing_basis: 'contract' }],
    ['belief', { context: { a: null, b: [null, 1] } }, { context: { b: [null, 1] } }],
    [
      'belief',
      { subject: 'e\u0301', context: { 'e\u0301': 'e\u0301' } },
      { subject: '\u00e9', context: { '\u00e9': '\u00e9' } },
    ],
    ['belief', { _disclosure_of: `sha256:${A}` }, { _disclosure_of: A }],
    ['event', { random_seed: 2n ** 62n }, { random_seed: 2n ** 62n }, { random_seed: 2n ** 62n }],
    [
      'belief',
      { content_refs: [{ uri: 'u', modality: 'image' }] },
      { content_refs: [{ uri: 'u', modality: 'image' }] },
    ],
    [
      'belief',
      { content_refs: [{ url: 'u' }] },
      { content_refs: undefined, extra_fields: { content_refs: [{ url: 'u' }] } },
      { content_refs: [{ url: 'u' }] },
    ],
    ['belief', { _elided: { user_id: `sha256:${A}` } }, { _elided: { user_id: `sha256:${A}` } }],
  ],
  'extra fields': [
    [
      'belief',
      { colour: { deep: [1, 2.5, null] } },
      { colour: { deep: [1, 2.5, null] } },
      { colour: { deep: [1, 2.5, null] } },
    ],
    ['belief', { mood: null }, { mood: undefined }],
    ['event', { speaker: 'Ann' }, { speaker: 'Ann' }],
    [
      'belief',
      { category: 'food', plan: 'pro' },
      { extra_fields: { category: 'food', plan: 'pro' } },
      { category: 'food' },
    ],
    ['belief', { category: 7 }, { category: 7, extra_fields: undefined }, { category: 7 }],
    ['belief', { type: 'person', contradicted: true }, { extra_fields: { type: 'person', contradicted: true } }],
    ['event', { description: 'words' }, { description: 'words' }, { description: 'words' }],
    ['event', { deadline: '2026-01-01' }, { deadline: undefined }, { deadline: '2026-01-01' }],
    ['event', { priority: 'high', threshold: 0.5 }, {}, { priority: 'high', threshold: 0.5 }],
    ['event', { extra_fields: { a: 1 } }, { extra_fields: { extra_fields: { a: 1 } } }, { extra_fields: { a: 1 } }],
    ['goal', { priority_text: 'mine' }, { priority: undefined }, { priority_text: 'mine' }],
  ],
  state: [
    [
      'state',
      { data: { step: 3, tags: 't' }, note: 'n' },
      { context: { step: 3, tags: 't' }, note: 'n' },
      { data: { step: 3, tags: 't' } },
    ],
    ['state', { data: null, context_data: { step: 3 } }, { context: { step: 3 } }, { data: { step: 3 } }],
    ['state', { data: { a: 1 }, context_data: { b: 1 } }, { context: { a: 1 } }],
    [
      'state',
      { data: { a: 1 }, context: { b: 2 } },
      { context: { a: 1 }, common_context: { b: 2 } },
      { data: { a: 1 }, context: { b: 2 } },
    ],
    [
      'state',
      { data: null, step: 3, plan: 'x', user: 'u', tags: ['t'], session_id: 's' },
      { context: { step: 3, plan: 'x', user: 'u' }, structural_tags: ['t'], session_id: 's', step: undefined },
      { data: { step: 3, plan: 'x', user: 'u' } },
    ],
    ['state', { data: null }, { context: {} }, { data: {} }],
    [
      'state',
      { data: { a: 1 }, common_context: 'mine' },
      { extra_fields: { common_context: 'mine' } },
      { common_context: 'mine' },
    ],
  ],
  workflow: [
    ['workflow', { bindings: { a: `sha256:${A}` }, retries: { b: 2 } }, { bindings: { a: A }, retries: { b: 2 } }],
    ['workflow', { edges: [{ src: 'a', dst: 'b', cond: 'x' }], name: 'n', status: 's' }, { name: 'n', status: 's' }],
    [
      'workflow',
      {
        edges: [
          { src: 'a', dst: 'b' },
          { src: 'b', dst: 'a', max_cycles: 3 },
        ],
      },
      {},
    ],
    ['workflow', { nodes: null, steps: ['one'], trigger: 't' }, { steps: ['one'], trigger: 't' }],
  ],
  action: [
    ['action', {}, { tool_name: 'unknown', content: '', is_error: false, input: 'i', action_phase: undefined }],
    [
      'action',
      { input: { a: 1 }, output: { b: [1] } },
      { input: { a: 1 }, content: { b: [1] }, output: undefined },
      { content: { b: [1] } },
    ],
    ['action', { output: 'x', content: 'y' }, { content: 'y' }],
    ['action', { input: null }, { input: {} }],
    [
      'action',
      {
        kind: 'definition',
        input: null,
        tool_name: 't',
        tool_description: 'd',
        input_schema: { type: 'object' },
        executor_uri: 'u',
      },
      { action_phase: 'definition', kind: 'definition', executor_uri: 'u', content: undefined, is_error: undefined },
      { kind: 'definition' },
    ],
    [
      'action',
      { status: 'pending', is_error: false, content: '' },
      { action_phase: 'call', status: 'pending', content: undefined, is_error: undefined },
    ],
    [
      'action',
      { status: 'completed', content: 'done' },
      { action_phase: undefined, status: 'completed', content: 'done' },
    ],
    [
      'action',
      { input: null, execution_mode: 'code_exec', code: 'x' },
      { is_error: false, tool_name: undefined, input: undefined },
    ],
    [
      'action',
      { parent_task_id: 'task-1', expires_at_sec: 1_900_000_000 },
      { parent_task_id: 'task-1' },
      { parent_task_id: 'task-1' },
    ],
    [
      'action',
      { actor_execution_environment: 'client_side_attested' },
      { actor_execution_environment: 'client_side_unattested' },
    ],
    [
      'action',
      { input: null, action_phase: 'result', tool_call_id: 'c', derived_from: A },
      { action_phase: 'result', content: '', is_error: false },
    ],
  ],
  'event and observation': [
    ['event', { content: null, content_blocks: [{ type: 'text', text: 'hi' }] }, { content: undefined }],
    ['event', { content: null, subject: 's', relation: 'r', object: 'o' }, { content: undefined }],
    ['event', { parent_message_id: A }, { parent_message_id: A }],
    ['event', { parent_message_id: 'msg-1' }, { parent_message_id: undefined }, { parent_message_id: 'msg-1' }],
    [
      'observation',
      {},
      { object: 'seen', content: undefined, observer_id: 'unknown', observer_type: 'agent' },
      { content: 'seen', object: 'seen' },
    ],
    ['observation', { object: { x: 1 } }, { object: { x: 1 }, content: 'seen' }, { content: 'seen', object: { x: 1 } }],
    ['observation', { content: null, object: 'o' }, { object: 'o' }, { object: 'o', content: 'o' }],
    [
      'observation',
      { observation_mode: 'realtime' },
      { observation_mode: 'real_time' },
      { observation_mode: 'realtime' },
    ],
    [
      'observation',
      { observation_mode: 'batch', observation_scope: 'private' },
      { observation_mode: 'batch', observation_scope: 'private' },
    ],
  ],
  goal: [
    ['goal', {}, { goal_state: 'active', description: 'd' }],
    ['goal', { description: null, object: 'from object' }, { description: 'from object', object: 'from object' }],
    ['goal', { priority: 'HIGH' }, { priority: 2 }, { priority: 'high' }],
    ['goal', { priority: 'critical' }, { priority: 1 }, { priority: 'critical' }],
    ['goal', { priority: 'P0!' }, { priority: 3, priority_text: 'P0!' }, { priority: 'P0!' }],
    ['goal', { criteria: 'done' }, { criteria: ['done'] }, { criteria: 'done' }],
    ['goal', { criteria: ['a', 'b'] }, { criteria: ['a', 'b'] }, { criteria: ['a', 'b'] }],
    ['goal', { evidence_required: true }, { evidence_required: 1 }, { evidence_required: 1 }],
    ['goal', { evidence_required: false }, { evidence_required: 0 }],
    ['goal', { evidence_required: 3 }, { evidence_required: 3 }],
    [
      'goal',
      { rollback_on_failure: true },
      { rollback_enabled: true, rollback_on_failure: undefined },
      { rollback_on_failure: true },
    ],
    ['goal', { rollback_on_failure: ['undo'] }, { rollback_on_failure: ['undo'] }, { rollback_on_failure: ['undo'] }],
    [
      'goal',
      { expiry_policy: { deadline: 1_900_000_000, mode: 'hard' } },
      { expiry_policy: undefined },
      { expiry_policy: { deadline: 1_900_000_000, mode: 'hard' } },
    ],
    ['goal', { expiry_policy: 'never' }, { expiry_policy: 'never' }, { expiry_policy: 'never' }],
    ['goal', { depends_on: [A] }, { depends_on: [A] }],
    ['goal', { depends_on: 'the other goal' }, { depends_on: undefined }, { depends_on: 'the other goal' }],
  ],
  'reasoning, consensus, consent': [
    [
      'reasoning',
      { alternatives_considered: ['x', { hypothesis: 'y', rejection_reason: 'z' }] },
      { alternatives_considered: [{ hypothesis: 'x' }, { hypothesis: 'y', rejection_reason: 'z' }] },
      { alternatives_considered: ['x', { hypothesis: 'y', rejection_reason: 'z' }] },
    ],
    [
      'reasoning',
      { thinking_content: 'secret', thinking_redacted: true },
      { thinking_content: undefined, thinking_redacted: true },
    ],
    ['reasoning', { premises: ['p', A], thinking_content: 'kept' }, { premises: ['p', A], thinking_content: 'kept' }],
    [
      'consensus',
      { threshold: 0.5, participating_observers: ['a', 'b', 'c'] },
      { threshold: 2, threshold_ratio: 0.5 },
      { threshold: 0.5 },
    ],
    [
      'consensus',
      { threshold: 0.07, participating_observers: Array.from({ length: 100 }, (_, i) => `o${i}`) },
      { threshold: 7 },
      { threshold: 0.07 },
    ],
    [
      'consensus',
      {},
      { threshold: 0, participating_observers: [], agreement_count: 0, dissent_count: 0 },
      { threshold: 0 },
    ],
    ['consensus', { agreed_content: { a: 1 } }, { agreed_content: { a: 1 } }],
    [
      'consent',
      {},
      {
        subject_did: 'user:alice',
        grantee_did: 'did:web:localhost',
        scope: [],
        is_withdrawal: false,
        prior_consent: undefined,
      },
    ],
    ['consent', { scope: 'storage' }, { scope: ['storage'] }, { scope: 'storage' }],
    [
      'consent',
      { scope: ['a', 'b'], subject_did: 'did:x' },
      { scope: ['a', 'b'], subject_did: 'did:x' },
      { scope: ['a', 'b'] },
    ],
    ['consent', { is_withdrawal: true }, { prior_consent: ZEROS }],
    ['consent', { is_withdrawal: true, prior_consent: A }, { prior_consent: A }],
  ],
};

for (const [group, rows] of Object.entries(ROWS)) {
  test(`input is accepted and returned: ${group}`, () => {
    for (const [type, sent, expected, answer] of rows) {
      const grain = take(type, sent);
      const label = `${type} ${Object.keys(sent).join(',')}`;
      for (const [name, value] of Object.entries(expected))
        assert.deepEqual(grain.fields[name], value, `${label}: ${name}`);
      const shown = toApi(grain);
      for (const [name, value] of Object.entries(answer ?? {}))
        assert.deepEqual(shown[name], value, `${label}: ${name}`);
    }
  });
}

/** Type, fields, code, part of the message, field named by the details. */
const REFUSALS: readonly (readonly [string, JsonObject, string, string, string])[] = [
  ['belief', { subject: null }, 'VAL-E003', 'missing field `subject`', 'subject'],
  ['belief', { relation: null }, 'VAL-E003', 'missing field `relation`', 'relation'],
  ['belief', { object: null }, 'VAL-E003', 'missing field `object`', 'object'],
  ['event', { content: null }, 'VAL-E003', 'missing field `content`', 'content'],
  ['workflow', { nodes: null }, 'VAL-E003', 'missing field `nodes`', 'nodes'],
  ['workflow', { nodes: null, steps: ['a'] }, 'VAL-E003', 'missing field `trigger`', 'trigger'],
  ['observation', { content: null }, 'VAL-E003', 'missing field `content`', 'content'],
  ['goal', { description: null, object: { a: 1 } }, 'VAL-E003', 'missing field `description`', 'description'],
  ['consent', { user_id: null }, 'VAL-E003', 'missing field `user_id`', 'user_id'],
  ['action', { kind: 'definition', input: null }, 'VAL-E003', 'missing field `tool_description`', 'tool_description'],
  ['action', { action_phase: 'result' }, 'VAL-E003', 'missing field `tool_call_id`', 'tool_call_id'],
  [
    'belief',
    { invalidation_policy: {} },
    'VAL-E003',
    'missing field `invalidation_policy.mode`',
    'invalidation_policy.mode',
  ],
  [
    'belief',
    { invalidation_policy: { mode: 'timed', locked_until: 1 } },
    'VAL-E003',
    'missing field',
    'invalidation_policy.fallback_mode',
  ],
  [
    'belief',
    { invalidation_policy: { mode: 'timed', fallback_mode: 'open' } },
    'VAL-E003',
    'missing field',
    'invalidation_policy.locked_until',
  ],
  ['belief', { related_to: [{ relation_type: 'causal' }] }, 'VAL-E003', 'missing field', 'related_to[0].hash'],
  ['workflow', { edges: [{ src: 'a' }] }, 'VAL-E003', 'missing field', 'edges[0].dst'],

  ['belief', { subject: 5 }, 'VAL-E003', 'invalid type: integer', 'subject'],
  ['belief', { object: { a: 1 } }, 'VAL-E003', 'invalid type: map', 'object'],
  ['belief', { confidence: '0.5' }, 'VAL-E003', 'invalid type: string', 'confidence'],
  ['belief', { tags: 'a' }, 'VAL-E003', 'invalid type: string', 'tags'],
  ['belief', { tags: ['a', 1] }, 'VAL-E003', 'invalid type', 'tags[1]'],
  ['belief', { tags: ['a', null] }, 'VAL-E003', 'invalid type: null', 'tags[1]'],
  ['belief', { created_at: '1700000000' }, 'VAL-E003', 'invalid type', 'created_at'],
  ['belief', { created_at: 1.5 }, 'VAL-E003', 'invalid type: floating point', 'created_at'],
  ['belief', { context: 'x' }, 'VAL-E003', 'invalid type', 'context'],
  ['belief', { related_to: 5 }, 'VAL-E003', 'invalid type', 'related_to'],
  ['belief', { derived_from: 5 }, 'VAL-E003', 'invalid type', 'derived_from'],
  ['belief', { content_refs: {} }, 'VAL-E003', 'invalid type', 'content_refs'],
  ['belief', { content_refs: ['x'] }, 'VAL-E003', 'invalid type', 'content_refs[0]'],
  ['belief', { invalidation_policy: 'locked' }, 'VAL-E003', 'invalid type', 'invalidation_policy'],
  ['event', { content: { a: 1 } }, 'VAL-E003', 'invalid type', 'content'],
  ['state', { data: [1] }, 'VAL-E003', 'invalid type: array', 'data'],
  ['state', { context: 'x' }, 'VAL-E003', 'invalid type', 'context'],
  ['action', { input: 5 }, 'VAL-E003', 'invalid type', 'input'],
  ['action', { is_error: 'no' }, 'VAL-E003', 'invalid type', 'is_error'],
  ['action', { duration_ms: 1.5 }, 'VAL-E003', 'invalid type', 'duration_ms'],
  ['goal', { criteria: 5 }, 'VAL-E003', 'invalid type', 'criteria'],
  ['goal', { priority: 1.5 }, 'VAL-E003', 'invalid type', 'priority'],
  ['goal', { evidence_required: 'yes' }, 'VAL-E003', 'invalid type', 'evidence_required'],
  ['reasoning', { premises: 'p' }, 'VAL-E003', 'invalid type', 'premises'],
  ['consensus', { threshold: 'half' }, 'VAL-E003', 'invalid type', 'threshold'],
  ['consent', { is_withdrawal: 'no' }, 'VAL-E003', 'invalid type', 'is_withdrawal'],
  ['workflow', { bindings: ['a'] }, 'VAL-E003', 'invalid type', 'bindings'],

  ['belief', { confidence: 1.1 }, 'VAL-E001', 'between 0 and 1', 'confidence'],
  ['belief', { importance: -0.1 }, 'VAL-E001', 'between 0 and 1', 'importance'],
  ['belief', { subject: '' }, 'VAL-E001', 'empty', 'subject'],
  ['belief', { object: '' }, 'VAL-E001', 'empty', 'object'],
  ['event', { content: '' }, 'VAL-E001', 'empty', 'content'],
  ['goal', { description: '' }, 'VAL-E001', 'empty', 'description'],
  ['observation', { observer_id: '' }, 'VAL-E001', 'empty', 'observer_id'],
  ['workflow', { nodes: [] }, 'VAL-E001', 'empty', 'nodes'],
  ['workflow', { trigger: '' }, 'VAL-E001', 'empty', 'trigger'],
  ['belief', { tags: Array(65).fill('t') }, 'VAL-E001', '64', 'tags'],
  ['belief', { tags: ['t'.repeat(129)] }, 'VAL-E001', '128', 'tags[0]'],
  ['belief', { namespace: 'n'.repeat(257) }, 'VAL-E001', '256', 'namespace'],
  ['belief', { user_id: 'n'.repeat(257) }, 'VAL-E001', '256', 'user_id'],
  ['belief', { embedding_text: '\u00e9'.repeat(4097) }, 'VAL-E001', '8192', 'embedding_text'],
  ['belief', { created_at: 10_000_000_000 }, 'VAL-E001', 'between', 'created_at'],
  ['belief', { created_at: 1_800_000_301 }, 'VAL-E001', '300 seconds in the future', 'created_at'],
  ['belief', { created_at: -1 }, 'VAL-E001', '1970', 'created_at'],
  ['belief', { valid_to: 1_700_000_000_000 }, 'VAL-E001', 'between', 'valid_to'],
  ['belief', { expires_at: 10_000_000_000 }, 'VAL-E001', 'between', 'expires_at'],
  ['goal', { deadline: 10_000_000_000 }, 'VAL-E001', 'between', 'deadline'],
  [
    'belief',
    { invalidation_policy: { mode: 'timed', locked_until: 1e10, fallback_mode: 'open' } },
    'VAL-E001',
    'seconds',
    'invalidation_policy.locked_until',
  ],
  ['belief', { derived_from: A.toUpperCase() }, 'VAL-E001', 'hash', 'derived_from'],
  ['belief', { derived_from: `sha256:${A}` }, 'VAL-E001', 'hash', 'derived_from'],
  ['belief', { related_to: ['abc'] }, 'VAL-E001', 'hash', 'related_to[0]'],
  ['belief', { related_to: [{ hash: A, weight: 2 }] }, 'VAL-E001', 'between 0 and 1', 'related_to[0].weight'],
  ['belief', { related_to: [{ hash: A, rl: 'x' }] }, 'VAL-E001', 'short key', 'related_to[0]'],
  ['belief', { verification_status: 'great' }, 'VAL-E001', 'one of', 'verification_status'],
  ['belief', { temporal_type: 'sometimes' }, 'VAL-E001', 'one of', 'temporal_type'],
  ['belief', { success_count: -1 }, 'VAL-E001', 'between', 'success_count'],
  ['belief', { user: 'u' }, 'VAL-E001', 'short key', 'user'],
  ['belief', { ct: true }, 'VAL-E001', 'short key', 'ct'],
  ['event', { cnt: 1 }, 'VAL-E001', 'short key', 'cnt'],
  ['belief', { subject: 'a\0b' }, 'VAL-E001', 'U+0000', 'subject'],
  ['belief', { subject: `${'a'.repeat(60)}\0` }, 'VAL-E001', 'U+0000', 'subject'],
  ['belief', { note: ['x', { y: 'a\0' }] }, 'VAL-E001', 'U+0000', 'note'],
  ['belief', { note: { 'a\0': 1 } }, 'VAL-E001', 'U+0000', 'note'],
  ['belief', { subject: 'a\ud800' }, 'VAL-E001', 'surrogate', 'subject'],
  ['belief', { subject: '\ufeffa' }, 'VAL-E001', 'byte order mark', 'subject'],
  ['belief', { note: { 'e\u0301': 1, '\u00e9': 2 } }, 'VAL-E001', 'NFC', 'note'],
  ['belief', { 'e\u0301': 1, '\u00e9': 2 }, 'VAL-E001', 'NFC', '\u00e9'],
  ['belief', { note: Number.POSITIVE_INFINITY }, 'VAL-E001', 'finite', 'note'],
  ['belief', { note: 2n ** 64n }, 'VAL-E001', '64 bits', 'note'],
  ['belief', { note: nested(GRAIN_DEPTH_MAX + 1) }, 'VAL-E001', 'deeper', 'note'],
  ['belief', { category: nested(GRAIN_DEPTH_MAX) }, 'VAL-E001', 'deeper', 'category'],
  ['belief', { _elided: { confidence: `sha256:${A}` } }, 'VAL-E001', 'elided', '_elided'],
  ['belief', { _elided: { user_id: A } }, 'VAL-E001', 'commitment', '_elided'],
  ['workflow', { nodes: ['a', 'a'] }, 'VAL-E001', 'unique', 'nodes'],
  ['workflow', { edges: [{ src: 'a', dst: 'z' }] }, 'VAL-E001', 'unknown node', 'edges'],
  ['workflow', { bindings: { z: A } }, 'VAL-E001', 'unknown node', 'bindings'],
  ['workflow', { bindings: { a: 'x' } }, 'VAL-E001', 'hash', 'bindings'],
  [
    'workflow',
    {
      edges: [
        { src: 'a', dst: 'b' },
        { src: 'b', dst: 'a' },
      ],
    },
    'VAL-E001',
    'max_cycles',
    'edges',
  ],
  ['workflow', { steps: ['x'], trigger: 't' }, 'VAL-E001', 'steps', 'nodes'],
  ['action', { kind: 'other' }, 'VAL-E001', 'one of', 'kind'],
  ['action', { executor_kind: 'other' }, 'VAL-E001', 'one of', 'executor_kind'],
  ['action', { status: 'pending', content: 'x' }, 'VAL-E001', 'pending', 'content'],
  ['action', { kind: 'definition', tool_description: 'd', input_schema: {} }, 'VAL-E001', 'definition', 'input'],
  ['action', { kind: 'definition', action_phase: 'call' }, 'VAL-E001', 'contradicts', 'action_phase'],
  ['observation', { content: { a: 1 }, object: 'o' }, 'VAL-E001', 'string', 'content'],
  ['goal', { goal_state: 'done' }, 'VAL-E001', 'one of', 'goal_state'],
  ['goal', { progress: 2 }, 'VAL-E001', 'between 0 and 1', 'progress'],
  ['goal', { allowed_transitions: ['active', 'x'] }, 'VAL-E001', 'one of', 'allowed_transitions[1]'],
  ['goal', { parent_goals: ['x'] }, 'VAL-E001', 'hash', 'parent_goals[0]'],
  ['goal', { expiry_policy: { mode: 'odd' } }, 'VAL-E001', 'one of', 'expiry_policy.mode'],
  ['consensus', { threshold: 2 }, 'VAL-E001', 'between 0 and 1', 'threshold'],
  ['consent', { prior_consent: 'x' }, 'VAL-E001', 'hash', 'prior_consent'],
  ['nothing', {}, 'MEM-E005', 'unknown grain type', 'grain_type'],
  ['', {}, 'MEM-E005', 'unknown grain type', 'grain_type'],
  ['__proto__', {}, 'MEM-E005', 'unknown grain type', 'grain_type'],
];

test('an invalid input is refused with the code, the words and the field of the contract', () => {
  for (const [type, fields, code, words, field] of REFUSALS) {
    const label = `${type} ${Object.keys(fields).join(',')}`;
    assert.throws(
      () => fromApi(type, { ...(Object.hasOwn(MINIMAL, type) ? MINIMAL[type] : {}), ...fields }, { nowMs }),
      (error) => {
        assert.ok(error instanceof EngineError, `${label}: ${String(error)}`);
        assert.equal(error.code, code, `${label}: ${error.message}`);
        assert.ok(error.message.includes(words), `${label}: ${error.message}`);
        assert.equal(error.details[0]?.field, field, label);
        return true;
      },
    );
  }
});

test('limits are inclusive', () => {
  take('belief', {
    tags: Array(64).fill('t'.repeat(128)),
    namespace: 'n'.repeat(256),
    user_id: '\u{1f600}'.repeat(256),
  });
  take('belief', { embedding_text: 'x'.repeat(8192), created_at: 0, note: nested(GRAIN_DEPTH_MAX) });
  const many = Object.fromEntries(Array.from({ length: GRAIN_FIELDS_MAX - 3 }, (_, index) => [`extra${index}`, index]));
  take('belief', many);
  assert.throws(() => take('belief', { ...many, more: 1 }), /VAL-E001: `fields`/);
});

test('type names of older writers are accepted', () => {
  assert.equal(fromApi('fact', MINIMAL['belief']!, { nowMs }).type, 'belief');
  assert.equal(fromApi('tool', MINIMAL['action']!, { nowMs }).type, 'action');
});

test('values that the server knows about a write are filled in and count', () => {
  assert.equal(take('consent', { user_id: null }, { userId: 'bob' }).fields['subject_did'], 'user:bob');
  assert.equal(take('consent', {}, { userId: 'bob' }).fields['user_id'], 'alice');
  assert.equal(take('consent', {}, { deploymentDid: 'did:web:here' }).fields['grantee_did'], 'did:web:here');
  const environment = { actor_execution_environment: 'server_side_host' };
  assert.equal(
    take('action', environment, { trusted: true }).fields['actor_execution_environment'],
    'server_side_host',
  );
});

test('verification_status is kept beside the fields', () => {
  assert.equal(take('belief', { verification_status: 'contested' }).verificationStatus, 'contested');
  assert.equal(take('belief', {}).verificationStatus, undefined);
});

test('fields that are kept unused or left out cause warnings, not refusals', () => {
  const warned: readonly (readonly [string, JsonObject, string])[] = [
    ['belief', { superseded_by: A }, 'superseded_by'],
    ['belief', { structural_tags: [], tags: [] }, 'structural_tags'],
    ['belief', { valid_from: 2, valid_to: 1 }, 'valid_to'],
    ['belief', { processing_basis: 'whim' }, 'processing_basis'],
    ['belief', { embedding_refs: [{}] }, 'embedding_refs'],
    ['action', { status: 'odd' }, 'status'],
    ['action', { failure_cause: 'odd' }, 'failure_cause'],
  ];
  for (const [type, fields, name] of warned) {
    const { warnings } = take(type, fields);
    assert.equal(warnings.length, 1, name);
    assert.ok(warnings[0]!.startsWith(`${name}: `), warnings[0]);
  }
  assert.deepEqual(take('belief', { processing_basis: A, valid_from: 1, valid_to: 1 }).warnings, []);
});

test('a field hidden in a disclosed view is neither missing nor filled in', () => {
  const commitment = `sha256:${A}`;
  const view = fromApi(
    'belief',
    { relation: 'r', object: 'o', _elided: { subject: commitment, namespace: commitment } },
    { nowMs },
  );
  encodeGrain(view.type, view.fields);
  assert.equal(view.fields['subject'], undefined);
  assert.equal(view.fields['namespace'], undefined);
});

test('keys with the names of Object.prototype members are data', () => {
  const fields = parseJson(
    '{"subject":"s","relation":"r","object":"o","__proto__":{"x":1},"constructor":"c","a":{"__proto__":1}}',
  );
  const grain = fromApi('belief', fields as JsonObject, { nowMs });
  encodeGrain(grain.type, grain.fields);
  const answer = toApi(grain);
  assert.equal(Object.getPrototypeOf(answer), Object.prototype);
  assert.deepEqual(Object.getOwnPropertyDescriptor(answer, '__proto__')?.value, { x: 1 });
  assert.equal(answer['constructor'], 'c');
  assert.ok(Object.hasOwn(answer['a'] as JsonObject, '__proto__'));
});

test('a refusal shows no content', () => {
  assert.throws(
    () => fromApi('belief', { ...MINIMAL['belief'], temporal_type: 'top-secret' }, { nowMs }),
    (error) => error instanceof EngineError && !JSON.stringify(error.toWire()).includes('top-secret'),
  );
});
