// The reasons for which conditions of a recall exclude candidates, over a real shard: one test for each reason.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { contextOf, openShard, settingsOf } from '../../../../test/support/shard.ts';
import { temporaryDirectory } from '../../../../test/support/temporary.ts';
import type { CallContext } from '../../calls/context.ts';
import type { GrainFilter } from '../../calls/grain.ts';
import type { RecallQuery } from '../../calls/recall.ts';
import type { Engine } from '../../engine.ts';
import { EXCLUSION_REASONS } from '../../govern/trail/exclusions.ts';
import type { JsonObject } from '../../grain/api/json-value.ts';
import { scopeView } from './scope.ts';

const THEN = 1_700_000_000;

async function opened(t: TestContext, grains: readonly [type: string, fields: JsonObject][]): Promise<Engine> {
  const engine = await openShard(temporaryDirectory(t));
  t.after(() => engine.abandon());
  await engine.write('attachMemory', contextOf(1), { settings: settingsOf(1) });
  const items = grains.map(([grainType, fields]) => ({ grainType, fields }));
  const { outcomes } = await engine.write('addBatch', contextOf(1), { items });
  for (const one of outcomes) if ('error' in one) assert.fail(one.error.message);
  return engine;
}

function recallExplained(engine: Engine, asked: Partial<RecallQuery>, bound: Partial<CallContext> = {}) {
  const query = { filter: {}, limit: 20, candidateLimit: 100, structural: false, showExcluded: true, ...asked };
  const { hits, excluded } = engine.read(
    'recall',
    { ...contextOf(1), ...bound },
    { options: { explanation: true }, ...query },
  );
  return { hits, excluded: excluded! };
}

const tea = (more: JsonObject = {}): [string, JsonObject] => [
  'belief',
  { subject: 'Ada', relation: 'drinks', object: 'green tea', created_at: THEN, ...more },
];

const DAY_MS = 86_400_000;
const ROWS: readonly (readonly [reason: string, filter: GrainFilter, gone: [string, JsonObject]])[] = [
  ['scope_mismatch', { scope: scopeView('default', false)! }, tea({ namespace: 'other' })],
  ['namespace_mismatch', { namespace: 'default' }, tea({ namespace: 'other' })],
  ['user_mismatch', { userId: 'u1' }, tea({ user_id: 'u2' })],
  ['user_mismatch', { forUser: 'u1' }, tea({ user_id: 'u2' })],
  ['type_mismatch', { grainTypes: ['belief'] }, ['event', { content: 'green tea' }]],
  ['tag_mismatch', { tags: ['hot'] }, tea({ tags: ['cold'] })],
  ['tag_excluded', { excludeTags: ['cold'] }, tea({ tags: ['cold'] })],
  ['subject_mismatch', { subject: 'Ada' }, tea({ subject: 'Bob' })],
  ['relation_mismatch', { relation: 'drinks' }, tea({ relation: 'sells' })],
  ['object_mismatch', { object: 'green tea' }, tea({ object: 'black tea' })],
  ['entity_mismatch', { entity: 'Ada' }, tea({ subject: 'Bob' })],
  ['time_out_of_range', { createdToMs: THEN * 1000 + DAY_MS }, tea({ object: 'old tea', created_at: THEN + 200_000 })],
  ['time_out_of_range', { validFromMs: THEN * 1000 }, tea({ object: 'x tea', valid_from: THEN - 5 })],
  ['below_confidence', { confidenceMin: 0.8 }, tea({ object: 'x tea', confidence: 0.5 })],
  ['below_importance', { importanceMin: 0.5 }, tea({ object: 'x tea', importance: 0.1 })],
];

for (const [reason, filter, gone] of ROWS)
  for (const structural of [false, true])
    test(`${reason} is counted and named, ${structural ? 'with structure' : 'by words'} (${JSON.stringify(filter)})`, async (t) => {
      const kept = tea({ user_id: 'u1', tags: ['hot'], importance: 0.9, valid_from: THEN });
      const engine = await opened(t, [kept, gone]);
      const { hits, excluded } = recallExplained(engine, { query: 'tea', filter, structural });
      assert.equal(hits.length, 1);
      assert.deepEqual(excluded.counts, { [reason]: 1 });
      assert.equal(excluded.named[0]?.reason, reason);
      const missing = engine.read('get', contextOf(1), { hash: excluded.named[0]!.hash });
      for (const [name, value] of Object.entries(gone[1])) assert.deepEqual(missing.fields[name], value);
    });

