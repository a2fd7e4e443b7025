// A policy as a caller sees it who is bound to a part of the memory. Pure.
import type { JsonObject, JsonValue } from '../../../shards/protocol.ts';

/** Rules whose members are names of namespaces, as the wire nests them. */
const BY_NAMESPACE = { group: 'retention', rule: 'by_namespace' } as const;

/**
 * `policy` with the times to live of these namespaces alone, and those that they lie in. Other names stay untold. So do the seals, as
 * names can be guessed with a hash that covers them, and who sealed it for which reason, which is a matter of the memory's trail.
 */
export function policyWithin(policy: JsonObject, namespaces: readonly string[]): JsonObject {
  const { seal_hash: _, prev_seal_hash: __, sealed_by: ___, reason: ____, ...kept } = policy;
  return {
    ...kept,
    rules: withNames(kept['rules'], namespaces),
    overrides: withNames(kept['overrides'], namespaces, true),
  };
}

/** `dropsEmpty`: where no name is left the rule is as if it had not been given. */
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

/** Whether what is said of the namespace `name` holds in `namespace`. */
function holds(name: string, namespace: string): boolean {
  return namespace === name || namespace.startsWith(`${name}/`);
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}
