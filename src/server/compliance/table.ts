// The checks of a verification (service contract, section 13), in its order: subject, regulations, severity of a
// failure, description and remedy. `checks/` holds the code that judges them.

import type { Severity } from './severity.ts';

export const REGULATIONS = ['gdpr', 'hipaa', 'eu_ai_act', 'soc2', 'ccpa', 'lgpd', 'pipl'] as const;
export type Regulation = (typeof REGULATIONS)[number];

export interface Citation {
  readonly regulation: Regulation;
  readonly article: string;
}

export interface CheckRow {
  readonly id: string;
  readonly group: string;
  readonly regulations: readonly Citation[];
  readonly severity: Severity;
  readonly description: string;
  readonly remediation: string;
}

// id; group; citations: a letter for the regulation, then the article; severity; description; remediation
const ROWS = `
encryption_at_rest; encryption; G32 H164.312(a)(2)(iv) 2-CC6.1 L46 P51; C; Stored grains are ciphertext; Restore the plaintext grains from a backup, and find out what wrote them
encryption_algorithm; encryption; G32 H164.312(e) 2-CC6.1; H; Grains and keys are sealed with AES-256-GCM; Rotate the key of the memory, then compact: this seals the data again
encryption_roundtrip; encryption; G32 H164.312; C; Data sealed under a memory's, a user's and a scope's key is read back unchanged; Run verify, and check the health of the shard
encryption_tamper_detection; encryption; G32 H164.312(c) A15; C; A changed nonce, text or tag is refused; Replace the build: its decryption accepts changed data
encryption_nonce_uniqueness; encryption; G32 2-CC6.1; C; No nonce is used twice under a key; Rotate the key of the memory, then compact, and check the machine's source of random numbers
encryption_key_isolation; encryption; G32 H164.312 P51; C; No user's key opens another user's grains; Replace the build: it does not keep the keys of users apart
encryption_per_user_keys; encryption; G17 G32 L46; H; Each user with grains has one key, an erased one none; Run verify, and rebuild the index where keys were lost
encryption_key_wrapping; encryption; G32 H164.312 2-CC6.1; C; Keys are stored only wrapped under the master key; Rotate the master key, and restore damaged key files from a backup
encryption_key_rotation; encryption; G32 2-CC6.1 H164.308; M; Keys are no older than the policy allows; Rotate the key of the memory (rotate-keys)
encryption_master_key_source; encryption; G32 2-CC6.1; C; The master key comes from outside the data directory; Give the master key by GRANARY_MASTER_KEY or --master-key-file and keep it elsewhere
erasure_crypto; erasure; G17 C1798.105 L18 P47; C; No remaining key opens the data of an erased user; Replace the build: its erasures leave keys that open the data
erasure_completeness; erasure; G17 C1798.105 L18 P47; C; No data of an erased user is left; Erase the users again, and rebuild the indexes
erasure_proof; erasure; G17 G5(2) C1798.105; H; Each erasure has a complete proof; Repeat the erasure: it answers with the proof again
erasure_key_destruction; erasure; G17 P47; C; Keys of erased users are destroyed, and the trail says so; Erase the users again
erasure_data_inaccessible; erasure; G17 L18; C; No read path serves an erased grain; Rebuild the indexes, and run the checks again
erasure_memory_clean; erasure; G17 G25; H; No cache holds anything of an erased user; Restart the server
blind_index_enabled; blind_index; G25 G32 H164.312; H; The index holds tokens instead of names; Rebuild the indexes
blind_index_no_plaintext; blind_index; G25 G32 2-CC6.1; H; No index file contains a name of a grain in plain text; Rebuild the indexes
blind_index_token_strength; blind_index; G32; H; Tokens are HMAC-SHA256 under a key of 32 bytes; Replace the build: its tokens are weak
blind_index_deterministic; blind_index; G32 G5(1)(d); M; The same name has the same token, and is found by it; Rebuild the indexes
blind_index_key_separation; blind_index; G32 P51; H; The keys of tokens and indexes differ from all other keys; Restore the key files from a backup
blind_index_erasure; blind_index; G17 G32; C; No token leads to an erased grain; Wait for the purge that an erasure began, or rebuild the indexes
blind_index_provenance; blind_index; G5(1)(c) A12; M; Records of recalls hold tokens instead of names; Let the old records expire, and run the checks again
audit_enabled; audit; G5(2) H164.312(b) A12 2-CC7.2; C; Every change of a memory leaves an entry; Check the health of the shard: it does not write entries
audit_chain_integrity; audit; G5(2) H164.312(c) A12 2-CC7.2; C; Every entry's hash follows from the one before; Compare with a backup from before the named entry, and treat it as an incident
audit_sequence_gapless; audit; G5(2) 2-CC7.2; H; Entries are numbered without a gap and follow in time; Compare with a backup, and check the clock of the machine
audit_immutability; audit; G5(2) H164.312(c) 2-CC7.2; C; An edited or missing entry is noticed; Replace the build: its chain accepts changed entries
audit_attribution; audit; G5(2) H164.312(a)(2)(i) 2-CC6.1; H; Each entry names who acted; Turn authentication on, so that no caller is anonymous
audit_retention; audit; G5(2) H164.316(b)(2) A19 2-CC7.2; H; No entry was removed before its time; Restore the audit trail from a backup
policy_present; policy; G24 2-CC1; H; A policy with a preset is sealed; Apply a preset: granary policy apply
policy_seal_intact; policy; G5(2) 2-CC8.1; C; The policy is as it was sealed; Restore the shard from a backup, and treat it as an incident
policy_enforced_on_write; policy; G25 H164.312; C; A write that breaks a rule is refused; Replace the build: it does not enforce the rules
policy_deletion_control; policy; G17(3) H164.316 2-CC6.5; H; A deletion that breaks a rule is refused; Replace the build: it does not enforce the rules
policy_retention_enforced; policy; G5(1)(e) L15 P19 C1798.100; H; Expired grains are removed; Enforce retention: POST retention/enforce
policy_consent_enforced; policy; G6 G7 L7 P13; C; Personal grains have the consent that the policy requires; Ask for the missing consent, or forget the grains
authz_authentication_required; authorization; G32 H164.312(d) 2-CC6.1; C; Callers have to say who they are; Start the server with --auth api-key, oidc or composite
authz_default_deny; authorization; G32 H164.312(a) 2-CC6.1; C; A caller without a grant may do nothing; Revoke the tuples that grant everyone of a type what strangers must not do
authz_tuple_integrity; authorization; 2-CC6.1; M; Grants of access are well formed; Revoke the tuples that are named
authz_denials_audited; authorization; G5(2) H164.312(b) 2-CC6.3; H; A refused access leaves an entry; Report a fault of the server: a canary's denial left no entry
hipaa_phi_detection; hipaa; H164.514(b)(2); H; The 18 identifiers of Safe Harbor are found; Replace the build: its detector misses identifiers
hipaa_phi_write_gate; hipaa; H164.502 H164.508; C; Health information needs a consent; Apply the preset hipaa
hipaa_baa_registry; hipaa; H164.308(b); C; Outside services are covered by an agreement; Acknowledge the agreement: tiering.baa_acknowledged, or use no outside service
hipaa_access_control; hipaa; H164.312(a)(2)(i); H; Access is granted by name, and each caller has its own; Require authorization, and give each caller a key of its own
hipaa_audit_controls; hipaa; H164.312(b); H; Reads leave entries; Set audit.reads
hipaa_integrity; hipaa; H164.312(c)(1); C; Each grain matches its address; Restore the grains that are damaged from a backup
hipaa_minimum_necessary; hipaa; H164.502(b); M; A recall returns no more than is needed; Set access.max_recall_limit to 100 or less
hipaa_transmission_security; hipaa; H164.312(e)(1); C; Nothing travels in the clear; Give the server a certificate (--tls-cert, --tls-key), and use https for outside services
euai_risk_management; eu_ai_act; A9; H; Risks are classified and reviewed; Set ai.risk_class and ai.risk_review
euai_data_governance; eu_ai_act; A10; M; Grains tell where they come from; Give grains a source_type that the contract lists
euai_data_quality; eu_ai_act; A10(3); M; Beliefs agree, and are trusted; Supersede what is contradicted, forget what is not trusted
euai_technical_documentation; eu_ai_act; A11; M; The documentation of the system is complete; Set records.controller, and seal a policy
euai_record_keeping; eu_ai_act; A12; C; Each recall leaves a record; Set provenance.record and audit.reads
euai_provenance_integrity; eu_ai_act; A12; H; Records of recalls are unchanged; Compare with a backup, and treat it as an incident
euai_transparency; eu_ai_act; A13; M; A recall can explain its results; Replace the build: it explains nothing
euai_human_oversight; eu_ai_act; A14; H; A person watches over the system; Name a person as the principal of a key with the scope admin (user:...)
euai_accuracy_metrics; eu_ai_act; A15(1); M; Accuracy is measured; Use a build with metrics of recall
euai_robustness; eu_ai_act; A15(4); H; Malformed writes are refused without an error of the server; Replace the build: malformed writes get through
euai_cybersecurity; eu_ai_act; A15(5); H; Encryption, the master key and access control pass their checks; Fix what encryption_tamper_detection, encryption_master_key_source and authz_default_deny report
euai_log_retention; eu_ai_act; A19 A26(6); H; Trail and records are kept for half a year; Set retention.audit_days and retention.provenance_days to 180 or more
euai_deployer_monitoring; eu_ai_act; A26(5); L; The checks run regularly; Run the checks at least once a month
euai_impact_assessment; eu_ai_act; A27; H; The impact of a system of high risk was assessed; Set ai.impact_assessment with all its answers
euai_ai_disclosure; eu_ai_act; A50; H; What a machine said is marked as such; Set ai.disclosure, and source_type agent on what assistants say
euai_explanation_right; eu_ai_act; A86; H; Each recorded recall can be explained; Replace the build: it explains nothing
soc2_logical_access; soc2; 2-CC6.1; C; Access is restricted to those who were granted it; Turn authentication on, and require authorization
soc2_segregation_duties; soc2; 2-CC6.3; H; No administrator is also an auditor; Let somebody other than the administrators audit
soc2_monitoring; soc2; 2-CC7.2; M; Operations are watched; Use a build with metrics of operations
soc2_incident_detection; soc2; 2-CC7.3; H; A burst of deletions is noticed; Report a fault of the server: its monitor missed a burst
soc2_change_management; soc2; 2-CC8.1; M; Each change of the policy has an author, a reason and a predecessor; Give a reason with each change of the policy
soc2_availability_backup; soc2; 2-A1.2; M; Data can be exported and restored; Export the memory at least once a month
ccpa_right_to_delete; ccpa; C1798.105; C; Deletion works, and no request waits; Fix what the checks of erasure report
ccpa_opt_out; ccpa; C1798.120; H; An opt-out is respected; Apply the preset ccpa
lgpd_legal_basis; lgpd; L7 L11; H; Personal grains have a lawful basis; Ask for the consent that is missing, or name the processing_basis
lgpd_data_subject_access; lgpd; L18; H; A person's data can be exported completely; Rebuild the indexes, and export again
pipl_separate_consent; pipl; P29; H; Sensitive data has a consent of its own; Ask for a consent to the purpose sensitive, or forget the grains
pipl_cross_border; pipl; P38-40; C; Data stays in its regions; Set residency.regions, and keep memories and services within them
tier_encryption; tiered_storage; G32 H164.312; C; Grains in slower tiers are ciphertext; Encrypt the data that is stored there in plain text
tier_erasure_coverage; tiered_storage; G17 C1798.105; C; No tier holds anything of an erased user; Erase the users again
tier_residency; tiered_storage; G44 P40; H; Tiers are in the regions of the policy; Move the tiers into the regions
tier_movement_audited; tiered_storage; G5(2) 2-CC7.2; M; Each move between tiers left an entry; Compare the tiers with the trail
agent_identity_registered; agent_identity; A12 2-CC6.1; M; Agents that act are registered; Register the agents that are named
agent_identity_deactivation; agent_identity; 2-CC6.2 H164.308(a)(3); H; A deactivated agent no longer acts; Revoke the keys of the agents that are named
policy_version_chain; policy_lifecycle; G5(2) 2-CC8.1; H; Each version of the policy names the one before; Restore the shard from a backup, and treat it as an incident
policy_change_audited; policy_lifecycle; G5(2) 2-CC8.1; H; Each version of the policy left its entries; Compare the trail with a backup
policy_downgrade_authorised; policy_lifecycle; 2-CC8.1 H164.316; H; A loosened policy has an author and a reason; Give a reason with each loosening of the policy
policy_simulation_consistent; policy_lifecycle; 2-CC8.1; L; Simulating no change changes nothing; Replace the build: its simulation is wrong
policy_resolution_deterministic; policy_lifecycle; 2-CC8.1 G25; M; The order of presets does not matter; Replace the build: it composes presets wrongly
policy_review_age; policy_lifecycle; G24 A9 2-CC1; L; The policy was reviewed within a year; Seal the policy anew after a review
gdpr_record_of_processing; records; G30; H; The record of processing is complete; Set records.controller, records.purposes and records.recipients
`;

