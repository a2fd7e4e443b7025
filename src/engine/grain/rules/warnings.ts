// Warns of uses that the format allows but advises against. Warnings name only words of the format, so that they can be
// logged.

import { unreachable } from '../../base/assert.ts';
import { EMBEDDING_TEXT_BYTES_MAX } from '../../base/limits.ts';
import { isAddress } from '../address.ts';
import type { GrainType } from '../grain.ts';
import type { Value, ValueMap } from '../value.ts';
import { superfluousInPhase } from './action.ts';

const RELATION_TYPES: ReadonlySet<string> = new Set([
  'similar',
  'contradicts',
  'elaborates',
  'generalizes',
  'temporal_next',
  'temporal_prev',
  'causal',
  'supports',
  'refutes',
  'replaces',
  'depends_on',
  'related',
]);
const STEP_ACTION = 'mg:step_action:';
const COGNITIVE_WITH_MODEL: ReadonlySet<string> = new Set(['llm', 'reflector', 'classifier', 'detector']);
const COGNITIVE: ReadonlySet<string> = new Set([...COGNITIVE_WITH_MODEL, 'human', 'hybrid']);
const OBSERVATION_MODES: ReadonlySet<string> = new Set(['passive', 'active', 'reflective', 'real_time']);
const OBSERVATION_SCOPES: ReadonlySet<string> = new Set(['point', 'interval', 'session', 'longitudinal']);
const MG_RELATIONS: ReadonlySet<string> = new Set(
  (
    'perceives knows said did infers agrees_with state_at requires_steps has_graph intends permits revokes prohibits ' +
    'requires prefers avoids delegates_to owned_by has_capability handed_off_to depends_on assigned_to'
  )
    .split(' ')
    .map((relation) => `mg:${relation}`),
);
const POLICY_MODES: ReadonlySet<string> = new Set(
  'open soft_locked locked quorum delegated timed hold consent_cascade'.split(' '),
);

/** Warnings about a grain that passed validation. */
export function warningsOf(type: GrainType, fields: ValueMap): string[] {
  const warnings: string[] = [];
  const relations = fields['related_to'];
  if (Array.isArray(relations)) warnAboutRelations(relations, warnings);
  if (fields['invalidation_policy'] !== undefined) warnAboutPolicy(fields['invalidation_policy'], warnings);
  const text = fields['embedding_text'];
  if (typeof text === 'string' && text.length * 3 > EMBEDDING_TEXT_BYTES_MAX)
    if (Buffer.byteLength(text) > EMBEDDING_TEXT_BYTES_MAX)
      warnings.push(`embedding_text is longer than ${EMBEDDING_TEXT_BYTES_MAX} bytes`);
  warnAboutType(type, fields, warnings);
  return warnings;
}

function warnAboutType(type: GrainType, fields: ValueMap, warnings: string[]): void {
  switch (type) {
    case 'belief':
      warnAboutBelief(fields, warnings);
      break;
    case 'action':
      warnAboutAction(fields, warnings);
      break;
    case 'observation':
      warnAboutObservation(fields, warnings);
      break;
    case 'event':
    case 'state':
    case 'workflow':
    case 'goal':
    case 'reasoning':
    case 'consensus':
    case 'consent':
      break;
    default:
      unreachable(type);
  }
}

function warnAboutRelations(relations: readonly Value[], warnings: string[]): void {
  for (const relation of relations) {
    const type = (relation as ValueMap)['relation_type']; // validated: entries are maps
    if (typeof type === 'string' && !RELATION_TYPES.has(type) && !type.startsWith(STEP_ACTION)) {
      warnings.push('related_to has a relation_type outside the list');
      return;
    }
  }
}

function warnAboutPolicy(policy: Value | undefined, warnings: string[]): void {
  const mode = (policy as ValueMap | null)?.['mode']; // validated: a map, or null
  if (typeof mode === 'string' && !POLICY_MODES.has(mode))
    warnings.push('invalidation_policy has an unknown mode, which counts as locked');
}

function warnAboutAction(fields: ValueMap, warnings: string[]): void {
  for (const name of superfluousInPhase(fields)) warnings.push(`${name} should be left out in this phase`);
  const task = fields['parent_task_id'];
  if (typeof task === 'string' && !isAddress(task)) warnings.push('parent_task_id is not a content address');
}

function warnAboutObservation(fields: ValueMap, warnings: string[]): void {
  const { observer_type: observer, observer_model: model, observation_mode: mode, observation_scope: scope } = fields;
  const hasModel = model !== undefined && model !== null;
  const hasScope = scope !== undefined && scope !== null;
  if (typeof observer === 'string') {
    if (COGNITIVE_WITH_MODEL.has(observer) && !hasModel) warnings.push('observer_model is missing for this observer');
    if (observer === 'human' && hasModel) warnings.push('observer_model is given for a human observer');
    if (COGNITIVE.has(observer) && mode === 'reflective' && !hasScope)
      warnings.push('observation_scope is missing for a reflective observation');
  }
  if (typeof mode === 'string' && !OBSERVATION_MODES.has(mode)) warnings.push('observation_mode is outside the list');
  if (typeof scope === 'string' && !OBSERVATION_SCOPES.has(scope))
    warnings.push('observation_scope is outside the list');
}

function warnAboutBelief(fields: ValueMap, warnings: string[]): void {
  const { relation, source_type: source } = fields;
  if (typeof relation === 'string' && relation.startsWith('mg:') && !MG_RELATIONS.has(relation))
    warnings.push('relation has the prefix mg: and is not one of its relations');
  if (source !== 'established_knowledge' && source !== 'axiomatic') return;
  const policy = fields['invalidation_policy'] as ValueMap | null | undefined; // validated
  const isGeneral =
    (fields['user_id'] ?? null) === null &&
    (fields['valid_to'] ?? null) === null &&
    Number(fields['confidence']) === 1 &&
    policy?.['mode'] === 'locked';
  if (!isGeneral)
    warnings.push('established knowledge should have no user_id, no valid_to, confidence 1 and a locked policy');
}