test('old versions and expired grains have reasons of their own, and field operators count as their condition', async (t) => {
  const engine = await opened(t, [tea(), tea({ object: 'tea', expires_at: THEN + 1, created_at: THEN })]);
  const { hash } = recallExplained(engine, { query: 'green' }).hits[0]!.grain;
  await engine.write('supersede', contextOf(1), { oldHash: hash, fields: { object: 'white tea' } });
  const { hits, excluded } = recallExplained(engine, { query: 'tea' });
  assert.equal(hits.length, 1);
  assert.deepEqual(excluded.counts, { ttl_expired: 1, superseded: 1 });
  assert.deepEqual(recallExplained(engine, { query: 'tea', filter: { includeSuperseded: true } }).excluded.counts, {
    ttl_expired: 1,
  });
  assert.equal(
    recallExplained(engine, { query: 'tea -subject:Ada', operators: true }).excluded.counts.subject_mismatch,
    2,
  );
});

test('recalls by structure alone and by conditions alone report their exclusions too', async (t) => {
  const engine = await opened(t, [tea(), tea({ object: 'milk', namespace: 'other' }), ['event', { content: 'rain' }]]);
  const byTriple = recallExplained(engine, { filter: { subject: 'Ada', namespace: 'default' }, structural: true });
  assert.deepEqual([byTriple.hits.length, byTriple.excluded.counts], [1, { namespace_mismatch: 1 }]);
  const byType = recallExplained(engine, { filter: { grainTypes: ['belief'] } });
  assert.deepEqual([byType.hits.length, byType.excluded.counts], [2, { type_mismatch: 1 }]);
});

test('grains that a caller may not see are reported to nobody, and nothing is counted without a request', async (t) => {
  const engine = await opened(t, [tea(), tea({ namespace: 'other', user_id: 'u2' })]);
  const { hits, excluded } = recallExplained(engine, { query: 'tea' }, { namespace: 'default' });
  assert.deepEqual([hits.length, excluded.counts], [1, {}]);
  assert.equal(recallExplained(engine, { query: 'tea', showExcluded: false }).excluded, undefined);
});

test('a recall can give every reason except those that only a policy knows', () => {
  const tested = new Set(ROWS.map(([reason]) => reason));
  const elsewhere = ['ttl_expired', 'superseded'];
  const inStages = [
    ...['below_min_score', 'supersession_demoted', 'contradicted', 'contradicted_filtered', 'conflict_resolved'],
    ...['deduplicated', 'diversity_filtered', 'namespace_capped', 'budget_capped', 'limit_exceeded'],
  ];
  const left = EXCLUSION_REASONS.filter((reason) => ![...tested, ...elsewhere, ...inStages].includes(reason));
  assert.deepEqual(left, ['processing_restricted', 'consent_revoked', 'access_denied']);
});

test('what is for a user is theirs or nobody’s, in the tail and in a segment', async (t) => {
  const engine = await opened(t, [tea({ user_id: 'u1' }), tea({ user_id: 'u2' }), tea({ object: 'iced tea' })]);
  const foundFor = (forUser: string) =>
    engine
      .read('list', contextOf(1), { filter: { forUser }, limit: 10, order: 'asc' })
      .grains.map(({ userId }) => userId ?? 'nobody')
      .sort();
  for (let round = 0; round < 2; round++) {
    assert.deepEqual(foundFor('u1'), ['nobody', 'u1']);
    assert.deepEqual(foundFor('u3'), ['nobody']);
    if (round === 0) await engine.write('flush', contextOf(1), {});
  }
  await engine.write('addBatch', contextOf(1), {
    items: [{ grainType: 'event', fields: { content: 'x', user_id: 'u3' } }],
  });
  assert.deepEqual(foundFor('u3'), ['nobody', 'u3']);
  assert.deepEqual(foundFor('u1'), ['nobody', 'u1']);
});
