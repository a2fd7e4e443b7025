// A memory's sealed policy: show it, change it, and preview a change.
import { defined } from '../../../engine/base/defined.ts';
import { EngineError } from '../../../engine/base/errors.ts';
import { POLICY_LIST_MAX, PRINCIPALS_ASKED_MAX } from '../../../engine/base/limits.ts';
import { countDistinct } from '../../../shards/gather/merge.ts';
import type { JsonObject, PolicyChange } from '../../../shards/protocol.ts';
import { includesScope } from '../../auth/principal.ts';
import type { Context } from '../../context.ts';
import { GetPolicyResolvedRequest, GetPolicyResolvedResponse } from '../../gen/memory/v1/memory.ts';
import { defineOperation } from '../define.ts';
import { rpc } from '../grpc-face.ts';
import { described, type Static, Type } from '../type.ts';
import { affectedChecks } from './affected-checks.ts';
import { policyWithin } from './binding.ts';
import { POLICY, POLICY_CHANGED, SIMULATED } from './schema.ts';

const Open = Type.Unsafe<JsonObject>({ type: 'object' });
const Presets = Type.Array(Type.String(), { maxItems: POLICY_LIST_MAX });

const Change = Type.Object({
  addPolicies: Type.Optional(described(Presets, 'Names of the policy presets to add.')),
  removePolicies: Type.Optional(described(Presets, 'Names of the policy presets to remove.')),
  overrides: Type.Optional(
    described(Open, 'Rules to set on top of the presets, by group and name or by dotted path; null takes one back.'),
  ),
  reason: Type.Optional(
    Type.String({ description: 'Why the policy changes, which loosening needs; the default is the x-reason header.' }),
  ),
});

/** Leaves a policy unchanged: it is stored with its wire names. */
const asItIs = (output: JsonObject): JsonObject => output;

/** The policy, reduced to the caller's part of the memory if the caller is bound to one. */
async function asSeenBy(context: Context, policy: JsonObject): Promise<JsonObject> {
  const { namespace, userId } = context;
  if (namespace === undefined && userId === undefined) return policy;
  const own = namespace === undefined ? (await context.call('statistics', {})).namespaces : [namespace];
  return policyWithin(policy, own);
}

export const policyGet = defineOperation({
  name: 'policy',
  summary: 'Show the policy of a memory, or an earlier version of it.',
  description: 'A bound key sees the rules for its part of the memory.',
  example: { version: 1 },
  needs: 'read',
  on: 'memory',
  reach: 'binding',
  access: ['viewer'],
  mutates: false,
  input: Type.Object({
    version: Type.Optional(
      Type.Integer({ minimum: 0, description: 'Version of the policy to show; the default is the one in force.' }),
    ),
  }),
  output: Open,
  errors: ['VAL-E001'],
  http: [{ verb: 'GET', path: 'M/policy', answer: POLICY, write: asItIs }],
  async run({ version }, context) {
    const { policy } = await context.call('policy', defined({ version }));
    if (policy === null)
      throw new EngineError('VAL-E001', `the policy has no version ${version}: GET policy shows the newest one`, {
        details: [{ field: 'version', issue: 'unknown' }],
      });
    return asSeenBy(context, policy);
  },
});

export const policyResolved = defineOperation({
  name: 'policy_resolved',
  summary: 'Show the rules that hold in a memory, with the presets and the seal that they come from.',
  description: 'Over HTTP, GET of the policy answers the same.',
  example: {},
  needs: 'read',
  on: 'memory',
  reach: 'binding',
  access: ['viewer'],
  mutates: false,
  input: Type.Object({}),
  output: Type.Object({
    policy: described(Open, 'The policy, with its rules.'),
    presets: Type.Array(Type.String(), { description: 'Names of the policy presets.' }),
    sealHash: Type.String({
      description: 'Hash that seals the policy; empty for a caller who is bound to a part of the memory.',
    }),
    version: Type.Integer({ description: 'Version of the policy.' }),
    sealedAt: Type.Integer({ description: 'Time at which the version was sealed, in Unix seconds.' }),
  }),
  exec: { command: 'policy_resolved' },
  grpc: rpc({
    rpc: 'GetPolicyResolved',
    request: GetPolicyResolvedRequest,
    response: GetPolicyResolvedResponse,
  }),
  async run(_, context) {
    const { policy } = await context.call('policy', {});
    if (policy === null) throw new EngineError('SYS-E001', 'a memory has a policy');
    const { presets, seal_hash: sealHash, version, sealed_at: sealedAt } = policy;
    const shown = await asSeenBy(context, policy);
    return {
      policy: shown,
      presets: Array.isArray(presets) ? presets.map(String) : [],
      // The seal hashes members that a bound caller may not see.
      sealHash: shown === policy ? String(sealHash) : '',
      version: Number(version),
      sealedAt: Number(sealedAt),
    };
  },
});

