import { areas } from '../evidence.ts';
import { fail, type Judge, passIf, skip, within } from '../verdict.ts';

/** Share of agents without an identity that only warns. */
const UNREGISTERED_SHARE_WARNS = 0.05;
/** Agents that a verdict names. */
const NAMED_MAX = 5;

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
    const without = new Set([
      ...areas(evidence, 'trail').flatMap((trail) => trail.unregisteredAgents),
      ...areas(evidence, 'data').flatMap((data) => data.unregisteredAuthors),
    ]);
    const named = without.size === 0 ? '' : `: ${[...without].slice(0, NAMED_MAX).join(', ')}`;
    const detail = `${without.size} of ${agents.size} agents that acted have no identity${named}`;
    return within(without.size / agents.size, 0, UNREGISTERED_SHARE_WARNS, detail);
  },
  agent_identity_deactivation: (evidence) => {
    const trails = areas(evidence, 'trail');
    const late = new Set(trails.flatMap((trail) => trail.lateAgents));
    if (late.size > 0) return fail(`deactivated agents acted afterwards: ${[...late].slice(0, NAMED_MAX).join(', ')}`);
    // Every partition holds all identities.
    const deactivated = Math.max(0, ...trails.map((trail) => trail.deactivatedAgents));
    return deactivated === 0
      ? skip('no agent is deactivated')
      : passIf(true, `${deactivated} deactivated agents no longer act`);
  },
};
