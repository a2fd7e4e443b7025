// The one table of grain types and of their fields: type byte, names, what is required, and for every field its short
// key and its kind. Everything else in the codec looks things up here. The table is part of the format: a change
// would give other bytes, so it grows only with a version of the format.

import {
  ADDRESS,
  ANY,
  BOOL,
  BYTE,
  COUNT,
  FLOAT,
  INT,
  type Kind,
  listOf,
  MAP,
  MS,
  recordOf,
  STRING,
  STRING_OR_MAP,
  UNIT,
} from './codec/kind.ts';
import type { GrainType } from './grain.ts';
import * as shapes from './rules/shapes.ts';

/** `index`: kept beside the blob, never in it. `reserved`: a key of an old version that is never written again. */
export type FieldStanding = 'blob' | 'index' | 'reserved';

type FieldRow = readonly [name: string, short: string, kind: Kind, standing?: FieldStanding];

const STRINGS = listOf(STRING);
const ADDRESSES = listOf(ADDRESS);

const COMMON: readonly FieldRow[] = [
  ['type', 't', STRING],
  ['subject', 's', STRING],
  ['relation', 'r', STRING],
  ['object', 'o', STRING_OR_MAP],
  ['confidence', 'c', UNIT],
  ['source_type', 'st', STRING],
  ['created_at', 'ca', MS],
  ['temporal_type', 'tt', STRING],
  ['valid_from', 'vf', MS],
  ['valid_to', 'vt', MS],
  ['system_valid_from', 'svf', MS],
  ['system_valid_to', 'svt', MS, 'index'],
  ['context', 'ctx', MAP],
  ['superseded_by', 'sb', ADDRESS, 'index'],
  ['contradicted', 'ct', BOOL, 'reserved'],
  ['importance', 'im', UNIT],
  ['author_did', 'adid', STRING],
  ['namespace', 'ns', STRING],
  ['user_id', 'user', STRING],
  ['structural_tags', 'tags', STRINGS],
  ['derived_from', 'df', ADDRESSES],
  ['consolidation_level', 'cl', INT],
  ['success_count', 'sc', COUNT],
  ['failure_count', 'fc', COUNT],
  ['provenance_chain', 'pc', listOf(shapes.PROVENANCE)],
  ['origin_did', 'odid', STRING],
  ['origin_namespace', 'ons', STRING],
  ['content_refs', 'cr', listOf(shapes.CONTENT_REF)],
  ['embedding_refs', 'er', listOf(shapes.EMBEDDING_REF)],
  ['related_to', 'rt', listOf(shapes.RELATION)],
  ['_elided', '_e', shapes.STRING_RECORD],
  ['_disclosure_of', '_do', STRING],
  ['invalidation_policy', 'ip', shapes.INVALIDATION_POLICY],
  ['supersession_justification', 'sj', STRING],
  ['supersession_auth', 'sa', listOf(ANY)],
  ['owner', 'own', shapes.OWNER],
  ['category', 'cat', BYTE],
  ['run_id', 'rid', STRING],
  ['role', 'role', STRING],
  ['access_count', 'ac', INT, 'index'],
  ['last_accessed_at', 'laa', MS, 'index'],
  ['timestamp_ms', 'tms', MS],
  ['observer_did', 'obsdid', STRING],
  ['subject_did', 'sdid', STRING],
  ['session_id', 'sid2', STRING],
  ['entity_id', 'eid', STRING],
  ['epistemic_status', 'epstat', STRING],
  ['verification_status', 'vstatus', STRING, 'index'],
  ['requires_human_review', 'rhr', BOOL],
  ['processing_basis', 'pbasis', STRING],
  ['identity_state', 'idst', STRING],
  ['license', 'lic', STRING],
  ['trusted_timestamp', 'tts', shapes.TRUSTED_TIMESTAMP],
  ['invalidation_type', 'itype', STRING],
  ['invalidation_reason', 'ireason', STRING],
  ['invalidation_initiator', 'iinit', STRING],
  ['retention_policy', 'rpol', shapes.RETENTION_POLICY],
  ['recall_priority', 'rpri', STRING],
  ['embedding_text', 'et', STRING],
];

