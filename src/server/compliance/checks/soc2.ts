import { subjectOf } from '../../../engine/govern/access/caller.ts';
import { areas, policyOf } from '../evidence.ts';
import { fail, type Judge, pass, passIf, warn } from '../verdict.ts';
import { metricsSeen } from './metrics.ts';

const BACKUP_DAYS = 30;
const HOUR_SECONDS = 3_600;

export const SOC2: Readonly<Record<string, Judge>> = {
  soc2_logical_access: (evidence) => {
    const { authMode } = evidence.deployment;
    const required = policyOf(evidence).rules['access.authz_required'];
    const detail = `auth mode ${authMode}, access.authz_required ${required ? 'on' : 'off'}`;
    if (authMode === 'none' || !required) return fail(detail);
    // Every partition has the same tuples.
    const [access] = areas(evidence, 'access');
    const { owners = 0, others = 0 } = access ?? {};
    const counted = `${detail}; ${owners} tuples name an owner, ${others} give other relations`;
    return owners > 0 && others > 0 ? pass(counted) : warn(counted);
  },
  // A key with the scope admin counts as owner.
  soc2_segregation_duties: (evidence) => {
    const holders = evidence.deployment.keys.filter(({ scopes }) => scopes.includes('admin'));
    const byKeys = holders.flatMap(({ principal }) => subjectOf({ actor: principal }) ?? []);
    const { admins: byTuples = [], auditors = [] } = areas(evidence, 'access')[0] ?? {};
    const admins = new Set([...byKeys, ...byTuples]);
    const both = auditors.filter((auditor) => admins.has(auditor)).length;
    const detail = `${admins.size} principals are admin or owner, by a key or by a tuple; ${auditors.length} are auditors by tuples`;
    if (both > 0) return fail(`${detail}: ${both} are both`);
    return admins.size > 1 ? pass(detail) : warn(`${detail}: at most one principal holds admin`);
  },
  soc2_monitoring: (evidence) => {
    const { observed, red, yellow, ageSeconds, detail } = metricsSeen(evidence, 'ops');
    if (observed === 0 || red.length > 0 || ageSeconds > HOUR_SECONDS) return fail(detail);
    return yellow.length > 0 ? warn(detail) : pass(detail);
  },
  soc2_incident_detection: (evidence) => {
    const { threshold, tooEarly, raised } = evidence.deployment.drill;
    const counted = `of ${threshold + 1} synthetic removals in an hour the monitor reported ${raised ? 'a burst' : 'nothing'}`;
    return passIf(raised && !tooEarly, tooEarly ? `${counted}, but below its threshold already` : counted);
  },
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
    const { nowSeconds, backedUpAt } = evidence.deployment;
    const exportedAt = Math.max(0, ...areas(evidence, 'trail').map((trail) => trail.exportedWholeAt ?? 0));
    const days = (nowSeconds - Math.max(exportedAt, backedUpAt ?? 0)) / 86_400;
    const copied = `${timeText('exported whole', exportedAt, nowSeconds)}, ${timeText('backed up', backedUpAt ?? 0, nowSeconds)}`;
    if (!roundTrip) return fail(`a canary was missing from an export; the memory was ${copied}`);
    const detail = `a canary was found in an export; the memory was ${copied}`;
    return days <= BACKUP_DAYS ? pass(detail) : warn(detail);
  },
};

function timeText(what: string, atSeconds: number, nowSeconds: number): string {
  return atSeconds === 0 ? `never ${what}` : `${what} ${((nowSeconds - atSeconds) / 86_400).toFixed(1)} days ago`;
}
