import { areas, policyOf, sum } from '../evidence.ts';
import { fail, type Judge, pass, passIf, skip, warn, within } from '../verdict.ts';
import { probesHold } from './policy.ts';

const DELETION_CHECKS = [
  'erasure_crypto',
  'erasure_completeness',
  'erasure_proof',
  'erasure_key_destruction',
  'erasure_data_inaccessible',
];

export const PRIVACY: Readonly<Record<string, Judge>> = {
  ccpa_right_to_delete: (evidence, verdicts) => {
    const failing = DELETION_CHECKS.filter((id) => verdicts.get(id)?.status !== 'pass');
    const waiting = areas(evidence, 'erasures').filter(({ purgePending }) => purgePending).length;
    // An erasure is complete when it is answered; none takes days.
    return passIf(
      failing.length === 0,
      `failing: ${failing.join(', ') || 'none'}; ${waiting} partitions purge their index`,
    );
  },
  ccpa_opt_out: (evidence) => probesHold(areas(evidence, 'canary').flatMap(({ optOut }) => optOut)),
  lgpd_legal_basis: (evidence) => {
    const personal = sum(evidence, 'data', (data) => data.personal);
    if (personal === 0) return skip('no personal grains');
    const unfounded = sum(evidence, 'data', (data) => data.unfounded);
    const detail = `${personal - unfounded} of ${personal} sampled personal grains have a grant or another basis`;
    return within((100 * unfounded) / personal, 0, 5, detail);
  },
  lgpd_data_subject_access: (evidence) => {
    const exports = areas(evidence, 'data').flatMap(({ userExport }) => (userExport === undefined ? [] : [userExport]));
    if (exports.length === 0) return skip('no users');
    const total = (of: 'exported' | 'parsed' | 'stored'): number => exports.reduce((all, one) => all + one[of], 0);
    const wrong = exports.filter(({ exported, parsed, stored }) => exported !== stored || parsed !== stored).length;
    return passIf(
      wrong === 0 && total('stored') > 0,
      `exports of ${exports.length} sampled users: ${total('exported')} grains, ${total('parsed')} of them parse as the ` +
        `user's, ${total('stored')} are stored under the users' keys; ${wrong} exports incomplete`,
    );
  },
  pipl_separate_consent: (evidence) => {
    const sensitive = sum(evidence, 'data', (data) => data.sensitive);
    if (sensitive === 0) return skip('no sensitive data in the sample');
    const ungranted = sum(evidence, 'data', (data) => data.sensitiveUngranted);
    return passIf(
      ungranted === 0,
      `${ungranted} of ${sensitive} sampled grains with sensitive data lack a grant for it`,
    );
  },
  pipl_cross_border: (evidence) => {
    const regions = policyOf(evidence).rules['residency.regions'];
    if (regions.length === 0) return warn('residency.regions is not set');
    const { region, services } = evidence.deployment;
    const outside = services
      .filter(({ external, region: place }) => external && (place === undefined || !regions.includes(place)))
      .map(({ name }) => name);
    const placed = region !== undefined && regions.includes(region);
    const detail = `the memory is in ${region ?? 'no named region'}, allowed ${regions.join(', ')}; services outside of them or without a region: ${outside.join(', ') || 'none'}`;
    return placed && outside.length === 0 ? pass(detail) : fail(detail);
  },
};
