import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../../test/support/runs.ts';
import { EngineError } from '../../base/errors.ts';
import type { MemorySettings } from '../../calls/memory.ts';
import { firstPolicy } from '../../store/rules.ts';
import { applyChange, decideChange, decisionJson, differences, type PolicyChange } from './change.ts';
import { compose, type Overrides, readOverrides } from './compose.ts';
import { PRESETS, type PresetName } from './presets.ts';
import { nested, RULE_PATHS, RULES, type RulePath, type Rules } from './rules.ts';
import {
  firstBroken,
  isIntact,
  policyJson,
  policyOfJson,
  type SealedPolicy,
  sealHash,
  sealNext,
  unsetPolicy,
} from './seal.ts';
import { canonicalJson, type PolicyValue } from './values.ts';

const NAMES = Object.keys(PRESETS) as PresetName[]; // Its own keys.
const WHO = { nowSeconds: 1_700_000_000, sealedBy: 'user:root', isAdmin: true };

const SETTINGS: MemorySettings = {
  number: 1,
  id: 'm',
  partitions: 1,
  language: 'en',
  dedup: 'exact',
  dedupThreshold: 0.85,
  createdAtMs: 1,
};

const code = (wanted: string) => (error: unknown) => error instanceof EngineError && error.code === wanted;

/** Values that a rule may have. */
const VALUES: { readonly [P in RulePath]?: fc.Arbitrary<PolicyValue> } = {
  'consent.mode': fc.constantFrom('none', 'opt_out', 'opt_in'),
  'deletion.reason_required': fc.boolean(),
  'deletion.allowed': fc.boolean(),
  'deletion.min_age_days': fc.integer({ min: 1, max: 400 }),
  'supersede.protected_types': fc.subarray(['goal', 'belief', 'event']),
  'retention.default_ttl_days': fc.integer({ min: 1, max: 400 }),
  'retention.by_namespace': fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.integer({ min: 1, max: 400 }), {
    noNullPrototype: true,
  }),
  'retention.audit_days': fc.integer({ min: 1, max: 4000 }),
  'pii.write_action': fc.constantFrom('allow', 'flag', 'redact', 'require_consent', 'block'),
  'pii.categories': fc.oneof(fc.constant('*'), fc.subarray(['email', 'phone', 'ssn'])),
  'residency.regions': fc.subarray(['eu', 'us', 'cn']).map((regions) => ['de', ...regions]),
  'access.max_recall_limit': fc.integer({ min: 1, max: 500 }),
  'guardrail.patterns': fc.subarray(['x', 'y', 'z']),
  'tiering.baa_acknowledged': fc.boolean(),
};
const someOverrides: fc.Arbitrary<Overrides> = fc.record(VALUES, { requiredKeys: [], noNullPrototype: true });
const somePresets = fc.subarray(NAMES);

/** True when nothing in `to` is looser than in `from`. */
function isNoLooser(from: Rules, to: Rules): boolean {
  return differences(from, to).every(({ direction }) => direction === 'tighter' || direction === 'neutral');
}

test('the order and the spelling of presets do not matter', () => {
  const shuffled = somePresets.chain((names) =>
    fc.tuple(fc.constant(names), fc.shuffledSubarray(names, { minLength: names.length })),
  );
  fc.assert(
    fc.property(shuffled, someOverrides, ([names, order], overrides) => {
      const spelled = [...order, ...order].map((name) => name.toUpperCase().replaceAll('_', '-'));
      assert.deepEqual(compose(spelled, overrides), compose(names, overrides));
    }),
    { numRuns: runs(200) },
  );
});

test('adding a preset or an override never loosens', () => {
  fc.assert(
    fc.property(somePresets, somePresets, someOverrides, (names, more, overrides) => {
      const { rules } = compose(names);
      assert.ok(isNoLooser(rules, compose([...names, ...more]).rules));
      assert.ok(isNoLooser(rules, compose(names, overrides).rules));
      assert.ok(isNoLooser(compose(names, overrides).rules, compose([...names, ...more], overrides).rules));
    }),
    { numRuns: runs(300) },
  );
});

test('composing the result again changes nothing', () => {
  fc.assert(
    fc.property(somePresets, someOverrides, (names, overrides) => {
      const { rules } = compose(names, overrides);
      assert.deepEqual(compose(names, rules).rules, rules);
    }),
    { numRuns: runs(100) },
  );
});

