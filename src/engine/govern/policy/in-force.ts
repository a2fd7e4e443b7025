// Results of rules that act together.
import type { PiiCategory } from '../../text/pii/categories.ts';
import type { PiiWritePolicy } from '../../text/pii/write-action.ts';
import type { EgressAction, Rules } from './rules.ts';

/** The rules that apply to a write's personal data. */
export function piiWritePolicy(rules: Rules): PiiWritePolicy {
  return {
    action: rules['pii.write_action'],
    categories: rules['pii.categories'],
    sensitiveSeparate: rules['consent.sensitive_separate'],
  };
}

/** The treatment of text that goes to an outside provider: blocked while a required agreement is missing. */
export function egressAction(rules: Rules): EgressAction {
  return rules['tiering.baa_required'] && !rules['tiering.baa_acknowledged'] ? 'block' : rules['pii.egress_action'];
}

/** The categories of personal data that count in such text: those that the policy names, or all if it names none. */
export function egressCategories({
  'pii.categories': named,
}: Pick<Rules, 'pii.categories'>): '*' | readonly PiiCategory[] {
  return named.length === 0 ? '*' : named;
}

/** Why grains may not be moved to another tier: POL-E011 when an agreement is missing; undefined: they may. */
export function tieringRefusal(rules: Rules): 'forbidden' | 'baa' | 'dpa' | undefined {
  if (!rules['tiering.allowed']) return 'forbidden';
  if (rules['tiering.baa_required'] && !rules['tiering.baa_acknowledged']) return 'baa';
  return rules['tiering.dpa_required'] && !rules['tiering.dpa_acknowledged'] ? 'dpa' : undefined;
}

/** True when data may be in the region. An empty list of regions, or one that is not enforced, permits any. */
export function isRegionListed(rules: Rules, region: string): boolean {
  const regions = rules['residency.regions'];
  return !rules['residency.enforce'] || regions.length === 0 || regions.includes(region);
}
