import { areas, policyOf, sum } from '../evidence.ts';
import { fail, type Judge, pass, passIf, skip, warn } from '../verdict.ts';

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
    // The first version of a memory created with it changed nothing.
    const unnamed = versions.filter(({ version }) => version > 1 && trail?.changedVersions.includes(version) !== true);
    return passIf(
      untold.length === 0 && unnamed.length === 0 && canaries,
      `${versions.length} versions: ${untold.length} without policy.sealed, ${unnamed.length} without the entry of their ` +
        `change; a canary policy ${canaries ? 'left' : 'did not leave'} its entries`,
    );
  },
  policy_downgrade_authorised: (evidence) => {
    const downgrades = sum(evidence, 'trail', (trail) => trail.downgrades);
    if (downgrades === 0) return skip('the policy was never loosened');
    const loose = sum(evidence, 'trail', (trail) => trail.looseDowngrades);
    return passIf(loose === 0, `${loose} of ${downgrades} entries of a loosened policy lack an author or a reason`);
  },
  policy_simulation_consistent: (evidence) => {
    const differing = sum(evidence, 'policy', (policy) => policy.simulationDiffers);
    return passIf(differing === 0, `simulating no change shows ${differing} changed rules`);
  },
  policy_resolution_deterministic: (evidence) => {
    const results = Math.max(...areas(evidence, 'policy').map(({ shuffledResults }) => shuffledResults));
    return passIf(results === 1, `composing the presets in 10 orders gives ${results} results`);
  },
  policy_review_age: (evidence) => {
    const { sealedAt, madeAt, version } = policyOf(evidence);
    // The memory's creator chose the baseline, which may stand for a year.
    const days = (evidence.deployment.nowSeconds - (version === 0 ? madeAt : sealedAt)) / 86_400;
    const since =
      version === 0 ? 'the baseline has been in force since the memory was created' : `version ${version} was sealed`;
    const detail = `${since}, ${days.toFixed(1)} days ago`;
    if (days <= 365) return pass(detail);
    return days <= 545 ? warn(detail) : fail(detail);
  },
};
