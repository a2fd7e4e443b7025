import { areas, policyOf, sum } from '../evidence.ts';
import { fail, type Judge, pass, passIf, skip, warn } from '../verdict.ts';
import { probesHold } from './policy.ts';

export const AUTHORIZATION: Readonly<Record<string, Judge>> = {
  authz_authentication_required: (evidence) => {
    const { authMode } = evidence.deployment;
    if (authMode !== 'none') return pass(`auth mode ${authMode}`);
    const presets = policyOf(evidence).presets.filter((name) => name === 'hipaa' || name === 'soc2');
    return presets.length > 0 ? fail(`auth mode none under ${presets.join(', ')}`) : warn('auth mode none');
  },
  authz_default_deny: (evidence) => {
    const asked = sum(evidence, 'access', ({ strangersAsked }) => strangersAsked);
    const allowed = [...new Set(areas(evidence, 'access').flatMap(({ strangersAllowed }) => strangersAllowed))];
    if (allowed.length > 0) return fail(`of ${asked} questions about strangers, tuples allow: ${allowed.join(', ')}`);
    const canary = probesHold(areas(evidence, 'canary').flatMap(({ accessRules }) => accessRules));
    return { ...canary, detail: `${asked} questions about strangers denied; ${canary.detail}` };
  },
  authz_tuple_integrity: (evidence) => {
    const tuples = sum(evidence, 'access', (access) => access.tuples);
    if (tuples === 0) return skip('there are no tuples');
    const unread = tuples - sum(evidence, 'access', ({ read }) => read);
    const malformed = sum(evidence, 'access', (access) => access.malformed);
    const dangling = sum(evidence, 'access', (access) => access.dangling);
    const counts = new Set(areas(evidence, 'access').map((access) => access.tuples));
    const detail = `${tuples} tuples in ${evidence.partitions.length} partitions: ${unread} unreadable, ${malformed} outside of the relation table, ${dangling} name a group or parent without tuples`;
    if (unread > 0 || malformed > 0) return fail(detail);
    if (counts.size > 1)
      return fail(`${detail}; the partitions hold different numbers: repeat the last grant or revocation`);
    return dangling > 0 ? warn(detail) : pass(detail);
  },
  authz_denials_audited: (evidence) =>
    passIf(
      areas(evidence, 'canary').every(({ audited }) => audited.includes('authz.access_denied')),
      `${areas(evidence, 'canary').flatMap(({ accessRules }) => accessRules).length} acts of a canary without a tuple; entries: ${
        areas(evidence, 'canary').every(({ audited }) => audited.includes('authz.access_denied')) ? 'left' : 'missing'
      }`,
    ),
};
