// Schemas of a policy, with rules by group (service contract 10.1), and of the outcome of a change.

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
import { described } from '../type.ts';

const NUMBER = orNull(COUNT);
/** A free-form object that the operator writes and the server does not interpret. */
const NOTED = orNull({ type: 'object', additionalProperties: true });

/** Schema of each rule; the type makes a missing one a compile error. */
const RULE: Readonly<Record<RulePath, Members>> = {
  'consent.mode': described(
    oneOf('none', 'opt_out', 'opt_in'),
    'Which writes about a user need consent: none; opt_in, with a grant; opt_out, unless it was revoked.',
  ),
  'consent.accept_other_bases': described(
    orNull(FLAG),
    'Whether a grain with another lawful basis than consent is accepted without a grant; null where no preset says.',
  ),
  'consent.on_read': described(FLAG, 'Whether reads leave out grains of users whose consent is gone.'),
  'consent.sensitive_separate': described(
    FLAG,
    'Whether sensitive personal data needs a grant for the purpose sensitive.',
  ),
  'deletion.allowed': described(FLAG, 'Whether grains may be forgotten.'),
  'deletion.hold': described(FLAG, 'Whether a legal hold refuses every removal.'),
  'deletion.reason_required': described(FLAG, 'Whether forgetting needs a reason.'),
  'deletion.consent_required': described(
    FLAG,
    'Whether forgetting a grain with a user needs a grant for the purpose deletion.',
  ),
  'deletion.min_age_days': described(NUMBER, 'Age in days that a grain must have to be forgotten; null for none.'),
  'supersede.allowed': described(FLAG, 'Whether grains may be superseded.'),
  'supersede.reason_required': described(FLAG, 'Whether superseding needs a reason.'),
  'supersede.consent_required': described(FLAG, 'Whether superseding a grain with a user needs a grant.'),
  'supersede.protected_types': described(listOf(GRAIN_TYPE), 'Grain types that may not be superseded.'),
  'retention.default_ttl_days': described(NUMBER, 'Days after which a grain expires; null for never.'),
  'retention.by_namespace': described(COUNTS, 'Days after which grains of a namespace expire, by its name.'),
  'retention.by_type': described(COUNTS, 'Days after which grains of a type expire, by its name.'),
  'retention.audit_days': described(NUMBER, 'Days that audit entries are kept at least; null for no minimum.'),
  'retention.provenance_days': described(
    NUMBER,
    'Days that provenance records are kept at least; null for no minimum.',
  ),
  'encryption.required': described(FLAG, 'Whether encryption is demanded; it is always on.'),
  'encryption.per_user_keys': described(FLAG, 'Whether a key for each user is demanded; there always is one.'),
  'encryption.blind_index': described(
    FLAG,
    'Whether blind tokens in the triple index are demanded; they are always used.',
  ),
  'encryption.key_rotation_days': described(NUMBER, 'Days after which keys must be rotated; null for never.'),
  'pii.write_action': described(oneOf(...PII_WRITE_ACTIONS), 'The treatment of a write with personal data.'),
  'pii.categories': described(either(oneOf('*'), TEXTS), 'Categories of personal data that count; * for all.'),
  'pii.egress_action': described(
    oneOf('allow', 'redact', 'block'),
    'The treatment of personal data in texts that go to external models.',
  ),
  'residency.regions': described(TEXTS, 'Regions that data may lie in.'),
  'residency.enforce': described(FLAG, 'Whether other regions are refused.'),
  'residency.cross_border_consent': described(
    FLAG,
    'Whether a grant for the purpose cross_border lets data leave the regions.',
  ),
  'processing.restriction': described(oneOf(true), 'Whether restricted users are frozen, which is always so.'),
  'audit.reads': described(FLAG, 'Whether reads are in the audit trail; writes always are.'),
  'provenance.record': described(FLAG, 'Whether every recall leaves a record.'),
  'explanation.required': described(FLAG, 'Whether provenance records must support explanations.'),
  'write.user_id_required': described(FLAG, 'Whether every write needs a user.'),
  'access.authz_required': described(FLAG, 'Whether authorisation tuples decide in addition to the scopes of keys.'),
  'access.max_recall_limit': described(NUMBER, 'Largest limit of a recall; null for none.'),
  'access.segregation_of_duties': described(FLAG, 'Whether a principal may not be both admin and auditor.'),
  'tiering.allowed': described(FLAG, 'Whether grains may move to other tiers.'),
  'tiering.baa_required': described(FLAG, 'Whether moving needs a business associate agreement.'),
  'tiering.dpa_required': described(FLAG, 'Whether moving needs a data processing agreement.'),
  'tiering.baa_acknowledged': described(FLAG, 'Whether a business associate agreement is acknowledged.'),
  'tiering.dpa_acknowledged': described(FLAG, 'Whether a data processing agreement is acknowledged.'),
  'ai.risk_class': described(oneOf('minimal', 'limited', 'high'), 'Risk class of the system that uses the memory.'),
  'ai.oversight_required': described(FLAG, 'Whether human oversight is demanded.'),
  'ai.disclosure': described(FLAG, 'Whether answers of models must say that they are.'),
  'ai.impact_required': described(FLAG, 'Whether an impact assessment is demanded.'),
  'ai.impact_assessment': described(
    NOTED,
    'Answers of the impact assessment and the time of its review; null without one.',
  ),
  'ai.risk_review': described(NOTED, 'Time of the last review of risks; null without one.'),
  'guardrail.patterns': described(TEXTS, 'Texts that no grain may hold.'),
  'guardrail.mode': described(oneOf('exact', 'contains', 'fuzzy'), 'How a guardrail pattern matches a text.'),
  'records.controller': described(either(TEXT, NOTED), 'The person or body responsible for the processing.'),
  'records.purposes': described(TEXTS, 'Purposes of the processing.'),
  'records.recipients': described(TEXTS, 'The recipients of the data.'),
  'breach.notify_hours': described(NUMBER, 'Hours within which a breach must be reported; null for none.'),
};

