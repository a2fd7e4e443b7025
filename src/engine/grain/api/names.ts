// The field names that the service's contract gives a type, by the way they are written in the API. A value of the
// wrong type is refused in these; every other name is an extra field, which may hold anything.
import { GRAIN_TYPE_NAMES, type GrainType } from '../grain.ts';

/** Names of any type. */
export const COMMON_NAMES: ReadonlySet<string> = new Set([
  'confidence',
  'tags',
  'structural_tags',
  'namespace',
  'user_id',
  'valid_from',
  'valid_to',
  'temporal_type',
  'related_to',
  'source_type',
  'importance',
  'created_at',
  'session_id',
  'derived_from',
  'embedding_text',
  'author_did',
  'origin_did',
  'origin_namespace',
  'verification_status',
  'processing_basis',
  'invalidation_policy',
  'supersession_justification',
  'context',
  'content_refs',
  'embedding_refs',
  'provenance_chain',
  'consolidation_level',
  'success_count',
  'failure_count',
  'superseded_by',
  'expires_at',
]);

const TYPE_NAMES: Readonly<Record<GrainType, string>> = {
  belief: 'subject relation object',
  event: 'content subject object role parent_message_id content_blocks model_id stop_reason token_usage run_id',
  state: 'data context_data',
  workflow: 'nodes edges bindings retries trigger name status',
  action:
    'tool_name input content output is_error error duration_ms parent_task_id tool_call_id call_batch_id ' +
    'output_schema kind action_phase tool_description input_schema strict executor_uri executor_kind locked_params ' +
    'annotations examples spec_hash async_mode status correlation_id expires_at_sec failure_cause failure_detail ' +
    'actor_execution_environment',
  observation:
    'content object observer_id observer_type subject observer_model frame_id sync_group observation_mode ' +
    'observation_scope compression_ratio',
  goal:
    'description object goal_state priority criteria criteria_structured parent_goals state_reason ' +
    'satisfaction_evidence progress delegate_to delegate_from expiry_policy recurrence evidence_required ' +
    'rollback_on_failure allowed_transitions depends_on assigned_agent deadline',
  reasoning: 'premises conclusion inference_method alternatives_considered thinking_content thinking_redacted',
  consensus: 'participating_observers threshold agreement_count dissent_count dissent_grains agreed_content',
  consent: 'subject_did grantee_did scope is_withdrawal basis jurisdiction prior_consent witness_dids',
};

const names = new Map(
  GRAIN_TYPE_NAMES.map((type) => [type, new Set([...COMMON_NAMES, ...TYPE_NAMES[type].split(' ')])] as const),
);

/** The contract's names of a type. */
export function contractNames(type: GrainType): ReadonlySet<string> {
  return names.get(type)!;
}

/** The contract's names of any type. */
export const ALL_CONTRACT_NAMES: ReadonlySet<string> = new Set([...names.values()].flatMap((those) => [...those]));

/** Other ways to write a name, by type. The proper name wins when both are given. */
export function properName(type: GrainType, name: string): string {
  if (name === 'structural_tags') return 'tags';
  if (name === 'context_data' && type === 'state') return 'data';
  if (name === 'output' && type === 'action') return 'content';
  if (name === 'tool_phase' && type === 'action') return 'action_phase';
  return name;
}
