import type { DeploymentEvidence } from '../evidence.ts';

/** What a server of its own tells of itself where nothing but the partitions is looked at. */
export const BARE_DEPLOYMENT: DeploymentEvidence = {
  nowSeconds: Math.floor(Date.now() / 1_000),
  authMode: 'api-key',
  masterKeySource: 'environment',
  masterKeyBesideData: false,
  masterKeyIsGuessable: false,
  tls: true,
  loopback: false,
  services: [],
  keys: [],
  region: undefined,
  modelAssignments: {},
  previousFullRunAt: undefined,
  backedUpAt: undefined,
  tiers: [],
};
