import { areas, policyOf, sum } from '../evidence.ts';
import { fail, type Judge, pass, passIf, skip, warn, within } from '../verdict.ts';
import { probesHold } from './policy.ts';
import { missedIdentifiers, SAFE_HARBOR } from './safe-harbor.ts';

/** The detector is the same for every memory and does not change during a process's life. */
let missedOnce: readonly string[] | undefined;

export const HIPAA: Readonly<Record<string, Judge>> = {
  hipaa_phi_detection: () => {
    missedOnce ??= missedIdentifiers();
    const missed = missedOnce;
    const found = `${SAFE_HARBOR.length - missed.length} of ${SAFE_HARBOR.length} identifiers are detected`;
    return within(missed.length, 0, 2, missed.length === 0 ? found : `${found}; missed: ${missed.join(', ')}`);
  },
  hipaa_phi_write_gate: (evidence) => probesHold(areas(evidence, 'canary').flatMap(({ phiGate }) => phiGate)),
  hipaa_baa_registry: (evidence) => {
    const outside = evidence.deployment.services.filter(({ external }) => external);
    if (outside.length === 0) return skip('no slower tier and no external service');
    const { 'tiering.baa_acknowledged': acknowledged } = policyOf(evidence).rules;
    return passIf(
      acknowledged,
      `${outside.map(({ name }) => name).join(', ')}: agreement ${acknowledged ? '' : 'not '}acknowledged`,
    );
  },
  hipaa_access_control: (evidence) => {
    if (!policyOf(evidence).rules['access.authz_required']) return fail('access.authz_required is off');
    const { keys } = evidence.deployment;
    const nobody = keys.filter(({ principal }) => principal.trim() === '').length;
    if (nobody > 0 || keys.length === 0) return fail(`${nobody} of ${keys.length} live keys have no principal`);
    const names = Map.groupBy(keys, ({ principal }) => principal);
    const shared = [...names.values()].filter((some) => new Set(some.map(({ name }) => name)).size > 1).length;
    const detail = `${keys.length} live keys, ${shared} principals shared by differently named keys`;
    return shared > 0 ? warn(detail) : pass(detail);
  },
  hipaa_audit_controls: (evidence) => {
    const reads = policyOf(evidence).rules['audit.reads'];
    const recalled = sum(evidence, 'trail', ({ windowEvents }) => windowEvents['memory.recalled'] ?? 0);
    const records = sum(evidence, 'recalls', ({ windowRecords }) => windowRecords);
    // Without any recall, the canaries' recalls show whether entries are written.
    const isRecorded =
      recalled > 0 || areas(evidence, 'canary').every(({ audited }) => audited.includes('memory.recalled'));
    return passIf(
      reads && recalled >= records && isRecorded,
      `audit.reads ${reads ? 'on' : 'off'}; 30 days: ${recalled} entries memory.recalled, ${records} records of recalls` +
        (recalled > 0 ? '' : `; a canary's recall left ${isRecorded ? 'its' : 'no'} entry`),
    );
  },
  hipaa_integrity: (evidence) => {
    const sampled = sum(evidence, 'blobs', (blobs) => blobs.sampled);
    const bad = sum(evidence, 'blobs', (blobs) => blobs.misaddressed + blobs.unreadable);
    if (sampled === 0) return skip('no grains');
    return passIf(bad === 0, `${bad} of ${sampled} sampled grains do not match their address`);
  },
  hipaa_minimum_necessary: (evidence) => {
    const cap = policyOf(evidence).rules['access.max_recall_limit'];
    if (cap === null) return fail('the policy sets no max_recall_limit');
    const most = Math.max(...areas(evidence, 'recalls').map(({ resultsMax }) => resultsMax));
    const canary = probesHold(areas(evidence, 'canary').flatMap(({ recallLimit }) => recallLimit));
    if (canary.status === 'fail') return canary;
    if (most > cap) return fail(`a recall returned ${most}, the policy allows ${cap}`);
    return within(cap, 100, 500, `cap ${cap}; the largest recall of 30 days returned ${most}; ${canary.detail}`);
  },
  hipaa_transmission_security: ({ deployment }) => {
    const outside = [...deployment.services, ...deployment.webhooks];
    const plain = outside.filter(({ external, url }) => external && !url.startsWith('https:'));
    const listener = deployment.tls ? 'TLS' : deployment.loopback ? 'loopback alone' : 'plain http';
    const detail = `listener: ${listener}; outside services and webhooks without https: ${plain.map(({ name }) => name).join(', ') || 'none'}`;
    return passIf((deployment.tls || deployment.loopback) && plain.length === 0, detail);
  },
};
