// Completes a draft after all its fields are set: fills the fields that the format requires and checks those that the type
// requires.
import { isDeepStrictEqual } from 'node:util';
import { unreachable } from '../../base/assert.ts';
import { OWN } from '../types/own-fields.ts';
import type { Value } from '../value.ts';
import { type Draft, isPresent } from './draft.ts';
import { checkWorkflow } from './nested.ts';
import { missingField, outOfRange } from './refusal.ts';

const NAMESPACE_DEFAULT = 'default';
const DEPLOYMENT_DID = 'did:web:localhost';
const ADDRESS_OF_NOTHING = '0'.repeat(64);
/** Fields that a definition or a call must not have, because it has no outcome yet. */
const FORBIDDEN: Readonly<Record<'definition' | 'call', readonly string[]>> = {
  definition: ['input', 'content', 'is_error', 'stdout', 'stderr', 'exit_code', 'duration_ms'],
  call: ['content', 'is_error', 'stdout', 'stderr', 'exit_code', 'duration_ms'],
};

/** Fills and checks the draft. Throws VAL-E003 for a missing field, VAL-E001 for fields that contradict each other. */
export function complete(draft: Draft): void {
  const { fields, context } = draft;
  completeType(draft);
  if (fields['created_at'] === undefined) fields['created_at'] = context.nowMs;
  if (!isPresent(draft, 'namespace')) fields['namespace'] = NAMESPACE_DEFAULT;
  const { valid_from: from, valid_to: to } = fields;
  if (typeof from === 'number' && typeof to === 'number' && to < from)
    draft.warnings.push('valid_to: is before valid_from');
}

function completeType(draft: Draft): void {
  switch (draft.type) {
    case 'belief':
      demand(draft, 'subject');
      demand(draft, 'relation');
      demand(draft, 'object');
      fill(draft, 'confidence', 1);
      break;
    case 'event':
      completeEvent(draft);
      break;
    case 'state':
      fill(draft, 'context', {});
      break;
    case 'workflow':
      completeWorkflow(draft);
      break;
    case 'action':
      completeAction(draft);
      break;
    case 'observation':
      completeObservation(draft);
      break;
    case 'goal':
      completeGoal(draft);
      break;
    case 'reasoning':
      // A redacted thought keeps the flag only.
      if (draft.fields['thinking_redacted'] === true) delete draft.fields['thinking_content'];
      break;
    case 'consensus':
      completeConsensus(draft);
      break;
    case 'consent':
      completeConsent(draft);
      break;
    default:
      unreachable(draft.type);
  }
}

function demand(draft: Draft, name: string, shown = name): void {
  if (!isPresent(draft, name)) throw missingField(shown);
}

function fill(draft: Draft, name: string, value: Value): void {
  if (!isPresent(draft, name)) draft.fields[name] = value;
}

function completeEvent(draft: Draft): void {
  const { fields } = draft;
  const blocks = fields['content_blocks'];
  const hasBlocks = Array.isArray(blocks) && blocks.length > 0;
  if (fields['content'] === '' && !hasBlocks) throw outOfRange('content', 'is empty');
  if (fields['content'] !== undefined || hasBlocks) return;
  const isTriple = isPresent(draft, 'subject') && fields['relation'] !== undefined && isPresent(draft, 'object');
  if (!isTriple) throw missingField('content');
}

function completeWorkflow(draft: Draft): void {
  const { fields } = draft;
  if (fields['steps'] === undefined) {
    demand(draft, 'nodes');
    checkWorkflow(fields);
    return;
  }
  for (const name of ['nodes', 'edges', 'bindings', 'retries'])
    if (fields[name] !== undefined) throw outOfRange(name, 'cannot be combined with steps');
  demand(draft, 'trigger');
}

function completeAction(draft: Draft): void {
  const { fields } = draft;
  const implied = fields['kind'] === 'definition' ? 'definition' : fields['status'] === 'pending' ? 'call' : undefined;
  const phase = fields['action_phase'] ?? implied;
  if (implied !== undefined && phase !== implied) throw outOfRange('action_phase', 'contradicts kind or status');
  if (phase !== undefined) fields['action_phase'] = phase;
  if (phase === 'definition' || phase === 'call') {
    fill(draft, 'tool_name', 'unknown');
    refuseOutcome(draft, phase);
    if (phase === 'call') fill(draft, 'input', {});
    else for (const name of ['tool_description', 'input_schema']) demand(draft, name);
    return;
  }
  fill(draft, 'is_error', false);
  if (phase === 'result') {
    for (const name of ['tool_call_id', 'derived_from']) demand(draft, name);
    fill(draft, 'content', '');
  } else if (fields['execution_mode'] !== 'code_exec') {
    // A code run describes itself, so only other calls get these defaults.
    fill(draft, 'tool_name', 'unknown');
    fill(draft, 'input', {});
    fill(draft, 'content', '');
  }
}

/** Drops outcome fields that hold the defaults of a complete action; throws VAL-E001 for other values. */
function refuseOutcome({ fields }: Draft, phase: 'definition' | 'call'): void {
  if (fields['is_error'] === false) delete fields['is_error'];
  if (fields['content'] === '') delete fields['content'];
  for (const name of FORBIDDEN[phase])
    if (fields[name] !== undefined)
      throw outOfRange(
        name,
        phase === 'call' ? 'cannot be given for a pending action' : 'cannot be given for a definition',
      );
}

function completeObservation(draft: Draft): void {
  const { fields } = draft;
  const content = fields['content'];
  if (content !== undefined && sameOrNone(fields['object'], content)) {
    fields['object'] = content;
    delete fields['content'];
  } else if (content !== undefined && typeof content !== 'string') {
    throw outOfRange('content', 'must be a string when object is set');
  }
  demand(draft, 'object', 'content');
  fill(draft, 'observer_id', 'unknown');
  fill(draft, 'observer_type', 'agent');
}

function sameOrNone(object: Value | undefined, content: Value): boolean {
  return object === undefined || isDeepStrictEqual(object, content);
}

function completeGoal(draft: Draft): void {
  const { fields } = draft;
  if (!isPresent(draft, 'description') && typeof fields['object'] === 'string' && fields['object'] !== '')
    fields['description'] = fields['object'];
  demand(draft, 'description');
  fill(draft, 'goal_state', 'active');
}

function completeConsensus(draft: Draft): void {
  const { fields } = draft;
  fill(draft, 'participating_observers', []);
  // Earlier checks made the list an array of strings and the ratio a number.
  const observers = (fields['participating_observers'] as string[]).length;
  const ratio = fields[OWN.thresholdRatio] as number | undefined;
  // Tolerate rounding of one part in 10^9, so that 0.07 x 100 gives 7.
  fields['threshold'] = ratio === undefined ? 0 : Math.ceil(ratio * observers - 1e-9) + 0;
  fill(draft, 'agreement_count', 0);
  fill(draft, 'dissent_count', 0);
}

function completeConsent(draft: Draft): void {
  const { fields, context } = draft;
  if (!isPresent(draft, 'user_id') && context.userId !== undefined && context.userId !== '')
    fields['user_id'] = context.userId;
  demand(draft, 'user_id');
  if (typeof fields['user_id'] === 'string') fill(draft, 'subject_did', `user:${fields['user_id']}`);
  demand(draft, 'subject_did');
  fill(draft, 'grantee_did', context.deploymentDid ?? DEPLOYMENT_DID);
  fill(draft, 'scope', []);
  fill(draft, 'is_withdrawal', false);
  if (fields['is_withdrawal'] === true) fill(draft, 'prior_consent', ADDRESS_OF_NOTHING);
}