test('the stricter of two values does not depend on their order, and is as strict as both', () => {
  for (const path of RULE_PATHS) {
    const values = VALUES[path];
    if (values === undefined) continue;
    const { join, direction } = RULES[path].kind;
    fc.assert(
      fc.property(values, values, values, (a, b, c) => {
        const both = join(a, b);
        assert.ok(both !== undefined);
        assert.equal(canonicalJson(both), canonicalJson(join(b, a)!));
        assert.equal(canonicalJson(join(both, c)!), canonicalJson(join(a, join(b, c)!)!));
        for (const one of [a, b]) assert.ok(['same', 'tighter', 'neutral'].includes(direction(one, both)), path);
        assert.equal(direction(a, a), 'same');
      }),
      { numRuns: runs(50) },
    );
  }
});

test('simulating a change shows the result of applying it', () => {
  const change = fc
    .record(
      {
        addPolicies: somePresets,
        removePolicies: somePresets,
        overrides: someOverrides,
        reason: fc.constantFrom('', 'why', 'release: done'),
      },
      { requiredKeys: [], noNullPrototype: true },
    )
    .map((made) => {
      const { addPolicies = [], removePolicies } = made as PolicyChange; // Overrides are values of rules.
      return { ...made, removePolicies: removePolicies?.filter((name) => !addPolicies.includes(name)) } as PolicyChange;
    });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 6 }), (changes) => {
      let current = unsetPolicy();
      const versions: SealedPolicy[] = [];
      for (const wanted of changes) {
        const decision = decideChange(current, wanted, WHO);
        if (decision.errors.length > 0) {
          assert.throws(() => applyChange(current, wanted, WHO), code('POL-E010'));
          continue;
        }
        const { policy } = applyChange(current, wanted, WHO);
        assert.equal(policy === undefined, decision.change === 'unchanged');
        if (policy === undefined) continue;
        assert.deepEqual(policy.rules, decision.proposed.rules);
        assert.deepEqual(differences(current.rules, policy.rules), decision.diff);
        assert.equal(policy.version, current.version + 1);
        const json = JSON.parse(JSON.stringify(policyJson(policy))) as PolicyValue; // JSON by construction.
        assert.deepEqual(policyOfJson(json), policy);
        const shown = decisionJson(current, decision) as { proposed: { seal_hash: string } }; // Its own shape.
        assert.equal(shown.proposed.seal_hash, policy.sealHash);
        versions.push(policy);
        current = policy;
      }
      assert.equal(firstBroken(versions), undefined);
    }),
    { numRuns: runs(100) },
  );
});

test('a contradictory change is refused', () => {
  const refused = (change: PolicyChange): void => {
    assert.throws(() => decideChange(unsetPolicy(), change, WHO), code('VAL-E001'));
  };
  refused({ addPolicies: ['gdpr', 'soc2'], removePolicies: ['SOC2'], reason: 'why' });
  refused({ overrides: { 'consent.mode': 'opt_in', consent: { mode: 'opt_out' } } });
});

test('the seal does not depend on the order of members, and every change alters it', () => {
  const policy = sealNext(unsetPolicy(), ['soc2', 'gdpr'], { 'retention.audit_days': 4000 }, WHO);
  assert.ok(isIntact(policy));
  const turned = { ...policy, sealedRules: Object.fromEntries(Object.entries(nested(policy.rules)!).reverse()) };
  assert.equal(sealHash(turned), policy.sealHash);
  const tampered: readonly Partial<SealedPolicy>[] = [
    { version: 2 },
    { presets: ['gdpr'] },
    { overrides: {} },
    { prevSealHash: 'a' },
    { sealedRules: nested({ ...policy.rules, 'audit.reads': false }) },
  ];
  for (const part of tampered) assert.ok(!isIntact({ ...policy, ...part }), JSON.stringify(part).slice(0, 40));
  assert.equal(policy.sealHash, 'b1ca71903a229ce81cc16086f16a7f2c3e118219478ffaf4575eb3d76c847ac9');
});

test('simulating no change shows no difference and the rules in force', () => {
  const policy = sealNext(unsetPolicy(), ['pipl'], { 'residency.regions': ['cn'] }, WHO);
  assert.deepEqual(decisionJson(policy, decideChange(policy, {}, { isAdmin: false })), {
    current: { presets: ['pipl'], seal_hash: policy.sealHash },
    proposed: { presets: ['pipl'], rules: policy.sealedRules, seal_hash: policy.sealHash },
    diff: [],
    change: 'unchanged',
    allowed: true,
    errors: [],
  });
});

test('a policy that was sealed before a rule existed stays intact', () => {
  const policy = sealNext(unsetPolicy(), ['gdpr'], {}, WHO);
  const { breach: _, ...older } = nested(policy.rules) as Record<string, PolicyValue>; // An object by construction.
  const draft = { ...policy, sealedRules: older };
  const kept = policyOfJson({ ...(policyJson(draft) as object), seal_hash: sealHash(draft) });
  assert.ok(kept !== undefined && isIntact(kept));
  assert.equal(kept.rules['breach.notify_hours'], null);
  assert.equal(policyOfJson({ version: 1 }), undefined);
  assert.equal(policyOfJson('policy'), undefined);
});

