// Evidence on the policy of a memory: its sealed versions, and whether composing and simulating give the same result
// again.

import type { PolicyEvidence, PolicyVersionEvidence } from '../../calls/compliance.ts';
import { decideChange } from '../../govern/policy/change.ts';
import { compose } from '../../govern/policy/compose.ts';
import { nested } from '../../govern/policy/rules.ts';
import { isIntact, type SealedPolicy } from '../../govern/policy/seal.ts';
import { canonicalJson } from '../../govern/policy/values.ts';
import type { Sliced } from '../../index/files/section.ts';
import type { Memory } from '../../store/memory.ts';
import { policyVersion } from '../../store/rules.ts';
import type { Store } from '../../store/store.ts';

const SHUFFLES = 10;
/** The newest versions, which are checked. */
const VERSIONS_MAX = 1_000;

export function* policyEvidence(store: Store, memory: Memory, random: () => number): Sliced<PolicyEvidence> {
  const { policy } = memory.governed;
  const versions: PolicyVersionEvidence[] = [];
  let missingVersions = 0;
  for (let version = Math.max(1, policy.version - VERSIONS_MAX + 1); version <= policy.version; version++) {
    const sealed = policyVersion(store.log, memory, version);
    if (sealed === undefined) missingVersions += 1;
    else versions.push(versionEvidence(sealed));
    yield;
  }
  return {
    version: policy.version,
    presets: policy.presets,
    sealHash: policy.sealHash,
    intact: isIntact(policy),
    sealedAt: policy.sealedAt,
    madeAt: Math.floor(memory.settings.createdAtMs / 1000),
    versions,
    missingVersions,
    rules: policy.rules,
    overridden: Object.keys(policy.overrides),
    simulationDiffers: simulationDiffers(policy),
    shuffledResults: shuffledResults(policy, random),
  };
}

function versionEvidence(policy: SealedPolicy): PolicyVersionEvidence {
  const { version, prevSealHash, sealHash, sealedBy, reason, sealedAt } = policy;
  return { version, intact: isIntact(policy), prevSealHash, sealHash, sealedBy, reason, sealedAt };
}

/** The differences when no change is simulated: rules of the diff, and the rules as a whole. */
function simulationDiffers(policy: SealedPolicy): number {
  const { diff, proposed, change } = decideChange(policy, {}, { isAdmin: false });
  const same = canonicalJson(nested(proposed.rules)) === canonicalJson(nested(policy.rules));
  return diff.length + (same ? 0 : 1) + (change === 'unchanged' ? 0 : 1);
}

function shuffledResults({ presets, overrides }: SealedPolicy, random: () => number): number {
  const results = new Set<string>();
  for (let round = 0; round < SHUFFLES; round++)
    results.add(canonicalJson(nested(compose(shuffled(presets, random), overrides).rules)));
  return results.size;
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const left = [...items];
  const order: T[] = [];
  while (left.length > 0) order.push(...left.splice(Math.floor(random() * left.length), 1));
  return order;
}
