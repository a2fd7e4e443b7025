import { policyOf } from '../evidence.ts';
import { absent, fail, type Judge, pass, skip, warn } from '../verdict.ts';

export const AUTHORIZATION: Readonly<Record<string, Judge>> = {
  authz_authentication_required: (evidence) => {
    const { authMode } = evidence.deployment;
    if (authMode !== 'none') return pass(`auth mode ${authMode}`);
    const presets = policyOf(evidence).presets.filter((name) => name === 'hipaa' || name === 'soc2');
    return presets.length > 0 ? fail(`auth mode none under ${presets.join(', ')}`) : warn('auth mode none');
  },
  // A missing feature is neither evidence nor something that an operator could fix.
  authz_default_deny: () => absent('authorization tuples; scopes and bindings of keys decide'),
  authz_tuple_integrity: () => skip('there are no tuples'),
  authz_denials_audited: () => absent('entries authz.access_denied of refused tuples'),
};
