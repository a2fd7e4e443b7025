import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compose } from './compose.ts';
import { egressAction, isRegionListed, piiWritePolicy, tieringRefusal } from './in-force.ts';
import { expiryOf, forgettableFromMs, isExpired, keepsForever, namespaceTtlDays } from './retention.ts';

const DAY_MS = 86_400_000;
const grain = { type: 'belief', namespace: 'acme/prod', createdAtMs: 1_000 * DAY_MS } as const;

test('a grain expires at the earliest time that applies to it', () => {
  const { rules } = compose(['retention_365d'], {
    'retention.by_namespace': { acme: 30, 'acme/prod': 60, other: 1 },
    'retention.by_type': { belief: 40, event: 2 },
  });
  assert.deepEqual(expiryOf(grain, rules), { atMs: 1_030 * DAY_MS, source: 'namespace' });
  assert.deepEqual(expiryOf({ ...grain, namespace: 'acmes' }, rules), { atMs: 1_040 * DAY_MS, source: 'type' });
  assert.deepEqual(expiryOf({ ...grain, namespace: 'x', type: 'goal' }, rules), {
    atMs: 1_365 * DAY_MS,
    source: 'default',
  });
  assert.deepEqual(expiryOf({ ...grain, expiresAt: 86_400 * 1_001 }, rules), {
    atMs: 1_001 * DAY_MS,
    source: 'expires_at',
  });
  assert.equal(namespaceTtlDays('acme/prod/bot', rules), 30);
});

test('the time to live of a namespace covers it in whichever form the policy names it', () => {
  const name = (form: string, at = '') => `caf\u00e9${at}`.normalize(form);
  const { rules } = compose([], { 'retention.by_namespace': { [name('NFD')]: 30, [name('NFD', '/x')]: 5, b: 1 } });
  assert.deepEqual(
    [name('NFC'), name('NFC', '/x'), name('NFC', '/y'), 'b'].map((namespace) => namespaceTtlDays(namespace, rules)),
    [30, 5, 30, 1],
  );
  const both = compose([], { 'retention.by_namespace': { [name('NFC')]: 9, [name('NFD')]: 3 } });
  assert.equal(namespaceTtlDays(name('NFC'), both.rules), 3);
});

test('without a time to live only its own expires_at ends a grain', () => {
  const { rules } = compose(['gdpr']);
  assert.ok(keepsForever(rules));
  assert.equal(expiryOf(grain, rules), undefined);
  assert.equal(expiryOf({ ...grain, expiresAt: 5 }, rules)?.atMs, 5_000);
  assert.ok(!keepsForever(compose(['retention_30d', 'retention_365d']).rules));
  assert.equal(namespaceTtlDays('constructor', rules), undefined);
});

test('a grain is gone from the moment at which it expires', () => {
  const { rules } = compose(['retention_30d', 'retention_365d']);
  assert.ok(!isExpired(grain, rules, 1_030 * DAY_MS - 1));
  assert.ok(isExpired(grain, rules, 1_030 * DAY_MS));
});

test('a minimum age delays the day from which a grain may be forgotten', () => {
  const { rules } = compose([], { 'deletion.min_age_days': 7 });
  assert.equal(forgettableFromMs(grain.createdAtMs, rules), 1_007 * DAY_MS);
  assert.equal(forgettableFromMs(5, compose([]).rules), 5);
});

test('agreements decide which data may leave, and regions decide to where', () => {
  const hipaa = compose(['hipaa']).rules;
  const acknowledged = compose(['hipaa'], { 'tiering.baa_acknowledged': true }).rules;
  assert.equal(egressAction(hipaa), 'block');
  assert.equal(egressAction(acknowledged), 'allow');
  assert.equal(egressAction(compose(['hipaa', 'gdpr'], { 'tiering.baa_acknowledged': true }).rules), 'redact');
  assert.equal(tieringRefusal(hipaa), 'baa');
  assert.equal(tieringRefusal(compose(['gdpr']).rules), 'dpa');
  assert.equal(tieringRefusal(acknowledged), undefined);
  assert.equal(tieringRefusal(compose([], { 'tiering.allowed': false }).rules), 'forbidden');
  const pipl = compose(['pipl'], { 'residency.regions': ['cn'] }).rules;
  assert.ok(isRegionListed(pipl, 'cn') && !isRegionListed(pipl, 'us'));
  assert.ok(isRegionListed(compose(['pipl']).rules, 'us'));
});

test('the rules for a write come from the policy', () => {
  assert.deepEqual(piiWritePolicy(compose(['gdpr', 'pii_block']).rules), {
    action: 'block',
    categories: '*',
    sensitiveSeparate: true,
  });
  assert.equal(piiWritePolicy(compose([], { 'pii.write_action': 'redact' }).rules).categories, '*');
  const named = compose([], { 'pii.write_action': 'redact', 'pii.categories': ['email'] });
  assert.deepEqual(piiWritePolicy(named.rules).categories, ['email']);
});
