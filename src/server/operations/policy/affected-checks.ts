// Maps policy rules to the compliance checks that depend on them (service contract, section 13).
const CHECKS: readonly (readonly [rules: RegExp, checks: readonly string[]])[] = [
  [/^consent\./, ['policy_enforced_on_write', 'policy_consent_enforced']],
  [/^consent\.sensitive_separate$/, ['pipl_separate_consent']],
  [/^deletion\./, ['policy_deletion_control']],
  [/^(supersede|write|guardrail)\./, ['policy_enforced_on_write']],
  [/^retention\.(default_ttl_days|by_namespace|by_type)$/, ['policy_retention_enforced']],
  [/^retention\.audit_days$/, ['audit_retention']],
  [/^retention\.provenance_days$/, ['euai_log_retention']],
  [/^pii\./, ['policy_enforced_on_write', 'hipaa_phi_detection', 'hipaa_phi_write_gate']],
  [/^audit\./, ['audit_enabled', 'hipaa_audit_controls']],
  [/^provenance\./, ['euai_record_keeping', 'euai_provenance_integrity']],
  [/^explanation\./, ['euai_explanation_right']],
  [/^access\.authz_required$/, ['authz_default_deny', 'hipaa_access_control', 'soc2_logical_access']],
  [/^access\.max_recall_limit$/, ['hipaa_minimum_necessary']],
  [/^access\.segregation_of_duties$/, ['soc2_segregation_duties']],
  [/^tiering\./, ['hipaa_baa_registry']],
  [/^ai\.(impact|risk)/, ['euai_risk_management', 'euai_impact_assessment']],
  [/^ai\.oversight_required$/, ['euai_human_oversight']],
  [/^ai\.disclosure$/, ['euai_ai_disclosure']],
];

/** The checks affected by the changed paths, distinct, in the table's order, with those that examine every change. */
export function affectedChecks(paths: readonly string[]): string[] {
  if (paths.length === 0) return [];
  const found = CHECKS.filter(([rules]) => paths.some((path) => rules.test(path))).flatMap(([, checks]) => checks);
  return [...new Set([...found, 'soc2_change_management', 'policy_change_audited'])];
}
