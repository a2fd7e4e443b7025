// The presets (service contract section 10.3), one row each. A rule that a preset does not name keeps the baseline's
// value, or its loosest value when the baseline does not name it either.
import { EngineError } from '../../base/errors.ts';
import { PHI_CATEGORIES } from '../../text/pii/categories.ts';
import type { SomeRules } from './rules.ts';

const YEAR = 365;

export const PRESETS = {
  baseline: {
    'retention.audit_days': YEAR,
    'retention.provenance_days': 180,
    'audit.reads': true,
    'provenance.record': true,
  },
  gdpr: {
    'consent.mode': 'opt_in',
    'consent.accept_other_bases': true,
    'consent.sensitive_separate': true,
    'retention.audit_days': 3 * YEAR,
    'retention.provenance_days': 180,
    'encryption.required': true,
    'encryption.blind_index': true,
    'encryption.key_rotation_days': YEAR,
    'pii.write_action': 'flag',
    'pii.categories': '*',
    'pii.egress_action': 'redact',
    'audit.reads': true,
    'provenance.record': true,
    'tiering.dpa_required': true,
    'breach.notify_hours': 72,
  },
  hipaa: {
    'deletion.reason_required': true,
    'retention.audit_days': 6 * YEAR,
    'retention.provenance_days': 180,
    'encryption.required': true,
    'encryption.blind_index': true,
    'encryption.key_rotation_days': YEAR,
    'pii.write_action': 'require_consent',
    'pii.categories': PHI_CATEGORIES,
    'audit.reads': true,
    'provenance.record': true,
    'access.authz_required': true,
    'access.max_recall_limit': 100,
    'tiering.baa_required': true,
    'breach.notify_hours': 1_440,
  },
  ccpa: {
    'consent.mode': 'opt_out',
    // The law gives the person a choice, and no other basis may replace it.
    'consent.accept_other_bases': false,
    'consent.on_read': true,
    'retention.audit_days': 2 * YEAR,
    'retention.provenance_days': 180,
    'encryption.required': true,
    'pii.write_action': 'flag',
    'pii.categories': '*',
    'pii.egress_action': 'redact',
    'provenance.record': true,
  },
  lgpd: {
    'consent.mode': 'opt_in',
    'consent.accept_other_bases': true,
    'consent.sensitive_separate': true,
    'retention.audit_days': 2 * YEAR,
    'retention.provenance_days': 180,
    'encryption.required': true,
    'encryption.blind_index': true,
    'encryption.key_rotation_days': YEAR,
    'pii.write_action': 'flag',
    'pii.categories': '*',
    'pii.egress_action': 'redact',
    'audit.reads': true,
    'provenance.record': true,
    'tiering.dpa_required': true,
    'breach.notify_hours': 72,
  },
  pipl: {
    'consent.mode': 'opt_in',
    'consent.accept_other_bases': true,
    'consent.on_read': true,
    'consent.sensitive_separate': true,
    'retention.audit_days': 3 * YEAR,
    'retention.provenance_days': 180,
    'encryption.required': true,
    'encryption.blind_index': true,
    'encryption.key_rotation_days': YEAR,
    'pii.write_action': 'flag',
    'pii.categories': '*',
    'pii.egress_action': 'redact',
    // Takes effect once regions are named: an empty list permits any region.
    'residency.enforce': true,
    'residency.cross_border_consent': true,
    'audit.reads': true,
    'provenance.record': true,
    'tiering.dpa_required': true,
    'breach.notify_hours': 24,
  },
  eu_ai_act: {
    'deletion.reason_required': true,
    'retention.audit_days': 180,
    'retention.provenance_days': 180,
    'encryption.required': true,
    'audit.reads': true,
    'provenance.record': true,
    'explanation.required': true,
    'ai.oversight_required': true,
    'ai.disclosure': true,
    'breach.notify_hours': 360,
  },
  soc2: {
    'deletion.reason_required': true,
    'retention.audit_days': YEAR,
    'retention.provenance_days': YEAR,
    'encryption.required': true,
    'encryption.blind_index': true,
    'encryption.key_rotation_days': YEAR,
    'pii.write_action': 'flag',
    'pii.categories': '*',
    'pii.egress_action': 'redact',
    'audit.reads': true,
    'provenance.record': true,
    'access.authz_required': true,
    'access.segregation_of_duties': true,
    'breach.notify_hours': 72,
  },
  colorado_ai_act: {
    'retention.audit_days': 3 * YEAR,
    'retention.provenance_days': YEAR,
    'audit.reads': true,
    'provenance.record': true,
    'explanation.required': true,
    'ai.disclosure': true,
    'ai.impact_required': true,
    'breach.notify_hours': 2_160,
  },
  legal_hold: { 'deletion.hold': true },
  strict_deletion: { 'deletion.reason_required': true, 'deletion.consent_required': true },
  strict_supersede: { 'supersede.reason_required': true, 'supersede.consent_required': true },
  /** Erasing a user is not a deletion; only `deletion.hold` prevents it. */
  append_only: { 'supersede.allowed': false, 'deletion.allowed': false },
  pii_block: { 'pii.write_action': 'block', 'pii.categories': '*' },
  retention_30d: { 'retention.default_ttl_days': 30 },
  retention_365d: { 'retention.default_ttl_days': 365 },
} as const satisfies Record<string, SomeRules>;

export type PresetName = keyof typeof PRESETS;

/** The preset that applies to every memory, below its own presets. */
export const BASELINE: PresetName = 'baseline';
export const LEGAL_HOLD: PresetName = 'legal_hold';

/** The preset with that name, in any case, with `-` for `_`. POL-E009 for an unknown name. */
export function presetNamed(name: string): PresetName {
  const plain = name.trim().toLowerCase().replaceAll('-', '_');
  if (Object.hasOwn(PRESETS, plain)) return plain as PresetName; // It is a key of the table.
  const known = Object.keys(PRESETS).join(', ');
  throw new EngineError('POL-E009', `unknown preset ${name.slice(0, 64)}: there are ${known}`, {
    details: [{ field: 'presets', issue: `unknown: ${name.slice(0, 64)}` }],
  });
}

/** The named presets, distinct and sorted. POL-E009 for an unknown name. */
export function presetsNamed(names: readonly string[]): readonly PresetName[] {
  return [...new Set(names.map(presetNamed))].sort();
}

export function rulesOfPreset(name: PresetName): SomeRules {
  return PRESETS[name];
}
