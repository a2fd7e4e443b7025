// The one table of fields: for each its name, its short key and its kind. The codec looks all of them up here. The
// fields of a single type stand in the row of that type (types/). The table is part of the format: a change would give
// other bytes, so it grows only with a version of the format.

import { ADDRESS, ANY, BOOL, BYTE, COUNT, INT, listOf, MAP, MS, STRING, STRING_OR_MAP, UNIT } from './codec/kind.ts';
import * as shapes from './rules/shapes.ts';
import type { FieldRow } from './types/row.ts';
import { GRAIN_TYPES } from './types/table.ts';

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

/** The fields of delegations, which the format knows and for which the service has no type. */
const DELEGATION: readonly FieldRow[] = [
  ['authorized_namespaces', 'ans', STRINGS],
  ['authorized_types', 'atypes', listOf(BYTE)],
  ['authorized_tools', 'atools', STRINGS],
  ['delegation_depth', 'ddepth', INT],
  ['delegation_expiry', 'dexp', MS],
  ['context_grains', 'cgrains', ADDRESSES],
  ['return_to', 'retdid', STRING],
];

/** Common fields, then those that the format made for one type each, then those of delegations. */
export const FIELD_ROWS: readonly FieldRow[] = [
  ...COMMON,
  ...Object.values(GRAIN_TYPES).flatMap(({ format }) => format.fields),
  ...DELEGATION,
];

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