test('a memory keeps its original rules when presets become stricter', () => {
  const policy = { presets: ['legal_hold'], overrides: {}, sealedBy: 'user:root' };
  const made = firstPolicy({ ...SETTINGS, policy: { ...policy, rules: { deletion: { hold: true } } } });
  assert.equal(made.rules['deletion.hold'], true);
  assert.equal(made.rules['audit.reads'], false);
  assert.ok(isIntact(made));
  const next = sealNext(made, ['legal_hold', 'gdpr'], {}, WHO);
  assert.equal(firstBroken([made, next]), undefined);
  assert.equal(firstPolicy({ ...SETTINGS, policy }).rules['audit.reads'], true);
});

test('each version names the one before, and a break in the chain is found', () => {
  const first = sealNext(unsetPolicy(), ['gdpr'], {}, WHO);
  const second = sealNext(first, ['gdpr', 'soc2'], {}, WHO);
  const third = sealNext(second, ['gdpr', 'soc2', 'hipaa'], {}, WHO);
  assert.equal(first.prevSealHash, null);
  assert.equal(third.prevSealHash, second.sealHash);
  assert.equal(firstBroken([first, second, third]), undefined);
  assert.equal(firstBroken([first, third]), 3);
  assert.equal(firstBroken([first, { ...second, sealedRules: first.sealedRules }, third]), 2);
});

test('adding and tightening upgrade, removing and loosening downgrade, and an empty change does neither', () => {
  const gdpr = sealNext(unsetPolicy(), ['gdpr'], { 'access.max_recall_limit': 50 }, WHO);
  const kind = (change: PolicyChange) => decideChange(gdpr, change, WHO).change;
  assert.equal(kind({ addPolicies: ['soc2'] }), 'upgraded');
  assert.equal(kind({ overrides: { 'access.max_recall_limit': 40 } }), 'upgraded');
  assert.equal(kind({ overrides: { records: { purposes: ['support'] } } }), 'upgraded');
  assert.equal(kind({ overrides: { 'access.max_recall_limit': 60 }, reason: 'x' }), 'downgraded');
  assert.equal(kind({ overrides: { 'access.max_recall_limit': null } }), 'downgraded');
  assert.equal(kind({ removePolicies: ['GDPR'] }), 'downgraded');
  assert.equal(kind({ removePolicies: ['soc2'], addPolicies: ['gdpr'] }), 'unchanged');
  assert.equal(kind({}), 'unchanged');
});

test('memories without a policy share the baseline, which no change of a policy touches', () => {
  const baseline = unsetPolicy();
  decideChange(baseline, { addPolicies: ['gdpr'], overrides: { 'retention.audit_days': 4000 } }, WHO);
  assert.equal(unsetPolicy(), baseline);
  assert.ok(isIntact(baseline));
});

test('the baseline applies beneath every preset', () => {
  const baseline = unsetPolicy();
  for (const name of NAMES) {
    const { diff, change } = decideChange(baseline, { addPolicies: [name] }, WHO);
    const looser = diff.filter(({ direction }) => direction !== 'tighter' && direction !== 'neutral');
    assert.deepEqual(looser, [], `${name} loosens`);
    assert.equal(change, 'upgraded', name);
  }
  const underHold = sealNext(baseline, ['legal_hold'], {}, WHO);
  assert.equal(underHold.rules['audit.reads'], true);
  assert.equal(underHold.rules['provenance.record'], true);
  assert.equal(underHold.rules['retention.audit_days'], 365);
});

test('the first preset keeps the values of earlier overrides, and loosening an override is a downgrade', () => {
  const strict = sealNext(unsetPolicy(), [], { 'retention.audit_days': 800 }, WHO);
  const adopted = decideChange(strict, { addPolicies: ['ccpa'] }, WHO);
  assert.equal(adopted.change, 'upgraded');
  assert.equal(adopted.proposed.rules['retention.audit_days'], 800);
  const loosened = decideChange(strict, { addPolicies: ['ccpa'], overrides: { 'retention.audit_days': null } }, WHO);
  assert.equal(loosened.change, 'downgraded');
});

test('a policy that was sealed without the baseline gets it with the next change', () => {
  const { rules, ...legacy } = sealNext(unsetPolicy(), ['legal_hold'], {}, WHO);
  const bare: SealedPolicy = { ...legacy, rules: { ...rules, 'audit.reads': false, 'provenance.record': false } };
  const { diff, change } = decideChange(bare, { addPolicies: ['retention_30d'] }, WHO);
  assert.equal(change, 'upgraded');
  assert.ok(diff.some(({ path, to }) => path === 'audit.reads' && to === true));
});

