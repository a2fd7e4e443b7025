import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { until } from '../../test/support/shard.ts';
import { EngineError, type ErrorCode } from './base/errors.ts';
import { PLAIN_SESSION } from './cal/run/session.ts';
import type { CallContext } from './calls/context.ts';
import type { ConsentItem, PolicyChange } from './calls/govern.ts';
import type { MemorySettings } from './calls/memory.ts';
import type { RecallQuery } from './calls/recall.ts';
import type { Engine } from './engine.ts';
import type { JsonObject } from './grain/api/json-value.ts';
import { openEngine } from './open.ts';

const DAY_MS = 86_400_000;
const context: CallContext = { memory: 1, partition: 0, actor: 'key:test', requestId: 'req_test' };
const settings: MemorySettings = {
  number: 1,
  id: 'default',
  partitions: 1,
  language: 'en',
  dedup: 'exact',
  dedupThreshold: 0.85,
  createdAtMs: 1_700_000_000_000,
};

class Shard {
  engine!: Engine;
  nowMs = 1_760_000_000_000;
  readonly directory = mkdtempSync(join(tmpdir(), 'granary-governed-'));

  async open(wanted: MemorySettings = settings, options: { openedCacheBytes?: number } = {}): Promise<void> {
    this.engine = await openEngine({
      directory: join(this.directory, 'shard-0'),
      keysDirectory: join(this.directory, 'keys', 'shard-0'),
      shard: 0,
      shards: 1,
      masterKeys: [Buffer.alloc(32, 7)],
      indexHeapBytes: 64 << 20,
      ...options,
      clock: { nowMs: () => this.nowMs },
      onFatal: (error) => assert.fail(`fatal: ${error instanceof Error ? error.stack : error}`),
    });
    await this.engine.write('attachMemory', context, { settings: wanted });
  }

  async reopen(): Promise<void> {
    await this.engine.close();
    await this.open();
  }

  async add(fields: JsonObject, more: Partial<CallContext> = {}, grainType = 'belief'): Promise<string> {
    const whole = grainType === 'belief' ? { subject: 'ann', relation: 'likes', object: 'tea', ...fields } : fields;
    const asked = { ...context, ...more };
    return (await this.engine.write('add', asked, { grainType, fields: whole, sync: false })).hash;
  }

  policy(change: PolicyChange) {
    return this.engine.write('setPolicy', context, { change, isAdmin: true });
  }

  async say(item: Omit<ConsentItem, 'purpose'> & { purpose?: string }) {
    const { outcomes } = await this.engine.write('consent', context, { items: [{ purpose: 'storage', ...item }] });
    const [outcome] = outcomes;
    assert.ok(outcome !== undefined);
    if ('error' in outcome) throw new EngineError(outcome.error.code, outcome.error.message);
    return outcome.fact;
  }

  async restrict(userId: string, restricted = true): Promise<void> {
    await this.engine.write('restrict', context, { userId, restricted, reason: 'contested' });
  }

  forget(hash: string, more: Partial<CallContext> = {}) {
    return this.engine.write('forget', { ...context, ...more }, { hashes: [hash], check: false });
  }

  supersede(oldHash: string, fields: JsonObject, more: Partial<CallContext> = {}) {
    return this.engine.write('supersede', { ...context, ...more }, { oldHash, fields });
  }

  listed(more: Partial<CallContext> = {}): string[] {
    const { grains } = this.engine.read('list', { ...context, ...more }, { filter: {}, limit: 100, order: 'asc' });
    return grains.filter(({ grainType }) => grainType !== 'consent').map(({ hash }) => hash);
  }

  recalled(query: Partial<RecallQuery> = {}, more: Partial<CallContext> = {}) {
    const asked = { filter: {}, limit: 20, candidateLimit: 100, structural: false, query: 'tea', ...query };
    return this.engine.read('recall', { ...context, ...more }, asked);
  }
}

async function opened(t: TestContext, wanted: MemorySettings = settings): Promise<Shard> {
  const shard = new Shard();
  await shard.open(wanted);
  t.after(async () => {
    await shard.engine.close();
    rmSync(shard.directory, { recursive: true });
  });
  return shard;
}

async function refused(code: ErrorCode, work: () => unknown): Promise<void> {
  await assert.rejects(
    async () => work(),
    (error) => {
      assert.ok(error instanceof EngineError, String(error));
      assert.equal(error.code, code, error.message);
      return true;
    },
  );
}