const EVENT: readonly FieldRow[] = [
  ['content', 'content', STRING],
  ['consolidated', 'consolidated', BOOL],
  ['content_blocks', 'cblocks', listOf(shapes.CONTENT_BLOCK)],
  ['model_id', 'mdl', STRING],
  ['stop_reason', 'stopr', STRING],
  ['token_usage', 'toku', shapes.TOKEN_USAGE],
  ['parent_message_id', 'pmid', ADDRESS],
];

const STATE_AND_WORKFLOW: readonly FieldRow[] = [
  ['plan', 'plan', STRINGS],
  ['history', 'history', listOf(MAP)],
  ['steps', 'steps', STRINGS],
  ['trigger', 'trigger', STRING],
  ['nodes', 'nodes', STRINGS],
  ['edges', 'edges', listOf(shapes.EDGE)],
  ['bindings', 'bind', recordOf(ADDRESS)],
  ['retries', 'retries', recordOf(INT)],
];

/** `content` under another key, in actions and nowhere else. */
const ACTION_CONTENT: FieldRow = ['content', 'cnt', ANY];
/** What `action_phase` is called where the type string is `tool`. */
const TOOL_PHASE: FieldRow = ['tool_phase', 'aphase', STRING];

const ACTION: readonly FieldRow[] = [
  ['action_phase', 'aphase', STRING],
  ['tool_name', 'tn', STRING],
  ['input', 'inp', ANY],
  ['is_error', 'iserr', BOOL],
  ['tool_call_id', 'tcid', STRING],
  ['call_batch_id', 'cbid', STRING],
  ['tool_type', 'ttype', STRING],
  ['tool_version', 'tver', STRING],
  ['execution_mode', 'emode', STRING],
  ['code', 'code', STRING],
  ['stdout', 'out', STRING],
  ['stderr', 'err2', STRING],
  ['exit_code', 'xc', INT],
  ['interpreter_id', 'iid', STRING],
  ['error', 'err', STRING],
  ['error_type', 'etype', STRING],
  ['duration_ms', 'dur', COUNT],
  ['parent_task_id', 'ptid', STRING], // an address, or the name that a caller gives its task
  ['tool_description', 'tdesc', STRING],
  ['input_schema', 'isch', MAP],
  ['output_schema', 'osch', MAP],
  ['strict', 'strict', BOOL],
];

const OBSERVATION: readonly FieldRow[] = [
  ['observer_id', 'oid', STRING],
  ['observer_type', 'otype', STRING],
  ['frame_id', 'fid', STRING],
  ['sync_group', 'sg', STRING],
  ['observation_mode', 'omode', STRING],
  ['observation_scope', 'oscope', STRING],
  ['observer_model', 'omdl', STRING],
  ['compression_ratio', 'ocmp', FLOAT],
];

const GOAL: readonly FieldRow[] = [
  ['description', 'desc', STRING],
  ['goal_state', 'gs', STRING],
  ['criteria', 'crit', STRINGS],
  ['criteria_structured', 'crs', listOf(MAP)],
  ['priority', 'pri', INT],
  ['parent_goals', 'pgs', ADDRESSES],
  ['state_reason', 'sr', STRING],
  ['satisfaction_evidence', 'se', ADDRESSES],
  ['progress', 'prog', FLOAT],
  ['delegate_to', 'dto', STRING],
  ['delegate_from', 'dfo', STRING],
  ['expiry_policy', 'ep', STRING],
  ['recurrence', 'rec', STRING],
  ['evidence_required', 'evreq', COUNT],
  ['rollback_on_failure', 'rof', STRINGS],
  ['allowed_transitions', 'atr', STRINGS],
  ['depends_on', 'depg', ADDRESSES],
  ['assigned_agent', 'asgn', STRING],
  ['expected_output', 'expout', STRING],
  ['output_grain', 'outg', ADDRESS],
  ['deadline', 'dline', MS],
];