const LETTERS: Readonly<Record<string, readonly [Regulation, prefix: string]>> = {
  G: ['gdpr', 'Art. '],
  H: ['hipaa', '45 CFR '],
  A: ['eu_ai_act', 'Art. '],
  2: ['soc2', ''],
  C: ['ccpa', '§'],
  L: ['lgpd', 'Art. '],
  P: ['pipl', 'Art. '],
};
const SEVERITY_LETTERS: Readonly<Record<string, Severity>> = { C: 'critical', H: 'high', M: 'medium', L: 'low' };

/** `G32` is gdpr's Art. 32, `2-CC6.1` is soc2's CC6.1. */
function citation(text: string): Citation {
  const [regulation, prefix] = LETTERS[text[0] ?? ''] ?? ['gdpr', ''];
  return { regulation, article: `${prefix}${text.slice(1).replace(/^-/, '')}` };
}

export const CHECKS: readonly CheckRow[] = ROWS.trim()
  .split('\n')
  .map((line) => {
    const [id = '', group = '', articles = '', severity = '', description = '', remediation = ''] = line.split('; ');
    return {
      id,
      group,
      regulations: articles.split(' ').map(citation),
      severity: SEVERITY_LETTERS[severity] ?? 'critical',
      description,
      remediation,
    };
  });

const BY_ID = new Map(CHECKS.map((check) => [check.id, check]));

export function checkOf(id: string): CheckRow | undefined {
  return BY_ID.get(id);
}

/**
 * The regulation of a filter, case-insensitive, `-` counts as `_`. Undefined for an empty filter, null for an unknown
 * regulation.
 */
export function regulationOf(filter: string | undefined): Regulation | undefined | null {
  const plain = (filter ?? '').trim().toLowerCase().replaceAll('-', '_');
  if (plain === '') return undefined;
  return REGULATIONS.find((name) => name === plain) ?? null;
}