const GROUPS: Readonly<Record<string, string>> = {
  consent: 'Rules on consent.',
  deletion: 'Rules on removing grains.',
  supersede: 'Rules on superseding grains.',
  retention: 'Rules on how long data is kept.',
  encryption: 'Rules on encryption.',
  pii: 'Rules on personal data.',
  residency: 'Rules on where data lies.',
  processing: 'Rules on restricted processing.',
  audit: 'Rules on the audit trail.',
  provenance: 'Rules on provenance records.',
  explanation: 'Rules on explanations.',
  write: 'Rules on writes.',
  access: 'Rules on access.',
  tiering: 'Rules on storage tiers.',
  ai: 'Rules of the laws on artificial intelligence.',
  guardrail: 'Rules on texts that are refused.',
  records: 'Entries of the record of processing activities.',
  breach: 'Rules on breaches.',
};

function rulesSchema(): Members {
  const groups: Record<string, Record<string, Members>> = {};
  for (const [path, schema] of Object.entries(RULE)) {
    const [group = '', name = ''] = path.split('.');
    groups[group] = { ...groups[group], [name]: schema };
  }
  return objectOf(
    Object.fromEntries(
      Object.entries(groups).map(([group, rules]) => [group, described(objectOf(rules), GROUPS[group] ?? '')]),
    ),
  );
}

const CHANGE = oneOf('upgraded', 'downgraded', 'unchanged');

const SHOWN: Members = {
  version: described(COUNT, 'Version of the policy.'),
  sealed: described(FLAG, 'Always true: a policy is sealed and never edited.'),
  presets: described(TEXTS, 'Names of the policy presets.'),
  rules: described(rulesSchema(), 'Every rule in force, by group.'),
  overrides: {
    type: 'object',
    additionalProperties: true,
    description: 'Rules that were set on top of the presets, by group.',
  },
  sealed_at: described(TIME, 'Time at which the version was sealed, in Unix seconds.'),
};
/** Members that a caller bound to part of the memory does not see. */
const OF_THE_WHOLE: Members = {
  seal_hash: described(HASH, 'SHA-256 that seals the policy.'),
  prev_seal_hash: described(orNull(HASH), 'Seal of the version before; null for the first one.'),
  sealed_by: described(TEXT, 'Principal that sealed the version.'),
  reason: described(orNull(TEXT), 'Why the policy was changed; null where no reason was given.'),
};

/** Schema of a policy. A version sealed by an older build lacks newer rules. */
export const POLICY: Members = objectOf(SHOWN, OF_THE_WHOLE);

export const POLICY_CHANGED: Members = withMembers(objectOf({ ...SHOWN, ...OF_THE_WHOLE }), {
  change: described(CHANGE, 'Whether the change tightened the policy (upgraded), loosened it (downgraded) or left it.'),
});

const ANY: Members = {};

export const SIMULATED: Members = objectOf({
  current: described(
    objectOf({
      presets: described(TEXTS, 'Names of the policy presets.'),
      seal_hash: described(HASH, 'Hash that seals the policy.'),
    }),
    'The policy that holds now.',
  ),
  proposed: described(
    objectOf({
      presets: described(TEXTS, 'Names of the policy presets.'),
      rules: described(rulesSchema(), 'Every rule that would hold, by group.'),
      seal_hash: described(HASH, 'Hash that would seal the policy.'),
    }),
    'The policy that the change would give.',
  ),
  diff: described(
    listOf(
      objectOf({
        path: described(TEXT, 'Path of the rule, such as deletion.hold.'),
        from: described(ANY, 'Value in force.'),
        to: described(ANY, 'Value that would hold.'),
        direction: described(
          oneOf('same', 'tighter', 'looser', 'mixed', 'neutral'),
          'Whether the new value is stricter or looser.',
        ),
      }),
    ),
    'The rules that would differ.',
  ),
  change: described(
    CHANGE,
    'Whether the change would tighten the policy (upgraded), loosen it (downgraded) or leave it.',
  ),
  allowed: described(FLAG, 'Whether the caller may make the change.'),
  errors: described(
    listOf(
      objectOf(
        { code: described(TEXT, 'Error code.') },
        {
          message: described(TEXT, 'Error message.'),
          path: described(TEXT, 'Path of the rule that the error is about.'),
          field: described(TEXT, 'Member of the request that the error is about.'),
          issue: described(TEXT, 'The fault of the member.'),
        },
      ),
    ),
    'Why the change would be refused.',
  ),
  impact: described(
    objectOf({
      grains_total: described(COUNT, 'Number of grains.'),
      grains_expiring: described(COUNT, 'Number of grains that would expire.'),
      users_without_consent: described(COUNT, 'Number of users whose grains would lack a consent.'),
      grains_with_blocked_pii: described(COUNT, 'Number of grains with personal data that would be refused.'),
      grains_unencrypted: described(COUNT, 'Number of grains that are not encrypted, which is always 0.'),
      principals_losing_access: described(
        COUNT,
        'Number of principals of live keys that tuples would let view nothing, if the change made tuples decide.',
      ),
    }),
    'The effect of the change on the grains that the memory holds.',
  ),
  affected_checks: described(TEXTS, 'Ids of the compliance checks that the change affects.'),
});