test('opt in: a user is written about after a grant for the purpose or for every purpose, and not after its withdrawal', async (t) => {
  const shard = await opened(t);
  await shard.policy({ overrides: { 'consent.mode': 'opt_in' } });
  await refused('POL-E002', () => shard.add({ user_id: 'u1' }));
  const granted = await shard.say({ userId: 'u1', granted: true });
  await shard.add({ user_id: 'u1' });
  await refused('POL-E002', () => shard.add({ user_id: 'u1', object: 'milk' }, { purpose: 'marketing' }));
  const revoked = await shard.say({ userId: 'u1', granted: false });
  assert.equal(revoked.grantedAtMs, granted.atMs);
  await refused('POL-E002', () => shard.add({ user_id: 'u1', object: 'rum' }));
  await shard.say({ userId: 'u1', purpose: '*', granted: true });
  await shard.add({ user_id: 'u1', object: 'rum' }, { purpose: 'marketing' });
  await shard.add({ object: 'of nobody' });
  const consent = shard.engine.read('get', context, { hash: revoked.hash });
  const { prior_consent, is_withdrawal, scope, subject_did } = consent.fields;
  assert.deepEqual([prior_consent, is_withdrawal, scope, subject_did], [granted.hash, true, 'storage', 'user:u1']);
});

test('a grant ends at its stated time, and grants and withdrawals survive a reopen', async (t) => {
  const shard = await opened(t);
  await shard.policy({ overrides: { consent: { mode: 'opt_in' } } });
  await shard.say({ userId: 'u1', granted: true, expiresAt: Math.floor((shard.nowMs + DAY_MS) / 1000) });
  await shard.restrict('u2');
  await shard.reopen();
  await shard.add({ user_id: 'u1' });
  await refused('POL-E008', () => shard.add({ user_id: 'u2' }));
  shard.nowMs += DAY_MS;
  await refused('POL-E002', () => shard.add({ user_id: 'u1', object: 'rum' }));
  const { facts } = shard.engine.read('consents', context, { userId: 'u1' });
  assert.equal(facts.length, 1);
});

for (const [what, stepMs] of [
  ['in one millisecond', 0],
  ['after a step of the clock', -3_600_000],
] as const)
  test(`the last consent decides, of a purpose or of every purpose, also ${what}`, async (t) => {
    const shard = await opened(t);
    await shard.policy({ overrides: { 'consent.mode': 'opt_in' } });
    const say = async (purpose: string, granted: boolean): Promise<void> => {
      await shard.say({ userId: 'u1', purpose, granted });
      shard.nowMs += stepMs;
    };
    await say('storage', true);
    await say('*', false);
    await refused('POL-E002', () => shard.add({ user_id: 'u1' }));
    await say('storage', true);
    await shard.add({ user_id: 'u1' });
    await say('storage', false);
    await say('*', true);
    await shard.add({ user_id: 'u1', object: 'milk' });
    const items = [
      { userId: 'u1', purpose: 'storage', granted: true },
      { userId: 'u1', purpose: '*', granted: false },
    ];
    await shard.engine.write('consent', context, { items });
    await refused('POL-E002', () => shard.add({ user_id: 'u1', object: 'rum' }));
  });

test('opt out: everybody is written about except those who withdrew; with on_read their grains disappear from every read', async (t) => {
  const shard = await opened(t);
  await shard.policy({ addPolicies: ['ccpa'] });
  const kept = await shard.add({ user_id: 'u1' });
  const gone = await shard.add({ user_id: 'u2', object: 'tea too' });
  assert.deepEqual(shard.listed(), [kept, gone]);
  await shard.say({ userId: 'u2', granted: false });
  await refused('POL-E002', () => shard.add({ user_id: 'u2', object: 'rum' }));
  await shard.add({ user_id: 'u2', object: 'by contract', processing_basis: 'contract' }).catch(() => undefined);
  assert.deepEqual(shard.listed(), [kept]);
  assert.deepEqual(
    shard.recalled().hits.map(({ grain }) => grain.hash),
    [kept],
  );
  await refused('POL-E002', () => shard.engine.read('get', context, { hash: gone }));
  await shard.say({ userId: 'u2', granted: true });
  assert.deepEqual(shard.listed(), [kept, gone]);
});

