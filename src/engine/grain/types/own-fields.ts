// Fields of our own making in a blob, which the grain format does not know: what the contract calls otherwise or has in
// another shape.

export const OWN = {
  commonContext: 'common_context',
  thresholdRatio: 'threshold_ratio',
  rollbackEnabled: 'rollback_enabled',
  priorityText: 'priority_text',
  expiryPolicyMap: 'expiry_policy_map',
} as const;
