// Every rule of a policy (service contract section 10.1), once: its path, its kind and its loosest value, which is the
// default.
import { assert } from '../../base/assert.ts';
import { GRAIN_TYPE_NAMES, type GrainType } from '../../grain/grain.ts';
import { PII_CATEGORIES, type PiiCategory } from '../../text/pii/categories.ts';
import { PII_WRITE_ACTIONS, type PiiWriteAction } from '../../text/pii/write-action.ts';
import {
  atLeast,
  atMost,
  atMostByName,
  categories,
  demand,
  exemption,
  factBoolean,
  factObject,
  factTexts,
  isObject,
  type Kind,
  more,
  oneOf,
  type PolicyValue,
  permission,
  places,
} from './values.ts';

export type ConsentMode = 'none' | 'opt_out' | 'opt_in';
export type EgressAction = 'allow' | 'redact' | 'block';
export type RiskClass = 'minimal' | 'limited' | 'high';
export type GuardrailMode = 'exact' | 'contains' | 'fuzzy';

/** The rules in force, by path. Days and hours are integers; null is none. */
export interface Rules {
  readonly 'consent.mode': ConsentMode;
  /** null: not set, for instance when no consent is required. */
  readonly 'consent.accept_other_bases': boolean | null;
  readonly 'consent.on_read': boolean;
  readonly 'consent.sensitive_separate': boolean;
  readonly 'deletion.allowed': boolean;
  readonly 'deletion.hold': boolean;
  readonly 'deletion.reason_required': boolean;
  readonly 'deletion.consent_required': boolean;
  readonly 'deletion.min_age_days': number | null;
  readonly 'supersede.allowed': boolean;
  readonly 'supersede.reason_required': boolean;
  readonly 'supersede.consent_required': boolean;
  readonly 'supersede.protected_types': readonly GrainType[];
  readonly 'retention.default_ttl_days': number | null;
  readonly 'retention.by_namespace': Readonly<Record<string, number>>;
  readonly 'retention.by_type': Readonly<Record<string, number>>;
  readonly 'retention.audit_days': number | null;
  readonly 'retention.provenance_days': number | null;
  readonly 'encryption.required': boolean;
  readonly 'encryption.per_user_keys': boolean;
  readonly 'encryption.blind_index': boolean;
  readonly 'encryption.key_rotation_days': number | null;
  readonly 'pii.write_action': PiiWriteAction;
  readonly 'pii.categories': '*' | readonly PiiCategory[];
  /** The action once the agreements that `tiering` requires are acknowledged: see `egressAction`. */
  readonly 'pii.egress_action': EgressAction;
  readonly 'residency.regions': readonly string[];
  readonly 'residency.enforce': boolean;
  readonly 'residency.cross_border_consent': boolean;
  /** Always true (section 5): no policy can disable the restriction of a user. */
  readonly 'processing.restriction': true;
  readonly 'audit.reads': boolean;
  readonly 'provenance.record': boolean;
  readonly 'explanation.required': boolean;
  readonly 'write.user_id_required': boolean;
  readonly 'access.authz_required': boolean;
  readonly 'access.max_recall_limit': number | null;
  readonly 'access.segregation_of_duties': boolean;
  readonly 'tiering.allowed': boolean;
  readonly 'tiering.baa_required': boolean;
  readonly 'tiering.dpa_required': boolean;
  readonly 'tiering.baa_acknowledged': boolean;
  readonly 'tiering.dpa_acknowledged': boolean;
  readonly 'ai.risk_class': RiskClass;
  readonly 'ai.oversight_required': boolean;
  readonly 'ai.disclosure': boolean;
  readonly 'ai.impact_required': boolean;
  readonly 'ai.impact_assessment': PolicyValue;
  readonly 'ai.risk_review': PolicyValue;
  readonly 'guardrail.patterns': readonly string[];
  readonly 'guardrail.mode': GuardrailMode;
  readonly 'records.controller': PolicyValue;
  readonly 'records.purposes': readonly string[];
  readonly 'records.recipients': readonly string[];
  readonly 'breach.notify_hours': number | null;
}
export type RulePath = keyof Rules;

interface Row {
  readonly kind: Kind;
  readonly loosest: PolicyValue;
}

const TYPES: readonly string[] = GRAIN_TYPE_NAMES;
const CATEGORIES: readonly string[] = PII_CATEGORIES;

