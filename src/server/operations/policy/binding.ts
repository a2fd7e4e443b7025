// Reduces a policy to what a caller bound to part of the memory may see. Pure.
import { objectOf } from '../../../engine/grain/api/json-value.ts';
import type { JsonObject, JsonValue } from '../../../shards/protocol.ts';

/** The rule whose members are namespace names, with its group on the wire. */
const BY_NAMESPACE = { group: 'retention', rule: 'by_namespace' } as const;

/**
 * The policy with the times to live of these namespaces and their ancestors only. Hides all other names. Also hides the
 * seals, because a hash over hidden names lets a caller test guesses, and the author and reason, which belong to the
 * memory's audit trail.
 */
export function policyWithin(policy: JsonObject, namespaces: readonly string[]): JsonObject {
  const { seal_hash: _, prev_seal_hash: __, sealed_by: ___, reason: ____, ...kept } = policy;
  return {
    ...kept,
    rules: withNames(kept['rules'], namespaces),
    overrides: withNames(kept['overrides'], namespaces, true),
  };
}

/** With `dropsEmpty`, removes the rule when no name is left. */
function withNames(rules: JsonValue | undefined, namespaces: readonly string[], dropsEmpty = false): JsonObject {
  const groups = objectOf(rules);
  const { group, rule } = BY_NAMESPACE;
  const { [rule]: byName, ...others } = objectOf(groups[group]);
  if (byName === undefined) return groups;
  const own = Object.entries(objectOf(byName)).filter(([name]) => namespaces.some((one) => holds(name, one)));
  const left = own.length === 0 && dropsEmpty ? others : { ...others, [rule]: Object.fromEntries(own) };
  const { [group]: ____, ...rest } = groups;
  return Object.keys(left).length === 0 ? rest : { ...groups, [group]: left };
}

/** True when a rule for the namespace `name` applies in `namespace`. */
function holds(name: string, namespace: string): boolean {
  return namespace === name || namespace.startsWith(`${name}/`);
}