test('a restricted user is frozen: no write, no read by hash, no hit, no forgetting; erasing and withdrawing still work', async (t) => {
  const shard = await opened(t);
  const free = await shard.add({ user_id: 'u1' });
  const frozen = await shard.add({ user_id: 'u2', object: 'tea too' });
  await shard.restrict('u2');
  await shard.restrict('u2');
  await refused('POL-E008', () => shard.add({ user_id: 'u2', object: 'rum' }));
  await refused('POL-E008', () => shard.engine.read('get', context, { hash: frozen }));
  await refused('POL-E008', () => shard.engine.read('getRaw', context, { hash: frozen }));
  await refused('POL-E008', () => shard.engine.read('history', context, { hash: frozen }));
  await refused('POL-E008', () => shard.forget(frozen));
  await refused('POL-E008', () => shard.supersede(frozen, { object: 'rum' }));
  await refused('POL-E008', () => shard.recalled({ filter: { userId: 'u2' } }));
  await refused('POL-E008', () => shard.recalled({}, { userId: 'u2' }));
  await refused('POL-E008', () => shard.say({ userId: 'u2', granted: true }));
  await shard.say({ userId: 'u2', granted: false });
  assert.deepEqual(shard.listed(), [free]);
  const { hits, excluded } = shard.recalled({ showExcluded: true });
  assert.deepEqual(
    hits.map(({ grain }) => grain.hash),
    [free],
  );
  // The grain and the withdrawal, for every query.
  assert.equal(excluded?.counts.processing_restricted, 2);
  const { restrictions } = shard.engine.read('restrictions', context, {});
  assert.deepEqual(
    restrictions.map(({ userId, reason, restrictedBy }) => [userId, reason, restrictedBy]),
    [['u2', 'contested', 'key:test']],
  );
  await shard.restrict('u2', false);
  await shard.restrict('u2', false);
  assert.deepEqual(shard.listed(), [free, frozen]);
  await shard.restrict('u2');
  assert.equal((await shard.engine.write('eraseUser', context, { userId: 'u2' })).count, 2);
  assert.deepEqual(shard.engine.read('restrictions', context, {}).restrictions, []);
  await shard.reopen();
  assert.deepEqual(shard.engine.read('restrictions', context, {}).restrictions, []);
  await shard.add({ user_id: 'u2', object: 'anew' });
});

test('a grain is gone from every read as soon as its time ends, and its space is released when expiry is enforced', async (t) => {
  const shard = await opened(t);
  await shard.policy({ overrides: { 'retention.by_namespace': { acme: 1 }, 'retention.by_type': { event: 3 } } });
  const own = await shard.add({ object: 'own tea', expires_at: Math.floor(shard.nowMs / 1000) + 60 });
  const ofNamespace = await shard.add({ object: 'tea', namespace: 'acme/prod' });
  const ofType = await shard.add({ content: 'some tea' }, {}, 'event');
  const kept = await shard.add({ object: 'kept tea' });
  assert.deepEqual(new Set(shard.listed()), new Set([own, ofNamespace, ofType, kept]));
  shard.nowMs += 60_000;
  assert.deepEqual(new Set(shard.listed()), new Set([ofNamespace, ofType, kept]));
  await refused('MEM-E001', () => shard.engine.read('get', context, { hash: own }));
  shard.nowMs += DAY_MS;
  assert.deepEqual(new Set(shard.listed()), new Set([ofType, kept]));
  shard.nowMs += 2 * DAY_MS;
  assert.deepEqual(shard.listed(), [kept]);
  const { hits, excluded } = shard.recalled({ showExcluded: true });
  assert.deepEqual(
    hits.map(({ grain }) => grain.hash),
    [kept],
  );
  assert.equal(excluded?.counts.ttl_expired, 3);
  const status = await shard.engine.write('retentionStatus', context, {});
  assert.deepEqual(
    status.namespaces.map(({ namespace, ttlDays, source, grains, expired }) => [
      namespace,
      ttlDays,
      source,
      grains,
      expired,
    ]),
    [
      ['acme/prod', 1, 'namespace', 1, 1],
      ['default', null, '', 3, 2],
    ],
  );
  assert.equal(status.lastEnforcedMs, undefined);
  const dry = await shard.engine.write('enforceRetention', context, { dryRun: true });
  assert.deepEqual([dry.expired, dry.forgotten, dry.held], [3, 0, 0]);
  await shard.policy({ addPolicies: ['legal_hold'] });
  const held = await shard.engine.write('enforceRetention', context, { dryRun: false });
  assert.deepEqual([held.expired, held.forgotten, held.held], [3, 0, 3]);
  await shard.policy({ removePolicies: ['legal_hold'], reason: 'release: settled' });
  const done = await shard.engine.write('enforceRetention', context, { dryRun: false });
  assert.deepEqual([done.expired, done.forgotten, done.held], [3, 3, 0]);
  assert.deepEqual(done.byNamespace['default'], { expired: 2, forgotten: 2, held: 0 });
  const after = await shard.engine.write('retentionStatus', context, {});
  assert.deepEqual([after.namespaces.length, after.lastEnforcedMs], [1, shard.nowMs]);
});