export const RULES: Readonly<Record<RulePath, Row>> = {
  'consent.mode': { kind: oneOf('none', 'opt_out', 'opt_in'), loosest: 'none' },
  'consent.accept_other_bases': { kind: exemption, loosest: null },
  'consent.on_read': { kind: demand, loosest: false },
  'consent.sensitive_separate': { kind: demand, loosest: false },
  'deletion.allowed': { kind: permission, loosest: true },
  'deletion.hold': { kind: demand, loosest: false },
  'deletion.reason_required': { kind: demand, loosest: false },
  'deletion.consent_required': { kind: demand, loosest: false },
  'deletion.min_age_days': { kind: atLeast, loosest: null },
  'supersede.allowed': { kind: permission, loosest: true },
  'supersede.reason_required': { kind: demand, loosest: false },
  'supersede.consent_required': { kind: demand, loosest: false },
  'supersede.protected_types': { kind: more(TYPES), loosest: [] },
  'retention.default_ttl_days': { kind: atMost, loosest: null },
  'retention.by_namespace': { kind: atMostByName, loosest: {} },
  'retention.by_type': { kind: atMostByName, loosest: {} },
  'retention.audit_days': { kind: atLeast, loosest: null },
  'retention.provenance_days': { kind: atLeast, loosest: null },
  'encryption.required': { kind: demand, loosest: false },
  'encryption.per_user_keys': { kind: demand, loosest: false },
  'encryption.blind_index': { kind: demand, loosest: false },
  'encryption.key_rotation_days': { kind: atMost, loosest: null },
  'pii.write_action': { kind: oneOf(...PII_WRITE_ACTIONS), loosest: 'allow' },
  'pii.categories': { kind: categories(CATEGORIES), loosest: [] },
  'pii.egress_action': { kind: oneOf('allow', 'redact', 'block'), loosest: 'allow' },
  'residency.regions': { kind: places, loosest: [] },
  'residency.enforce': { kind: demand, loosest: false },
  'residency.cross_border_consent': { kind: demand, loosest: false },
  'processing.restriction': { kind: oneOfTrue(), loosest: true },
  'audit.reads': { kind: demand, loosest: false },
  'provenance.record': { kind: demand, loosest: false },
  'explanation.required': { kind: demand, loosest: false },
  'write.user_id_required': { kind: demand, loosest: false },
  'access.authz_required': { kind: demand, loosest: false },
  'access.max_recall_limit': { kind: atMost, loosest: null },
  'access.segregation_of_duties': { kind: demand, loosest: false },
  'tiering.allowed': { kind: permission, loosest: true },
  'tiering.baa_required': { kind: demand, loosest: false },
  'tiering.dpa_required': { kind: demand, loosest: false },
  'tiering.baa_acknowledged': { kind: factBoolean, loosest: false },
  'tiering.dpa_acknowledged': { kind: factBoolean, loosest: false },
  'ai.risk_class': { kind: oneOf('minimal', 'limited', 'high'), loosest: 'minimal' },
  'ai.oversight_required': { kind: demand, loosest: false },
  'ai.disclosure': { kind: demand, loosest: false },
  'ai.impact_required': { kind: demand, loosest: false },
  'ai.impact_assessment': { kind: factObject, loosest: null },
  'ai.risk_review': { kind: factObject, loosest: null },
  'guardrail.patterns': { kind: more(), loosest: [] },
  'guardrail.mode': { kind: oneOf('exact', 'contains', 'fuzzy'), loosest: 'exact' },
  'records.controller': { kind: factObject, loosest: null },
  'records.purposes': { kind: factTexts, loosest: [] },
  'records.recipients': { kind: factTexts, loosest: [] },
  'breach.notify_hours': { kind: atMost, loosest: null },
};

export const RULE_PATHS = Object.keys(RULES) as readonly RulePath[]; // The table's keys are the paths.

export function isRulePath(path: string): path is RulePath {
  return Object.hasOwn(RULES, path);
}

/** Values for some rules; the others are at their loosest. */
export type SomeRules = { readonly [P in RulePath]?: Rules[P] };

/** All rules, with the loosest value where `some` has none. */
export function withLoosest(some: Readonly<Partial<Record<RulePath, PolicyValue>>>): Rules {
  const rules: Partial<Record<RulePath, PolicyValue>> = {};
  for (const path of RULE_PATHS) rules[path] = some[path] ?? RULES[path].loosest;
  return rules as Rules; // Every path has a value that its kind admits.
}

/** The rules in their wire form: `consent.mode` is the member `mode` of `consent`. */
export function nested(some: Readonly<Partial<Record<RulePath, PolicyValue>>>): PolicyValue {
  const groups: Record<string, Record<string, PolicyValue>> = {};
  for (const path of RULE_PATHS) {
    const value = some[path];
    if (value === undefined) continue;
    const [group, name] = path.split('.');
    assert(group !== undefined && name !== undefined, 'a path has two parts');
    groups[group] ??= {};
    groups[group][name] = value;
  }
  return groups;
}

/** The inverse of `nested`. Members that are not rules are left out. */
export function flat(groups: PolicyValue): Readonly<Partial<Record<RulePath, PolicyValue>>> {
  const rules: Partial<Record<RulePath, PolicyValue>> = {};
  if (!isObject(groups)) return rules;
  for (const path of RULE_PATHS) {
    const [group = '', name = ''] = path.split('.');
    const members = groups[group];
    const value = members !== undefined && isObject(members) ? members[name] : undefined;
    if (value !== undefined) rules[path] = value;
  }
  return rules;
}

function oneOfTrue(): Kind {
  return { ...demand, problem: (value) => (value === true ? undefined : 'is always true') };
}
