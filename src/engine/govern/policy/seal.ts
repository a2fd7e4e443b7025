// Sealed versions of a memory's policy. A version never changes, and it names the one before (service contract 10.1).
import { hash } from 'node:crypto';
import { compose, type Overrides } from './compose.ts';
import { type PresetName, presetsNamed } from './presets.ts';
import { flat, nested, type Rules, withLoosest } from './rules.ts';
import { canonicalJson, isObject, type PolicyValue } from './values.ts';

export interface SealedPolicy {
  /** From 1; 0 is the baseline of a memory without a policy of its own, which is not stored. */
  readonly version: number;
  /** Sorted. */
  readonly presets: readonly PresetName[];
  readonly overrides: Overrides;
  /** All rules. A rule that is newer than the version has its loosest value. */
  readonly rules: Rules;
  /** The rules as they were sealed, in their wire form, from which `sealHash` is computed. */
  readonly sealedRules: PolicyValue;
  /** 64 hex digits. */
  readonly sealHash: string;
  /** The seal of the version before; null for the first. */
  readonly prevSealHash: string | null;
  /** Seconds. */
  readonly sealedAt: number;
  readonly sealedBy: string;
  readonly reason: string | null;
}

type Sealable = Pick<SealedPolicy, 'version' | 'presets' | 'overrides' | 'sealedRules' | 'prevSealHash'>;

/**
 * SHA-256, in hex, of the canonical JSON of `{version, presets, rules, overrides, prev_seal_hash}` with the members as
 * `policyJson` shows them, so that anyone with the answer can verify it.
 */
export function sealHash({ version, presets, overrides, sealedRules, prevSealHash }: Sealable): string {
  const sealed: PolicyValue = {
    version,
    presets: [...presets].sort(),
    rules: sealedRules,
    overrides: nested(overrides),
    prev_seal_hash: prevSealHash,
  };
  return hash('sha256', canonicalJson(sealed), 'hex');
}

let unset: SealedPolicy | undefined;

/** The policy when none was set: version 0, the baseline. One for all memories: it takes 60 µs and 2 KB. */
export function unsetPolicy(): SealedPolicy {
  unset ??= madeUnset();
  return unset;
}

function madeUnset(): SealedPolicy {
  const { presets, overrides, rules } = compose([]);
  const draft = { version: 0, presets, overrides, rules, sealedRules: nested(rules), prevSealHash: null };
  return { ...draft, sealHash: sealHash(draft), sealedAt: 0, sealedBy: '', reason: null };
}

export interface SealContext {
  /** Seconds. */
  readonly nowSeconds: number;
  readonly sealedBy: string;
  readonly reason?: string | undefined;
}

/**
 * Version 1 of a memory that was created with a policy. `kept` are its rules in wire form as they were composed then.
 * They stay the same when a later build composes other rules from the same presets.
 */
export function sealFirst(
  presets: readonly string[],
  overrides: Overrides,
  kept: PolicyValue,
  context: SealContext,
): SealedPolicy {
  const first = sealNext(unsetPolicy(), presets, overrides, context);
  const sealed = { ...first, rules: withLoosest(flat(kept)), sealedRules: kept };
  return { ...sealed, sealHash: sealHash(sealed) };
}

/** The version after `current`. Throws the errors of `compose`. */
export function sealNext(
  current: SealedPolicy,
  presets: readonly string[],
  overrides: Overrides,
  { nowSeconds, sealedBy, reason }: SealContext,
): SealedPolicy {
  const composed = compose(presets, overrides);
  const draft = {
    ...composed,
    sealedRules: nested(composed.rules),
    version: current.version + 1,
    prevSealHash: current.version === 0 ? null : current.sealHash,
  };
  return { ...draft, sealHash: sealHash(draft), sealedAt: nowSeconds, sealedBy, reason: reason ?? null };
}

/** True when the version still has its seal. */
export function isIntact(policy: SealedPolicy): boolean {
  return sealHash(policy) === policy.sealHash;
}

/** The first version, in ascending order, with a broken seal or a broken link to the one before. */
export function firstBroken(versions: readonly SealedPolicy[]): number | undefined {
  let previous: SealedPolicy | undefined;
  for (const policy of versions) {
    const linked = previous === undefined || policy.prevSealHash === previous.sealHash;
    if (!linked || !isIntact(policy)) return policy.version;
    previous = policy;
  }
  return undefined;
}

/** The policy in its wire form. */
export function policyJson(policy: SealedPolicy): PolicyValue {
  return {
    version: policy.version,
    sealed: true,
    presets: policy.presets,
    rules: policy.sealedRules,
    overrides: nested(policy.overrides),
    seal_hash: policy.sealHash,
    prev_seal_hash: policy.prevSealHash,
    sealed_at: policy.sealedAt,
    sealed_by: policy.sealedBy,
    reason: policy.reason,
  };
}

/** The inverse of `policyJson`; undefined when it is not a policy. It does not verify the seal: use `isIntact`. */
export function policyOfJson(json: PolicyValue): SealedPolicy | undefined {
  if (!isObject(json) || !isObject(json['rules'] ?? null) || !isObject(json['overrides'] ?? null)) return undefined;
  const { version, presets, seal_hash, prev_seal_hash, sealed_at, sealed_by, reason } = json;
  if (typeof version !== 'number' || !Array.isArray(presets)) return undefined;
  if (typeof seal_hash !== 'string' || typeof sealed_at !== 'number' || typeof sealed_by !== 'string') return undefined;
  return {
    version,
    presets: presetsNamed(presets.filter((name) => typeof name === 'string')),
    overrides: flat(json['overrides']!),
    rules: withLoosest(flat(json['rules']!)),
    sealedRules: json['rules']!,
    sealHash: seal_hash,
    prevSealHash: typeof prev_seal_hash === 'string' ? prev_seal_hash : null,
    sealedAt: sealed_at,
    sealedBy: sealed_by,
    reason: typeof reason === 'string' ? reason : null,
  };
}