test('enforcing the retention of one namespace does not count as an enforcement of the memory', async (t) => {
  const shard = await opened(t);
  await shard.policy({ overrides: { 'retention.default_ttl_days': 1 } });
  for (const namespace of ['acme', 'other']) await shard.add({ object: `tea of ${namespace}`, namespace });
  shard.nowMs += 2 * DAY_MS;
  const status = () => shard.engine.write('retentionStatus', context, {});
  const enforce = (namespace?: string) => shard.engine.write('enforceRetention', context, { dryRun: false, namespace });
  assert.equal((await enforce('acme')).forgotten, 1);
  const { namespaces, lastEnforcedMs } = await status();
  assert.deepEqual(
    [namespaces.map(({ namespace, expired }) => [namespace, expired]), lastEnforcedMs],
    [[['other', 1]], undefined],
  );
  const { entries } = await shard.engine.write('auditPage', context, { filter: {}, limit: 50, order: 'asc' });
  assert.equal(entries.filter(({ eventType }) => eventType === 'retention.enforced').length, 1);
  assert.equal((await enforce()).forgotten, 1);
  assert.equal((await status()).lastEnforcedMs, shard.nowMs);
});

test('the newest grain of a subject and relation that has not outlived the policy takes the numbers', async (t) => {
  const shard = await opened(t);
  await shard.policy({ overrides: { 'retention.by_namespace': { acme: 1 }, 'retention.by_type': { belief: 30 } } });
  const kept = await shard.add({ object: 'tea', visits: 1 });
  shard.nowMs += 1_000;
  await shard.add({ object: 'rum', visits: 10, namespace: 'acme/prod' });
  shard.nowMs += 2 * DAY_MS;
  const target = { subject: 'ann', relation: 'likes' };
  const count = () => shard.engine.write('accumulate', context, { target, deltas: { visits: 1 }, set: {} });
  const first = await count();
  assert.deepEqual([first.oldHash, first.fields['visits']], [kept, 2]);
  await shard.engine.write('flush', context, {});
  assert.equal((await count()).fields['visits'], 3);
  shard.nowMs += 31 * DAY_MS;
  await refused('MEM-E001', count);
});

test('expired grains of a restricted user are kept, hidden, until the restriction is lifted', async (t) => {
  const shard = await opened(t);
  await shard.policy({ addPolicies: ['retention_30d'] });
  await shard.add({ user_id: 'u1' });
  const frozen = await shard.add({ user_id: 'u2', object: 'tea too' });
  await shard.restrict('u2');
  shard.nowMs += 30 * DAY_MS;
  const enforce = (dryRun: boolean) => shard.engine.write('enforceRetention', context, { dryRun });
  assert.deepEqual(await enforce(true), {
    expired: 2,
    forgotten: 0,
    held: 1,
    goals: 0,
    byNamespace: { default: { expired: 2, forgotten: 0, held: 1 } },
  });
  const { expired, forgotten, held } = await enforce(false);
  assert.deepEqual([expired, forgotten, held], [2, 1, 1]);
  const { namespaces } = await shard.engine.write('retentionStatus', context, {});
  assert.deepEqual(
    namespaces.map(({ grains, expired: over, held: kept }) => [grains, over, kept]),
    [[1, 1, 1]],
  );
  assert.deepEqual(shard.listed(), []);
  await shard.restrict('u2', false);
  await refused('MEM-E001', () => shard.engine.read('get', context, { hash: frozen }));
  assert.equal((await enforce(false)).forgotten, 1);
});

test('an expired grain is not a duplicate of a later one', async (t) => {
  const shard = await opened(t);
  await shard.policy({ addPolicies: ['retention_30d'] });
  const first = await shard.add({});
  assert.equal(await shard.add({}), first);
  shard.nowMs += 30 * DAY_MS;
  const second = await shard.add({});
  assert.notEqual(second, first);
  assert.deepEqual(shard.listed(), [second]);
});