export const policyPut = defineOperation({
  name: 'set_policy',
  summary: 'Seal the next version of the policy of a memory.',
  description: 'A policy is never edited: each change makes a new version. Loosening needs a reason.',
  example: { add_policies: ['gdpr'], overrides: { 'retention.default_ttl_days': 365 }, reason: 'Audit of May.' },
  needs: 'admin',
  on: 'memory',
  reach: 'memory',
  mutates: true,
  onUnknown: 'refuse',
  input: Change,
  output: Open,
  errors: ['POL-E009', 'POL-E010', 'VAL-E001'],
  http: [{ verb: 'PUT', path: 'M/policy', answer: POLICY_CHANGED, write: asItIs }],
  async run(input, context) {
    const { memories } = context.services;
    await memories.beginSealing(context.memory);
    try {
      const { policy, change } = await context.call('setPolicy', { change: changeOf(input, context), isAdmin: true });
      await memories.noteGoverning(context.memory, policy);
      return { ...policy, change };
    } catch (error) {
      // If settling fails now, the next change or the next start settles it.
      await memories.settleSealing(context.memory).catch(() => undefined);
      throw error;
    }
  },
});

export const policySimulate = defineOperation({
  name: 'simulate_policy',
  summary: 'Show what a change of the policy would mean; nothing is changed.',
  description:
    'The answer says whether the change is allowed, which rules would differ, and what they would mean for the grains.',
  example: { add_policies: ['gdpr'] },
  needs: 'read',
  on: 'memory',
  reach: 'memory',
  mutates: false,
  slow: true,
  input: Change,
  output: Open,
  errors: ['POL-E009', 'VAL-E001'],
  http: [{ verb: 'POST', path: 'M/policy/simulate', answer: SIMULATED, write: asItIs }],
  async run(input, context) {
    const isAdmin = includesScope(context.principal, 'admin');
    const { decision } = await context.call('simulatePolicy', { change: changeOf(input, context), isAdmin });
    const { rules, paths } = partsOf(decision);
    const impact = await context.call('policyImpact', { rules });
    await context.call('note', {
      event: 'policy.simulated',
      details: { change: String(decision['change']), differences: paths.length },
    });
    return {
      ...decision,
      impact: {
        grains_total: impact.grainsTotal,
        grains_expiring: impact.grainsExpiring,
        users_without_consent: countDistinct([impact.usersWithoutConsent]),
        grains_with_blocked_pii: impact.grainsWithBlockedPii,
        grains_unencrypted: 0,
        principals_losing_access: paths.includes(TUPLES_DECIDE) && requires(rules) ? await losingAccess(context) : 0,
      },
      affected_checks: affectedChecks(paths),
    };
  },
});

const TUPLES_DECIDE = 'access.authz_required';

function requires(rules: JsonObject): boolean {
  return (rules['access'] as JsonObject | undefined)?.['authz_required'] === true; // rules are nested by their paths
}

/** Principals of live keys for this memory that tuples would let view nothing. Admin keys count as owners. */
async function losingAccess(context: Context): Promise<number> {
  const { services, memory } = context;
  const nowMs = services.clock.nowMs();
  const actors = new Set<string>();
  for (const key of services.keys.list()) {
    const isLive = key.revokedAtMs === undefined && (key.expiresAtMs === undefined || key.expiresAtMs > nowMs);
    const isFor = key.memoryId === undefined || key.memoryId === memory.id;
    if (isLive && isFor && !key.scopes.includes('admin')) actors.add(key.principal);
    if (actors.size >= PRINCIPALS_ASKED_MAX) break;
  }
  const { views } = await context.call('viewing', { actors: [...actors] });
  return views.filter((isViewing) => !isViewing).length;
}

/** The proposed rules of a decision, and the paths of the changed rules. */
function partsOf({ proposed, diff }: JsonObject): { readonly rules: JsonObject; readonly paths: readonly string[] } {
  const { rules } = proposed as JsonObject; // service contract 10.5
  const differences = Array.isArray(diff) ? diff : [];
  return { rules: rules as JsonObject, paths: differences.map((one) => String((one as JsonObject)['path'])) }; // likewise
}

function changeOf({ addPolicies, removePolicies, overrides, reason }: Static<typeof Change>, context: Context) {
  const why = reason ?? context.reason;
  const change: PolicyChange = {
    addPolicies,
    removePolicies,
    overrides,
    reason: why,
  };
  return change;
}
