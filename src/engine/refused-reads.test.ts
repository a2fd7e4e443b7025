// Reads that a policy or a restriction refuses leave an entry in the audit trail, as refused writes do.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { addBelief, codeOf, contextOf, openShard, settingsOf } from '../../test/support/shard.ts';
import { temporaryDirectory } from '../../test/support/temporary.ts';
import { PLAIN_SESSION } from './cal/run/session.ts';
import type { CallContext } from './calls/context.ts';
import type { PolicyChange } from './calls/govern.ts';
import type { Engine } from './engine.ts';
import { SYSTEM_ACTOR } from './govern/trail/audit.ts';

const context = contextOf(1);
const SEARCH = { query: 'tea', filter: {}, structural: false, limit: 20, candidateLimit: 100 };

async function governed(t: TestContext, change: PolicyChange): Promise<Engine> {
  const engine = await openShard(temporaryDirectory(t));
  t.after(() => engine.close());
  await engine.write('attachMemory', context, { settings: settingsOf(1) });
  await engine.write('setPolicy', context, { change, isAdmin: true });
  return engine;
}

type Refusal = { readonly actor: string; readonly subject: string } & Readonly<Record<string, unknown>>;

async function refusals(engine: Engine): Promise<readonly Refusal[]> {
  const { entries } = await engine.write('auditPage', context, { filter: {}, limit: 100, order: 'asc' });
  return entries
    .filter(({ eventType }) => eventType === 'policy.enforced')
    .map(({ actor, subject, details }) => ({ actor, subject, ...details }));
}

test('a grain, a list, a recall and a query of a restricted user are each recorded with their code', async (t) => {
  const engine = await governed(t, { addPolicies: ['ccpa'] });
  // Like a policy of an earlier build, which was sealed without the baseline.
  const { policy } = engine.store.memory(1).governed;
  engine.store.memory(1).governed.setPolicy({ ...policy, rules: { ...policy.rules, 'audit.reads': false } });
  const hash = await addBelief(engine, 1, { subject: 'ann', object: 'tea', user_id: 'ann' });
  await engine.write('restrict', context, { userId: 'ann', restricted: true });
  const bound: CallContext = { ...context, userId: 'ann' };
  const filter = { userId: 'ann' };
  const query = { query: 'RECALL beliefs', session: PLAIN_SESSION, vectors: [] };
  const reads: readonly (readonly [string, () => unknown])[] = [
    ['get', () => engine.read('get', context, { hash })],
    ['getRaw', () => engine.read('getRaw', context, { hash })],
    ['history', () => engine.read('history', context, { hash })],
    ['list', () => engine.read('list', context, { filter, limit: 5, order: 'asc' })],
    ['recall', () => engine.read('recall', context, { ...SEARCH, filter })],
    ['cal', () => engine.read('cal', bound, query)],
    [
      'calScan',
      () =>
        engine.write('calScan', bound, {
          kind: 'count',
          input: { filter: {}, tests: [], scanMax: 10, untilMs: Number.MAX_SAFE_INTEGER },
        }),
    ],
  ];
  for (const [name, read] of reads) assert.equal(await codeOf(read), 'POL-E008', name);
  const recorded = await refusals(engine);
  assert.deepEqual(
    recorded.map((one) => one['operation']),
    reads.map(([name]) => name),
  );
  for (const one of recorded) assert.deepEqual([one['code'], one.actor], ['POL-E008', 'key:test']);
  const { store } = engine;
  assert.deepEqual(
    [recorded[0]?.['grain'], recorded[3]?.['grain']],
    [store.nameOfHash(store.memory(1), hash), undefined],
  );
  for (const one of recorded.slice(3)) assert.match(one.subject, /^user:[0-9a-f]{32}$/);
  assert.equal((await engine.write('verifyAudit', context, {})).valid, true);
});

test('withdrawn consent and a cap are recorded too; internal reads and missing grains are not', async (t) => {
  const engine = await governed(t, { overrides: { 'consent.on_read': true, 'access.max_recall_limit': 5 } });
  const hash = await addBelief(engine, 1, { subject: 'ann', object: 'tea', user_id: 'ann' });
  const items = [{ userId: 'ann', purpose: 'storage', granted: false }];
  await engine.write('consent', context, { items });
  assert.equal(await codeOf(() => engine.read('get', context, { hash })), 'POL-E002');
  assert.equal(await codeOf(() => engine.read('recall', context, { ...SEARCH, askedLimit: 6 })), 'POL-E013');
  const system = { ...context, actor: SYSTEM_ACTOR };
  assert.equal(await codeOf(() => engine.read('get', system, { hash })), 'POL-E002');
  assert.equal(await codeOf(() => engine.read('get', context, { hash: '0'.repeat(64) })), 'MEM-E001');
  const other = { ...context, partition: 1 };
  assert.equal(await codeOf(() => engine.read('recall', other, { ...SEARCH, askedLimit: 6 })), 'POL-E013');
  assert.deepEqual(
    (await refusals(engine)).map((one) => [one['code'], one['operation']]),
    [
      ['POL-E002', 'get'],
      ['POL-E013', 'recall'],
    ],
  );
});