test('each rule for writing, replacing and forgetting refuses with its code', async (t) => {
  const shard = await opened(t);
  const user = { user_id: 'u1' };
  const hash = await shard.add(user);
  await shard.policy({ addPolicies: ['strict_deletion', 'strict_supersede'] });
  await refused('POL-E001', () => shard.forget(hash));
  await refused('POL-E002', () => shard.forget(hash, { reason: 'old' }));
  await refused('POL-E001', () => shard.supersede(hash, { object: 'rum' }));
  await refused('POL-E002', () => shard.supersede(hash, { object: 'rum' }, { reason: 'wrong' }));
  await shard.say({ userId: 'u1', purpose: 'supersede', granted: true });
  const { newHash } = await shard.supersede(hash, { object: 'rum' }, { reason: 'wrong' });
  await shard.say({ userId: 'u1', purpose: 'deletion', granted: true });
  await shard.forget(hash, { reason: 'old' });
  await shard.policy({ overrides: { 'deletion.min_age_days': 2 } });
  await refused('POL-E003', () => shard.forget(newHash, { reason: 'old' }));
  await shard.policy({ addPolicies: ['legal_hold', 'append_only'] });
  await refused('POL-E004', () => shard.supersede(newHash, { object: 'gin' }, { reason: 'wrong' }));
  await refused('POL-E003', () => shard.engine.write('eraseUser', context, { userId: 'u1' }));
  await refused('POL-E003', () => shard.engine.write('eraseUser', context, { userId: 'never seen' }));
  await refused('POL-E003', () => shard.engine.write('dropMemory', context, { check: true }));
  await shard.policy({ overrides: { 'write.user_id_required': true } });
  await refused('POL-E006', () => shard.add({ object: 'of nobody' }));
  await shard.policy({ overrides: { 'guardrail.patterns': ['Project X'], 'guardrail.mode': 'contains' } });
  await refused('POL-E012', () => shard.add({ ...user, object: 'all of project  x' }));
  await shard.policy({ overrides: { 'residency.enforce': true, 'residency.regions': ['eu'] } });
  await refused('POL-E007', () => shard.add({ ...user, object: 'gin' }));
  await shard.policy({ overrides: { 'access.max_recall_limit': 10 } });
  await refused('POL-E013', () => shard.recalled({ askedLimit: 11 }));
  await refused('POL-E010', () => shard.policy({ removePolicies: ['legal_hold'], reason: 'because' }));
  await refused('POL-E009', () => shard.policy({ addPolicies: ['gdrp'] }));
});

test('personal data is flagged, removed before hashing, or kept out', async (t) => {
  const shard = await opened(t);
  const mail = { object: 'write to ann@example.org' };
  await shard.policy({ overrides: { 'pii.write_action': 'flag' } });
  const flagged = shard.engine.read('get', context, { hash: await shard.add(mail) });
  assert.deepEqual(flagged.fields['tags'], ['pii:email']);
  await shard.policy({ overrides: { 'pii.write_action': 'redact' } });
  const redacted = shard.engine.read('get', context, { hash: await shard.add(mail) });
  assert.equal(redacted.fields['object'], 'write to [EMAIL]');
  await shard.policy({ overrides: { 'pii.write_action': 'require_consent' } });
  await refused('POL-E005', () => shard.add({ ...mail, subject: 'bob' }));
  await refused('POL-E002', () => shard.add({ ...mail, user_id: 'u1' }));
  await shard.say({ userId: 'u1', granted: true });
  await shard.add({ ...mail, user_id: 'u1' });
  await shard.policy({ addPolicies: ['pii_block'] });
  await refused('POL-E005', () => shard.add({ ...mail, user_id: 'u1', subject: 'cay' }));
});

test('versions of a policy form a chain, and a memory may be created with the first of them', async (t) => {
  const shard = await opened(t, {
    ...settings,
    policy: { presets: ['gdpr'], overrides: {}, sealedBy: 'key:maker' },
  });
  await refused('POL-E002', () => shard.add({ user_id: 'u1' }));
  const { policy, change } = await shard.policy({ addPolicies: ['legal-hold'], reason: 'a case' });
  assert.deepEqual([policy['version'], policy['presets'], change], [2, ['gdpr', 'legal_hold'], 'upgraded']);
  const { policy: first } = shard.engine.read('policy', context, { version: 1 });
  assert.deepEqual([first?.['presets'], first?.['sealed_by']], [['gdpr'], 'key:maker']);
  assert.equal(policy['prev_seal_hash'], first?.['seal_hash']);
  assert.equal((await shard.policy({ addPolicies: ['gdpr'] })).change, 'unchanged');
  assert.equal(shard.engine.read('policy', context, { version: 3 }).policy, null);
});

/** Rows of the contract's states of a user: the permitted acts, and the code of each refusal. */
const ACTS: readonly (readonly [act: string, free: string, restricted: string, erased: string])[] = [
  ['add', 'done', 'POL-E008', 'done'],
  ['get', 'done', 'POL-E008', 'MEM-E006'],
  ['getRaw', 'done', 'POL-E008', 'MEM-E006'],
  ['history', 'done', 'POL-E008', 'MEM-E006'],
  ['list of the user', 'done', 'POL-E008', 'done'],
  ['recall of the user', 'done', 'POL-E008', 'done'],
  ['query for the user', 'done', 'POL-E008', 'done'],
  ['supersede', 'done', 'POL-E008', 'MEM-E006'],
  ['accumulate', 'done', 'POL-E008', 'MEM-E006'],
  ['forget', 'done', 'POL-E008', 'done'],
  ['grant', 'done', 'POL-E008', 'done'],
  ['revoke', 'done', 'done', 'done'],
  ['restrict', 'done', 'done', 'done'],
  ['lift', 'done', 'done', 'done'],
  ['erase', 'done', 'done', 'done'],
  ['export', 'done', 'done', 'done'],
  ['consent status', 'done', 'done', 'done'],
  ['audit', 'done', 'done', 'done'],
];

