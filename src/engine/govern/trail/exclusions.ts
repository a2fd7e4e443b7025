// The reasons for which a candidate of a recall is not among its hits (service contract, section 14).

/**
 * All reasons of the contract. On disk by index: only append to the end. The first three come from a policy, not from
 * the recall.
 */
export const EXCLUSION_REASONS = [
  'processing_restricted',
  'consent_revoked',
  'access_denied',
  'ttl_expired',
  'scope_mismatch',
  'namespace_mismatch',
  'user_mismatch',
  'type_mismatch',
  'tag_mismatch',
  'tag_excluded',
  'subject_mismatch',
  'relation_mismatch',
  'object_mismatch',
  'entity_mismatch',
  'time_out_of_range',
  'below_confidence',
  'below_importance',
  'below_min_score',
  'superseded',
  'supersession_demoted',
  'contradicted',
  'contradicted_filtered',
  'conflict_resolved',
  'deduplicated',
  'diversity_filtered',
  'namespace_capped',
  'budget_capped',
  'limit_exceeded',
] as const;
export type ExclusionReason = (typeof EXCLUSION_REASONS)[number];
