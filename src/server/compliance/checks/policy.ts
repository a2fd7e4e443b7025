import type { RuleProbe } from '../../../engine/calls/compliance.ts';
import { areas, policyOf, sum } from '../evidence.ts';
import { fail, type Judge, pass, passIf, skip, type Verdict, warn } from '../verdict.ts';

/** True when each canary act was answered as its rule requires. */
export function probesHold(probes: readonly RuleProbe[]): Verdict {
  const wrong = probes.filter(({ wanted, got }) => (wanted.length === 0 ? got !== '' : !wanted.includes(got)));
  const describe = (probe: RuleProbe): string => `${probe.rule}: ${probe.got === '' ? 'accepted' : probe.got}`;
  return wrong.length > 0
    ? fail(`wrong answers to canaries: ${wrong.map(describe).join(', ')}`)
    : passIf(probes.length > 0, `canaries: ${[...new Set(probes.map(describe))].join(', ')}`);
}

export const POLICY: Readonly<Record<string, Judge>> = {
  policy_present: (evidence) => {
    const { version, presets } = policyOf(evidence);
    const detail = `version ${version}, presets ${presets.length === 0 ? 'none (baseline)' : presets.join(', ')}`;
    return presets.length > 0 ? pass(detail) : warn(detail);
  },
  policy_seal_intact: (evidence) => {
    const broken = areas(evidence, 'policy').filter(({ intact }) => !intact).length;
    const { version, sealHash } = policyOf(evidence);
    const differing = areas(evidence, 'policy').filter((policy) => policy.sealHash !== sealHash).length;
    return passIf(
      broken === 0 && differing === 0,
      `version ${version}, seal ${sealHash.slice(0, 16)}…: ${broken} partitions where it does not match, ${differing} with another`,
    );
  },
  policy_enforced_on_write: (evidence) => {
    const probes = areas(evidence, 'canary').flatMap(({ writeRules }) => writeRules);
    return probes.length === 0 ? skip('no write rule is active') : probesHold(probes);
  },
  policy_deletion_control: (evidence) => {
    const probes = areas(evidence, 'canary').flatMap(({ deletionRules }) => deletionRules);
    return probes.length === 0 ? skip('no deletion rule is active') : probesHold(probes);
  },
  policy_retention_enforced: (evidence) => {
    const expired = sum(evidence, 'retention', (retention) => retention.expired);
    const old = sum(evidence, 'retention', (retention) => retention.expiredOverDay);
    const held = sum(evidence, 'retention', (retention) => retention.held);
    if (areas(evidence, 'retention').every(({ hasLimit }) => !hasLimit)) return skip('no time to live is set');
    const detail = `${expired} grains have expired, ${old} more than a day ago, ${held} held`;
    if (old > 0) return fail(detail);
    return expired - held > 0 ? warn(detail) : pass(detail);
  },
  policy_consent_enforced: (evidence) => {
    const mode = policyOf(evidence).rules['consent.mode'];
    if (mode === 'none') return skip('consent.mode is none');
    const since = sum(evidence, 'data', (data) => data.sinceRule);
    const unfounded = sum(evidence, 'data', (data) => data.unfoundedSinceRule);
    const revoked = sum(evidence, 'data', (data) => data.revokedLongAgo);
    const probes = areas(evidence, 'canary').flatMap(({ writeRules }) =>
      writeRules.filter(({ rule }) => rule === 'consent.mode'),
    );
    const detail = `${mode}: ${unfounded} of ${since} sampled personal grains without a legal basis, ${revoked} revoked 30 days ago`;
    if (unfounded > 0) return fail(detail);
    const canary = probesHold(probes);
    if (canary.status === 'fail') return canary;
    return revoked > 0 ? warn(detail) : pass(`${detail}; ${canary.detail}`);
  },
};