const REASONING_TO_DELEGATION: readonly FieldRow[] = [
  ['premises', 'prem', STRINGS], // addresses, or statements in words
  ['conclusion', 'conc', STRING],
  ['inference_method', 'imethod', STRING],
  ['alternatives_considered', 'altc', listOf(shapes.ALTERNATIVE)],
  ['thinking_content', 'think', STRING],
  ['thinking_redacted', 'tredact', BOOL],
  ['statistical_context', 'statctx', shapes.STATISTICAL_CONTEXT],
  ['software_environment', 'swenv', shapes.SOFTWARE_ENVIRONMENT],
  ['parameter_set', 'params', MAP],
  ['random_seed', 'rseed', INT],
  ['participating_observers', 'pobs', STRINGS],
  ['threshold', 'thold', INT],
  ['agreement_count', 'agcnt', COUNT],
  ['dissent_count', 'discnt', COUNT],
  ['dissent_grains', 'disgrn', ADDRESSES],
  ['agreed_content', 'agcon', STRING_OR_MAP],
  ['grantee_did', 'gdid', STRING],
  ['scope', 'scope', STRINGS],
  ['is_withdrawal', 'isw', BOOL],
  ['basis', 'basis', STRING],
  ['jurisdiction', 'jur', STRING],
  ['prior_consent', 'pcon', ADDRESS],
  ['witness_dids', 'wdids', STRINGS],
  ['authorized_namespaces', 'ans', STRINGS],
  ['authorized_types', 'atypes', listOf(BYTE)],
  ['authorized_tools', 'atools', STRINGS],
  ['delegation_depth', 'ddepth', INT],
  ['delegation_expiry', 'dexp', MS],
  ['context_grains', 'cgrains', ADDRESSES],
  ['return_to', 'retdid', STRING],
];

export const FIELD_ROWS: readonly FieldRow[] = [
  ...COMMON,
  ...EVENT,
  ...STATE_AND_WORKFLOW,
  ...ACTION,
  ...OBSERVATION,
  ...GOAL,
  ...REASONING_TO_DELEGATION,
];
export const EXTRA_ROWS = { actionContent: ACTION_CONTENT, toolPhase: TOOL_PHASE } as const;

export interface TypeRow {
  readonly type: GrainType;
  readonly byte: number;
  /** Another type string that blobs of this byte may carry; kept as it is, since it is hashed. */
  readonly alias?: string;
  /** Besides created_at, which every type requires. Types with alternatives say the rest in grain/rules/validate.ts. */
  readonly required: readonly string[];
  /** Of the required ones, those that may not be an empty string or list. */
  readonly filled: readonly string[];
}

export const TYPE_ROWS: readonly TypeRow[] = [
  {
    type: 'belief',
    byte: 0x01,
    alias: 'fact',
    required: ['subject', 'relation', 'object', 'confidence'],
    filled: ['subject', 'relation'],
  },
  { type: 'event', byte: 0x02, required: [], filled: [] },
  { type: 'state', byte: 0x03, required: ['context'], filled: [] },
  { type: 'workflow', byte: 0x04, required: [], filled: ['steps', 'trigger', 'nodes'] },
  { type: 'action', byte: 0x05, alias: 'tool', required: [], filled: ['tool_name'] },
  {
    type: 'observation',
    byte: 0x06,
    required: ['observer_id', 'observer_type'],
    filled: ['observer_id', 'observer_type'],
  },
  { type: 'goal', byte: 0x07, required: ['description', 'goal_state'], filled: ['description'] },
  { type: 'reasoning', byte: 0x08, required: [], filled: [] },
  {
    type: 'consensus',
    byte: 0x09,
    required: ['participating_observers', 'threshold', 'agreement_count', 'dissent_count'],
    filled: [],
  },
  {
    type: 'consent',
    byte: 0x0a,
    required: ['subject_did', 'grantee_did', 'scope', 'is_withdrawal'],
    filled: ['subject_did', 'grantee_did'],
  },
];

export const GOAL_STATES: ReadonlySet<string> = new Set(['active', 'satisfied', 'failed', 'suspended']);
export const ACTION_PHASES: ReadonlySet<string> = new Set(['definition', 'call', 'result']);
export const VERIFICATION_STATUSES: ReadonlySet<string> = new Set(['unverified', 'verified', 'contested', 'retracted']);

/** Fields that a selective disclosure may replace by a commitment; all others always stand in the clear. */
export const DISCLOSABLE_FIELDS: ReadonlySet<string> = new Set([
  'subject',
  'object',
  'user_id',
  'namespace',
  'provenance_chain',
  'context',
  'structural_tags',
  'description',
  'criteria',
  'criteria_structured',
  'parent_goals',
  'state_reason',
  'satisfaction_evidence',
  'delegate_to',
  'delegate_from',
  'rollback_on_failure',
  'observer_id',
  'observer_model',
  'frame_id',
  'sync_group',
]);