test('a downgrade needs an administrator and a reason; that of a hold must start with release', () => {
  const underHold = sealNext(unsetPolicy(), ['gdpr', 'legal_hold'], {}, WHO);
  const errors = (change: PolicyChange, isAdmin = true) => decideChange(underHold, change, { isAdmin }).errors.length;
  assert.equal(errors({ removePolicies: ['gdpr'] }), 1);
  assert.equal(errors({ removePolicies: ['gdpr'], reason: 'moved' }, false), 1);
  assert.equal(errors({ removePolicies: ['gdpr'], reason: 'moved' }), 0);
  assert.equal(errors({ removePolicies: ['legal_hold'], reason: 'over' }), 1);
  assert.equal(errors({ removePolicies: ['legal-hold'], reason: 'release: case closed' }), 0);
  const overridden = sealNext(unsetPolicy(), [], { 'deletion.hold': true }, WHO);
  assert.throws(
    () => applyChange(overridden, { overrides: { 'deletion.hold': null }, reason: 'over' }, WHO),
    code('POL-E010'),
  );
});

test('an override that is looser than the presets is refused, and one that became looser stays stored', () => {
  const current = sealNext(unsetPolicy(), [], { 'retention.audit_days': 400 }, WHO);
  assert.throws(
    () => applyChange(current, { addPolicies: ['gdpr'], overrides: { 'audit.reads': false } }, WHO),
    code('POL-E010'),
  );
  const { policy } = applyChange(current, { addPolicies: ['gdpr'] }, WHO);
  assert.equal(policy?.rules['retention.audit_days'], 1095);
  assert.deepEqual(policy.overrides, { 'retention.audit_days': 400 });
});

test('unknown names and invalid values are refused with their codes', () => {
  assert.throws(() => compose(['gdpr', 'nonsense']), code('POL-E009'));
  assert.throws(() => readOverrides({ 'consent.moed': 'opt_in' }), code('POL-E009'));
  assert.throws(() => readOverrides({ consent: { moed: 'opt_in' } }), code('POL-E009'));
  assert.throws(() => readOverrides({ constructor: {} }), code('POL-E009'));
  assert.throws(() => readOverrides({ 'consent.mode': 'sometimes' }), code('VAL-E001'));
  assert.throws(() => readOverrides({ retention: { by_namespace: { a: 0 } } }), code('VAL-E001'));
  assert.throws(() => readOverrides({ 'processing.restriction': false }), code('VAL-E001'));
  assert.throws(() => readOverrides([]), code('VAL-E001'));
  let deep: PolicyValue = {};
  for (let depth = 0; depth < 5_000; depth++) deep = { deep };
  assert.throws(() => readOverrides({ 'ai.impact_assessment': deep }), code('VAL-E001'));
  const regions = sealNext(unsetPolicy(), [], { 'residency.regions': ['eu'] }, WHO);
  assert.deepEqual(regions.rules['residency.regions'], ['eu']);
  assert.deepEqual(readOverrides({ consent: { mode: 'opt_in' }, 'audit.reads': null }), {
    'consent.mode': 'opt_in',
    'audit.reads': null,
  });
});

test('the allowed regions are the intersection of all lists', () => {
  const { join } = RULES['residency.regions'].kind;
  assert.deepEqual(join(['eu', 'us'], ['us', 'cn']), ['us']);
  assert.deepEqual(join([], ['us']), ['us']);
  assert.equal(join(['eu'], ['cn']), undefined);
});

test('each preset has the rules of the contract, and no others', (t) => {
  const tables = NAMES.map((name) => {
    const { rules } = compose([name]);
    const said = RULE_PATHS.filter((path) => canonicalJson(rules[path]) !== canonicalJson(RULES[path].loosest));
    return [name, Object.fromEntries(said.map((path) => [path, canonicalJson(rules[path])]))];
  });
  t.assert.snapshot(Object.fromEntries(tables));
});

test('the wire form of a policy contains everything that its seal covers', () => {
  const policy = sealNext(unsetPolicy(), ['hipaa'], { 'tiering.baa_acknowledged': true }, { ...WHO, reason: 'start' });
  const json = policyJson(policy) as Record<string, PolicyValue>; // An object by construction.
  const { version, presets, rules, overrides, prev_seal_hash } = json;
  assert.deepEqual(presets, ['hipaa']);
  assert.deepEqual(overrides, { tiering: { baa_acknowledged: true } });
  assert.equal(json['seal_hash'], sealHash(policy));
  assert.ok(version === 1 && prev_seal_hash === null && rules !== undefined);
});