function act(shard: Shard, name: string, hash: string): unknown {
  switch (name) {
    case 'add':
      return shard.add({ user_id: 'u1', object: 'more tea' });
    case 'get':
    case 'getRaw':
    case 'history':
      return shard.engine.read(name, context, { hash });
    case 'list of the user':
      return shard.engine.read('list', context, { filter: { userId: 'u1' }, limit: 1, order: 'asc' });
    case 'query for the user': {
      const query = { query: 'RECALL beliefs', session: PLAIN_SESSION, vectors: [] };
      return shard.engine.read('cal', { ...context, userId: 'u1' }, query);
    }
    case 'recall of the user':
      return shard.recalled({ filter: { userId: 'u1' } });
    case 'supersede':
      return shard.supersede(hash, { object: 'rum' });
    case 'accumulate':
      return shard.engine.write('accumulate', context, { target: { hash }, deltas: { success_count: 1 }, set: {} });
    case 'forget':
      return shard.forget(hash);
    case 'grant':
    case 'revoke':
      return shard.say({ userId: 'u1', granted: name === 'grant' });
    case 'restrict':
    case 'lift':
      return shard.restrict('u1', name === 'restrict');
    case 'erase':
      return shard.engine.write('eraseUser', context, { userId: 'u1' });
    case 'export':
      return shard.engine.write('personPage', context, { userId: 'u1', after: 0, limitBytes: 1_000_000 });
    case 'consent status':
      return shard.engine.read('consents', context, { userId: 'u1' });
    default:
      return shard.engine.write('verifyAudit', context, {});
  }
}

for (const [name, ...expected] of ACTS)
  test(`states of a user: ${name}`, async (t) => {
    const shard = await opened(t);
    for (const [at, state] of (['free', 'restricted', 'erased'] as const).entries()) {
      const hash = await shard.add({ user_id: 'u1', object: `tea ${at}` });
      if (state === 'restricted') await shard.restrict('u1');
      if (state === 'erased') await shard.engine.write('eraseUser', context, { userId: 'u1' });
      const came = await Promise.resolve()
        .then(() => act(shard, name, hash))
        .then(
          () => 'done',
          (error: unknown) => (error instanceof EngineError ? error.code : String(error)),
        );
      assert.equal(came, expected[at], `${name} while ${state}`);
      await shard.restrict('u1', false);
    }
  });

test('consent changes state any number of times, each time with a grain that names the one before', async (t) => {
  const shard = await opened(t);
  let prior = '0'.repeat(64); // the format's word for none
  for (const granted of [false, false, true, true, false, true]) {
    const fact = await shard.say({ userId: 'never seen before', granted });
    const { fields } = shard.engine.read('get', context, { hash: fact.hash });
    assert.deepEqual([fields['is_withdrawal'], fields['prior_consent']], [!granted, prior]);
    prior = fact.hash;
    const page = { order: 'desc', offset: 0, limit: 10 } as const;
    const { users, total } = await shard.engine.write('consentPage', context, page);
    assert.equal(total, 1);
    assert.deepEqual(
      users.flatMap(({ facts }) => facts.map((one) => [one.granted, one.hash])),
      [[granted, fact.hash]],
    );
  }
});

test('a restriction that arrives while batches run lets no grain through after its answer', async (t) => {
  const shard = await opened(t);
  const batch = (from: number) =>
    shard.engine.write('addBatch', context, {
      items: Array.from({ length: 200 }, (_, at) => ({
        grainType: 'belief',
        fields: { subject: 'ann', relation: 'likes', object: `tea ${from + at}`, user_id: at % 2 === 0 ? 'u1' : 'u2' },
      })),
    });
  const [before, , after] = await Promise.all([batch(0), shard.restrict('u1'), batch(1_000)]);
  const codes = [...before.outcomes, ...after.outcomes].map((one) => ('error' in one ? one.error.code : 'added'));
  assert.deepEqual(new Set(codes.slice(0, 200)), new Set(['added']));
  assert.deepEqual(
    codes.slice(200),
    Array.from({ length: 200 }, (_, at) => (at % 2 === 0 ? 'POL-E008' : 'added')),
  );
  const { total } = shard.engine.read('list', context, { filter: { userId: 'u2' }, limit: 1, order: 'asc' });
  assert.equal(total, 200);
});

