import type { DeploymentEvidence, Evidence } from '../evidence.ts';

/** Server facts for tests that examine only the partitions. */
export const BARE_DEPLOYMENT: DeploymentEvidence = {
  nowSeconds: Math.floor(Date.now() / 1_000),
  authMode: 'api-key',
  masterKeySource: 'environment',
  masterKeyInDataDirectory: false,
  masterKeyIsGuessable: false,
  tls: true,
  loopback: false,
  services: [],
  webhooks: [],
  keys: [],
  region: undefined,
  modelAssignments: {},
  previousFullRunAt: undefined,
  backedUpAt: undefined,
  drill: { threshold: 100, tooEarly: false, raised: true },
  tiers: [],
};

/** Metrics that nobody computed. */
export const NO_METRICS: Evidence['metrics'] = { ops: { error: 'not asked' }, intel: { error: 'not asked' } };
