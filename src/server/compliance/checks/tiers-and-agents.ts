import { areas } from '../evidence.ts';
import { fail, type Judge, skip } from '../verdict.ts';

export const TIERS: Readonly<Record<string, Judge>> = Object.fromEntries(
  ['tier_encryption', 'tier_erasure_coverage', 'tier_residency', 'tier_movement_audited'].map((id): [string, Judge] => [
    id,
    ({ deployment }) =>
      deployment.tiers.length === 0 ? skip('hot tier only') : fail(`${deployment.tiers.join(', ')} were not examined`),
  ]),
);

export const AGENTS: Readonly<Record<string, Judge>> = {
  agent_identity_registered: (evidence) => {
    const agents = new Set([
      ...areas(evidence, 'trail').flatMap((trail) => trail.agents),
      ...areas(evidence, 'data').flatMap((data) => data.agentAuthors),
    ]);
    if (agents.size === 0) return skip('no agent acted');
    return fail(`${agents.size} agents acted, and this build registers none: ${[...agents].slice(0, 5).join(', ')}`);
  },
  agent_identity_deactivation: () => skip('no agent is deactivated'),
};
