// The technical documentation of the system (EU AI Act Art. 11 and Annex IV), as a report exports it. The check
// examines the same parts, so a part that is empty in the report fails the check.
import { CAL_VERSION } from '../../engine/cal/run/kinds.ts';
import { FIELD_MAP_VERSION } from '../../engine/grain/codec/container.ts';
import { VERSION } from '../version.ts';
import { type Evidence, policyOf } from './evidence.ts';
import { CHECKS } from './table.ts';

export interface Documentation {
  /** Identifies the sealed policy; empty when none is sealed. */
  readonly policy: Readonly<Record<string, unknown>>;
  /** Versions of the formats and interfaces. */
  readonly versions: Readonly<Record<string, string>>;
  /** Roles and the models that fill them; unfilled roles are left out. */
  readonly models: Readonly<Record<string, string>>;
  /** Ids of the checks. */
  readonly checks: readonly string[];
  readonly controller: unknown;
}

export function technicalDocumentation(evidence: Evidence): Documentation {
  const { version, presets, sealHash, rules } = policyOf(evidence);
  const assigned = Object.entries(evidence.deployment.modelAssignments).filter(([, name]) => name !== '');
  return {
    policy: version === 0 ? {} : { version, presets, seal_hash: sealHash },
    versions: { server: VERSION, grain_field_map: String(FIELD_MAP_VERSION), cal: CAL_VERSION },
    models: Object.fromEntries(assigned),
    checks: CHECKS.map(({ id }) => id),
    controller: rules['records.controller'],
  };
}

/** Names of the empty parts. */
export function emptyParts(parts: object): readonly string[] {
  return Object.entries(parts).flatMap(([name, part]) => (saysNothing(part) ? [name] : []));
}

/** True for an absent value, and for a list or object whose members are all empty. */
function saysNothing(part: unknown): boolean {
  if (part === null || part === undefined || part === '') return true;
  return typeof part === 'object' && Object.values(part).every(saysNothing);
}
