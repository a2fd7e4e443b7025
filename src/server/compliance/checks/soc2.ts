import { areas, policyOf, sum } from '../evidence.ts';
import { fail, type Judge, pass, passIf, warn } from '../verdict.ts';

const BACKUP_DAYS = 30;

export const SOC2: Readonly<Record<string, Judge>> = {
  soc2_logical_access: (evidence) => {
    const { authMode } = evidence.deployment;
    const required = policyOf(evidence).rules['access.authz_required'];
    const detail = `auth mode ${authMode}, access.authz_required ${required ? 'on' : 'off'}`;
    // A key with the scope admin counts as owner; nobody else can be granted anything without tuples.
    return authMode === 'none' || !required ? fail(detail) : warn(`${detail}; access is by the owner's keys alone`);
  },
  soc2_segregation_duties: ({ deployment }) => {
    const admins = new Set(
      deployment.keys.filter(({ scopes }) => scopes.includes('admin')).map(({ principal }) => principal),
    );
    if (admins.size === 1) return warn('only one principal holds admin');
    return fail(`${admins.size} principals hold admin, and this build cannot name an auditor`);
  },
  soc2_monitoring: () => fail('metrics of operations are not computed in this build'),
  soc2_incident_detection: () => fail('this build has no monitor of bursts'),
  soc2_change_management: (evidence) => {
    const { versions, missingVersions } = policyOf(evidence);
    const loose = versions.filter(
      ({ version, sealedBy, prevSealHash }) => sealedBy === '' || (version > 1 && prevSealHash === null),
    ).length;
    const unreasoned = versions.filter(({ reason }) => reason === null || reason === '').length;
    const detail = `${versions.length} versions: ${loose} without author or predecessor, ${unreasoned} without a reason, ${missingVersions} gone`;
    if (versions.length === 0 || loose > 0 || missingVersions > 0) return fail(detail);
    return unreasoned > 0 ? warn(detail) : pass(detail);
  },
  soc2_availability_backup: (evidence) => {
    const roundTrip = areas(evidence, 'canary').every(({ exportRoundTrip }) => exportRoundTrip);
    const exportedAt = Math.max(0, ...areas(evidence, 'trail').map(({ newest }) => newest['export.file'] ?? 0));
    const days = (evidence.deployment.nowSeconds - exportedAt) / 86_400;
    const export_ = exportedAt === 0 ? 'never exported' : `exported ${days.toFixed(1)} days ago`;
    if (!roundTrip) return fail(`a canary did not come back from an export; ${export_}`);
    const detail = `a canary came back from an export; ${export_}`;
    return days <= BACKUP_DAYS ? pass(detail) : warn(detail);
  },
};

export const TIERS: Readonly<Record<string, Judge>> = Object.fromEntries(
  ['tier_encryption', 'tier_erasure_coverage', 'tier_residency', 'tier_movement_audited'].map((id): [string, Judge] => [
    id,
    ({ deployment }) =>
      deployment.tiers.length === 0
        ? { status: 'skip', detail: 'hot tier only' }
        : fail(`${deployment.tiers.join(', ')} were not looked at`),
  ]),
);

export const AGENTS: Readonly<Record<string, Judge>> = {
  agent_identity_registered: (evidence) => {
    const agents = new Set([
      ...areas(evidence, 'trail').flatMap((trail) => trail.agents),
      ...areas(evidence, 'data').flatMap((data) => data.agentAuthors),
    ]);
    if (agents.size === 0) return { status: 'skip', detail: 'no agent acted' };
    return fail(`${agents.size} agents acted, and this build registers none: ${[...agents].slice(0, 5).join(', ')}`);
  },
  agent_identity_deactivation: () => ({ status: 'skip', detail: 'no agent is deactivated' }),
};

export const LIFECYCLE: Readonly<Record<string, Judge>> = {
  policy_version_chain: (evidence) => {
    const { versions, missingVersions } = policyOf(evidence);
    const canaries = areas(evidence, 'canary').every(({ policyChainIntact }) => policyChainIntact);
    const broken = versions.filter(
      ({ prevSealHash, version, intact }, i) =>
        !intact || (i > 0 ? prevSealHash !== versions[i - 1]?.sealHash : version === 1 && prevSealHash !== null),
    ).length;
    return passIf(
      broken === 0 && missingVersions === 0 && canaries,
      `${broken} of ${versions.length} versions break the chain, ${missingVersions} are gone; a canary policy ` +
        `${canaries ? 'was' : 'was not'} chained`,
    );
  },
  policy_change_audited: (evidence) => {
    const { versions } = policyOf(evidence);
    const canaries = areas(evidence, 'canary').every(({ policyAudited }) => policyAudited);
    const [trail] = areas(evidence, 'trail');
    const untold = versions.filter(({ version }) => trail?.sealedVersions.includes(version) !== true);
    // The first one of a memory that was made with it changed nothing.
    const unnamed = versions.filter(({ version }) => version > 1 && trail?.changedVersions.includes(version) !== true);
    return passIf(
      untold.length === 0 && unnamed.length === 0 && canaries,
      `${versions.length} versions: ${untold.length} without policy.sealed, ${unnamed.length} without the entry of their ` +
        `change; a canary policy ${canaries ? 'left' : 'did not leave'} its entries`,
    );
  },
  policy_downgrade_authorised: (evidence) => {
    const downgrades = sum(evidence, 'trail', (trail) => trail.downgrades);
    if (downgrades === 0) return { status: 'skip', detail: 'the policy was never loosened' };
    const loose = sum(evidence, 'trail', (trail) => trail.looseDowngrades);
    return passIf(loose === 0, `${loose} of ${downgrades} entries of a loosened policy lack an author or a reason`);
  },
  policy_simulation_consistent: (evidence) => {
    const differing = sum(evidence, 'policy', (policy) => policy.simulationDiffers);
    return passIf(differing === 0, `simulating no change differs in ${differing} rules`);
  },
  policy_resolution_deterministic: (evidence) => {
    const results = Math.max(...areas(evidence, 'policy').map(({ shuffledResults }) => shuffledResults));
    return passIf(results === 1, `composing the presets in 10 orders gives ${results} results`);
  },
  policy_review_age: (evidence) => {
    const { sealedAt, version } = policyOf(evidence);
    if (version === 0) return fail('no policy was ever sealed');
    const days = (evidence.deployment.nowSeconds - sealedAt) / 86_400;
    const detail = `version ${version} was sealed ${days.toFixed(1)} days ago`;
    if (days <= 365) return pass(detail);
    return days <= 545 ? warn(detail) : fail(detail);
  },
};