test('a caller of one namespace sees the state of users that it names, and otherwise only of people whose grains it sees', async (t) => {
  const shard = await opened(t);
  for (const [user, namespace] of [
    ['u1', 'acme'],
    ['u2', 'other'],
  ] as const) {
    await shard.add({ user_id: user, namespace });
    await shard.say({ userId: user, granted: false });
    await shard.restrict(user);
  }
  const { engine } = shard;
  const namesOf = (some: readonly { readonly userId: string }[]) => some.map(({ userId }) => userId);
  const restrictedFor = (more: Partial<CallContext>, input: { userId?: string } = {}) =>
    namesOf(engine.read('restrictions', { ...context, ...more }, input).restrictions);
  const usersOf = (more: Partial<CallContext>, userId: string) => [
    namesOf(engine.read('consents', { ...context, ...more }, { userId }).facts),
    restrictedFor(more, { userId }),
  ];
  const listed = async (more: Partial<CallContext>) => {
    const page = { order: 'asc', offset: 0, limit: 10 } as const;
    const { users, total } = await engine.write('consentPage', { ...context, ...more }, page);
    assert.equal(total, users.length);
    assert.ok(users.every(({ restricted }) => restricted));
    return [namesOf(users), restrictedFor(more)];
  };
  const bound = { namespace: 'acme' };
  assert.deepEqual(await listed({}), [
    ['u1', 'u2'],
    ['u1', 'u2'],
  ]);
  assert.deepEqual(await listed(bound), [['u1'], ['u1']]);
  assert.deepEqual(await listed({ userId: 'u2' }), [['u2'], ['u2']]);
  assert.deepEqual(usersOf(bound, 'u2'), [['u2'], ['u2']]);
  assert.deepEqual(usersOf({ ...bound, userId: 'u2' }, 'u2'), [['u2'], ['u2']]);
  assert.deepEqual(usersOf({ userId: 'u1' }, 'u2'), [['u1'], ['u1']]);
});

test('contradictory presets and overrides are refused, and refusals are in the audit trail', async (t) => {
  const shard = await opened(t);
  await shard.policy({ overrides: { 'residency.regions': ['eu'] } });
  await refused('VAL-E001', () => shard.policy({ overrides: { 'deletion.hold': 'yes' } }));
  await shard.policy({ addPolicies: ['strict_deletion'] });
  await refused('POL-E010', () => shard.policy({ overrides: { 'deletion.reason_required': false } }));
  const { entries } = await shard.engine.write('auditPage', context, { filter: {}, limit: 50, order: 'asc' });
  const enforced = entries.filter(({ eventType }) => eventType === 'policy.enforced');
  assert.ok(enforced.length > 0);
  assert.equal((await shard.engine.write('verifyAudit', context, {})).valid, true);
});

test('a request repeated under its key runs once and gets the same answer', async (t) => {
  const shard = await opened(t);
  const keyed = (key: string): CallContext => ({ ...context, idempotency: { key, bodyHash: 'b' } });
  const items = [
    { userId: 'u1', purpose: 'storage', granted: true, basis: 'form' },
    { userId: 'u1', purpose: '', granted: true },
  ];
  const first = await shard.engine.write('consent', keyed('c'), { items });
  shard.nowMs += 1_000;
  assert.deepEqual(await shard.engine.write('consent', keyed('c'), { items }), first);
  const { total } = shard.engine.read('list', context, { filter: {}, limit: 1, order: 'asc' });
  assert.equal(total, 1);
  const change = { addPolicies: ['legal_hold'] };
  const sealed = await shard.engine.write('setPolicy', keyed('p'), { change, isAdmin: true });
  assert.deepEqual(await shard.engine.write('setPolicy', keyed('p'), { change, isAdmin: true }), sealed);
  const asked = { userId: 'u2', restricted: true };
  const restricted = await shard.engine.write('restrict', keyed('r'), asked);
  await shard.restrict('u2', false);
  assert.deepEqual(await shard.engine.write('restrict', keyed('r'), asked), restricted);
  assert.deepEqual(shard.engine.read('restrictions', context, {}).restrictions, []);
});

