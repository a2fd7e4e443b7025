// The policy of a memory as its record has it, for code that does not ask the shards.
import { compose, readOverrides } from '../../engine/govern/policy/compose.ts';
import { egressAction } from '../../engine/govern/policy/in-force.ts';
import { flat, withLoosest } from '../../engine/govern/policy/rules.ts';
import type { PolicyValue } from '../../engine/govern/policy/values.ts';
import type { JsonObject } from '../../shards/protocol.ts';
import type { Governing, MemoryRecord } from './records.ts';

/** True when its policy in force is not recorded, or was by an older build that left out rules on regions. */
export function isUnsettled({ sealing, governing }: MemoryRecord): boolean {
  if (sealing === true) return true;
  return governing !== undefined && (governing.regions === undefined || governing.crossBorderConsent === undefined);
}

export function isHeld({ governing, policy }: MemoryRecord): boolean {
  if (governing !== undefined) return governing.isHeld === true;
  if (policy === undefined) return false;
  return compose(policy.presets, readOverrides(policy.overrides as PolicyValue)).rules['deletion.hold']; // JSON of rules
}

/** A summary of a policy, for code that does not ask the memory's shards. */
export function governingOf(policy: JsonObject): Governing & { readonly version: number } {
  const { presets, rules, version } = policy;
  const { guardrail } = rules as JsonObject; // a policy has all its rules
  const { patterns, mode } = guardrail as JsonObject;
  const texts = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);
  const whole = withLoosest(flat(rules as PolicyValue)); // as it was sealed
  return {
    version: Number(version),
    presets: texts(presets),
    guardrailPatterns: texts(patterns),
    guardrailMode: String(mode),
    egress: egressAction(whole),
    egressCategories: whole['pii.categories'],
    isHeld: whole['deletion.hold'],
    regions: whole['residency.enforce'] ? whole['residency.regions'] : [],
    crossBorderConsent: whole['residency.cross_border_consent'],
  };
}
