import { policyOf } from '../evidence.ts';
import { fail, type Judge, pass, skip, warn } from '../verdict.ts';

export const AUTHORIZATION: Readonly<Record<string, Judge>> = {
  authz_authentication_required: (evidence) => {
    const { authMode } = evidence.deployment;
    if (authMode !== 'none') return pass(`auth mode ${authMode}`);
    const presets = policyOf(evidence).presets.filter((name) => name === 'hipaa' || name === 'soc2');
    return presets.length > 0 ? fail(`auth mode none under ${presets.join(', ')}`) : warn('auth mode none');
  },
  // This build has no tuples: what is not there is no evidence, and where the contract has no skip it fails.
  authz_default_deny: () => fail('no relation can be asked for: this build has no authorization tuples'),
  authz_tuple_integrity: () => skip('there are no tuples'),
  authz_denials_audited: () => fail('a refused access leaves no entry authz.access_denied in this build'),
};