test('a sealed, rebuilt, compacted and dropped memory is governed as before, and leaves nothing', async (t) => {
  const shard = await opened(t);
  await shard.policy({ addPolicies: ['gdpr'] });
  await shard.say({ userId: 'u1', granted: true });
  await shard.restrict('u2');
  await shard.engine.write('flush', context, {});
  await shard.engine.write('rebuildIndexes', context, {});
  await shard.engine.write('compact', context, {});
  await shard.reopen();
  await shard.add({ user_id: 'u1' });
  await refused('POL-E008', () => shard.add({ user_id: 'u2' }));
  await refused('POL-E002', () => shard.add({ user_id: 'u3' }));
  await shard.engine.write('enforceRetention', context, { dryRun: false });
  await shard.engine.write('dropMemory', context, {});
  const { log } = shard.engine.store;
  await until(shard.engine, () => log.getState('drop/1') === undefined);
  const left = ['policy/', 'restricted/', 'consent/', 'enforced/'].flatMap((prefix) => [...log.scanState(prefix)]);
  assert.deepEqual(left, []);
});

test('a grain that was shown before is gone with its key, its removal and its memory, and hidden as any other', async (t) => {
  const shard = await opened(t);
  const { engine } = shard;
  const { store } = engine;
  const ordinalOf = (hash: string): number => store.findOrdinal(1, hash)!;
  const kept = (ordinal: number): boolean => store.opened.get(1, ordinal) !== undefined;
  const shown = async (fields: JsonObject, more: Partial<CallContext> = {}): Promise<{ hash: string; at: number }> => {
    const hash = await shard.add(fields, more);
    engine.read('get', { ...context, ...more }, { hash });
    const at = ordinalOf(hash);
    assert.ok(kept(at), 'an answer showed it');
    return { hash, at };
  };
  const read = (hash: string) => engine.read('get', context, { hash });

  const erased = await shown({ user_id: 'u1', object: 'green tea' });
  const restricted = await shown({ user_id: 'u2', object: 'black tea' });
  const scoped = await shown({ namespace: 'acme', object: 'white tea' });
  const forgotten = await shown({ user_id: 'u2', object: 'cold tea' });
  const expiring = await shown({ object: 'iced tea', expires_at: shard.nowMs / 1000 + 60 });
  const plain = await shown({ object: 'no tea' });
  assert.equal(shard.recalled().hits.length, 6);

  await shard.restrict('u2');
  await refused('POL-E008', () => read(restricted.hash));
  assert.ok(!shard.recalled().hits.some(({ grain }) => grain.hash === restricted.hash));
  await shard.restrict('u2', false);
  assert.equal(read(restricted.hash).hash, restricted.hash);

  await engine.write('eraseUser', context, { userId: 'u1' });
  assert.ok(!kept(erased.at) && kept(plain.at) && kept(restricted.at));
  await refused('MEM-E006', () => read(erased.hash));
  await engine.write('eraseScope', context, { path: 'acme' });
  assert.ok(!kept(scoped.at) && kept(plain.at));
  await refused('MEM-E006', () => read(scoped.hash));
  await shard.forget(forgotten.hash);
  assert.ok(!kept(forgotten.at) && kept(plain.at));
  await refused('MEM-E001', () => read(forgotten.hash));

  shard.nowMs += 120_000;
  await refused('MEM-E001', () => read(expiring.hash));
  assert.deepEqual(
    shard
      .recalled()
      .hits.map(({ grain }) => grain.hash)
      .sort(),
    [plain.hash, restricted.hash].sort(),
  );

  await engine.write('rotateKeys', context, { scope: 'memory' });
  await engine.write('compact', context, {});
  assert.ok(!kept(plain.at), 'the key that sealed it is destroyed');
  assert.ok(kept(restricted.at), 'under the key of its person');
  assert.equal(read(plain.hash).hash, plain.hash);
  assert.ok(kept(plain.at));
  store.keys.applyTombstones([tombstoneOf(store.memory(1).keyIds.blob, shard.nowMs)]);
  assert.ok(!kept(plain.at), 'a tombstone from elsewhere');
  await engine.write('dropMemory', context, {});
  assert.ok(!kept(restricted.at));
});

function tombstoneOf(id: number, destroyedMs: number) {
  return { id, kind: 'blob' as const, createdMs: destroyedMs, fingerprint: '00'.repeat(8), destroyedMs };
}

test('a shard that keeps no opened grains answers the same', async (t) => {
  const shard = await opened(t);
  await shard.add({ object: 'tea' });
  await shard.add({ object: 'more tea' });
  const first = shard.recalled();
  assert.deepEqual(shard.recalled(), first);
  assert.ok(shard.engine.store.opened.counts.hits > 0);
  await shard.engine.close();
  await shard.open(settings, { openedCacheBytes: 0 });
  assert.deepEqual(shard.recalled(), first);
  assert.deepEqual(shard.recalled(), first);
  assert.deepEqual(shard.engine.store.opened.counts, { bytes: 0, hits: 0, misses: 4 });
});
