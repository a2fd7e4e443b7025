// A policy as it is answered: its rules by groups, as section 10.1 of the contract has them, and what a change comes to.

import type { RulePath } from '../../../engine/govern/policy/rules.ts';
import { PII_WRITE_ACTIONS } from '../../../engine/text/pii/write-action.ts';
import {
  COUNT,
  COUNTS,
  either,
  FLAG,
  GRAIN_TYPE,
  HASH,
  listOf,
  objectOf,
  oneOf,
  orNull,
  TEXT,
  TEXTS,
  TIME,
  withMembers,
} from '../json-schema.ts';
import type { Members } from '../names.ts';

const NUMBER = orNull(COUNT);
/** What an operator writes down: its members are not the server's. */
const NOTED = orNull({ type: 'object', additionalProperties: true });

/** A rule that has no schema does not compile. */
const RULE: Readonly<Record<RulePath, Members>> = {
  'consent.mode': oneOf('none', 'opt_out', 'opt_in'),
  'consent.accept_other_bases': orNull(FLAG),
  'consent.on_read': FLAG,
  'consent.sensitive_separate': FLAG,
  'deletion.allowed': FLAG,
  'deletion.hold': FLAG,
  'deletion.reason_required': FLAG,
  'deletion.consent_required': FLAG,
  'deletion.min_age_days': NUMBER,
  'supersede.allowed': FLAG,
  'supersede.reason_required': FLAG,
  'supersede.consent_required': FLAG,
  'supersede.protected_types': listOf(GRAIN_TYPE),
  'retention.default_ttl_days': NUMBER,
  'retention.by_namespace': COUNTS,
  'retention.by_type': COUNTS,
  'retention.audit_days': NUMBER,
  'retention.provenance_days': NUMBER,
  'encryption.required': FLAG,
  'encryption.per_user_keys': FLAG,
  'encryption.blind_index': FLAG,
  'encryption.key_rotation_days': NUMBER,
  'pii.write_action': oneOf(...PII_WRITE_ACTIONS),
  'pii.categories': either(oneOf('*'), TEXTS),
  'pii.egress_action': oneOf('allow', 'redact', 'block'),
  'residency.regions': TEXTS,
  'residency.enforce': FLAG,
  'residency.cross_border_consent': FLAG,
  'processing.restriction': oneOf(true),
  'audit.reads': FLAG,
  'provenance.record': FLAG,
  'explanation.required': FLAG,
  'write.user_id_required': FLAG,
  'access.authz_required': FLAG,
  'access.max_recall_limit': NUMBER,
  'access.segregation_of_duties': FLAG,
  'tiering.allowed': FLAG,
  'tiering.baa_required': FLAG,
  'tiering.dpa_required': FLAG,
  'tiering.baa_acknowledged': FLAG,
  'tiering.dpa_acknowledged': FLAG,
  'ai.risk_class': oneOf('minimal', 'limited', 'high'),
  'ai.oversight_required': FLAG,
  'ai.disclosure': FLAG,
  'ai.impact_required': FLAG,
  'ai.impact_assessment': NOTED,
  'ai.risk_review': NOTED,
  'guardrail.patterns': TEXTS,
  'guardrail.mode': oneOf('exact', 'contains', 'fuzzy'),
  'records.controller': either(TEXT, NOTED),
  'records.purposes': TEXTS,
  'records.recipients': TEXTS,
  'breach.notify_hours': NUMBER,
};

function rulesSchema(): Members {
  const groups: Record<string, Record<string, Members>> = {};
  for (const [path, schema] of Object.entries(RULE)) {
    const [group = '', name = ''] = path.split('.');
    groups[group] = { ...groups[group], [name]: schema };
  }
  return objectOf(Object.fromEntries(Object.entries(groups).map(([group, rules]) => [group, objectOf(rules)])));
}

const CHANGE = oneOf('upgraded', 'downgraded', 'unchanged');

const SHOWN: Members = {
  version: COUNT,
  sealed: FLAG,
  presets: TEXTS,
  rules: rulesSchema(),
  overrides: { type: 'object', additionalProperties: true },
  sealed_at: TIME,
};
/** What a caller is not told that is bound to a part of the memory. */
const OF_THE_WHOLE: Members = {
  seal_hash: HASH,
  prev_seal_hash: orNull(HASH),
  sealed_by: TEXT,
  reason: orNull(TEXT),
};

/** A rule that a version sealed by an older build does not have is missing from it. */
export const POLICY: Members = objectOf(SHOWN, OF_THE_WHOLE);

export const POLICY_CHANGED: Members = withMembers(objectOf({ ...SHOWN, ...OF_THE_WHOLE }), { change: CHANGE });

const ANY: Members = {};

export const SIMULATED: Members = objectOf({
  current: objectOf({ presets: TEXTS, seal_hash: HASH }),
  proposed: objectOf({ presets: TEXTS, rules: rulesSchema(), seal_hash: HASH }),
  diff: listOf(
    objectOf({ path: TEXT, from: ANY, to: ANY, direction: oneOf('same', 'tighter', 'looser', 'mixed', 'neutral') }),
  ),
  change: CHANGE,
  allowed: FLAG,
  errors: listOf(objectOf({ code: TEXT }, { message: TEXT, path: TEXT, field: TEXT, issue: TEXT })),
  impact: objectOf({
    grains_total: COUNT,
    grains_expiring: COUNT,
    users_without_consent: COUNT,
    grains_with_blocked_pii: COUNT,
    grains_unencrypted: COUNT,
    principals_losing_access: COUNT,
  }),
  affected_checks: TEXTS,
});
