// `explanation.required`: the record of a recall lists what its conditions excluded, whether or not the caller asks.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { addBelief, contextOf, openShard, settingsOf } from '../../../test/support/shard.ts';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import type { RecallQuery } from '../calls/recall.ts';
import type { Engine } from '../engine.ts';

const context = contextOf(1);

async function opened(t: TestContext): Promise<Engine> {
  const engine = await openShard(temporaryDirectory(t));
  t.after(() => engine.close());
  await engine.write('attachMemory', context, { settings: settingsOf(1) });
  for (const namespace of ['acme', 'other'])
    for (let cup = 0; cup < 4; cup++)
      await addBelief(engine, 1, { subject: 'ada', object: `tea in cup ${cup} of ${namespace}`, namespace });
  return engine;
}

const seal = (engine: Engine) =>
  engine.write('setPolicy', context, { change: { addPolicies: ['eu_ai_act'] }, isAdmin: true });

async function recordOf(engine: Engine, query: Partial<RecallQuery> = {}) {
  const filter = { namespace: 'acme' };
  const asked = { query: 'tea', filter, structural: false, limit: 3, candidateLimit: 100, record: { asked: true } };
  const answer = engine.read('recall', context, { ...asked, ...query });
  assert.ok(answer.recallId !== undefined && answer.hits.length === 3);
  const record = await engine.write('recallRecord', context, { recallId: answer.recallId });
  return { answer, counts: record.excludedCounts, named: record.excluded.map(({ reason }) => reason).sort() };
}

test('without the rule a record contains only the exclusions by the limit, unless explanations are asked for', async (t) => {
  const engine = await opened(t);
  assert.deepEqual((await recordOf(engine)).counts, { limit_exceeded: 1 });
  const { counts, answer } = await recordOf(engine, { showExcluded: true, options: { explanation: true } });
  assert.deepEqual(counts, { limit_exceeded: 1, namespace_mismatch: 4 });
  assert.deepEqual(answer.excluded?.counts, counts);
});

test('under the rule each record contains the full explanation, with and without stages, and the answer only what was asked for', async (t) => {
  const engine = await opened(t);
  await seal(engine);
  for (const options of [undefined, { recencyWeight: 0.5 }]) {
    const { answer, counts, named } = await recordOf(engine, options === undefined ? {} : { options });
    assert.deepEqual(counts, { limit_exceeded: 1, namespace_mismatch: 4 });
    assert.deepEqual(named, ['limit_exceeded', ...Array.from({ length: 4 }, () => 'namespace_mismatch')]);
    assert.equal(answer.excluded, undefined);
  }
  // Exclusions are not kept without a record.
  const plain = { query: 'tea', filter: { namespace: 'acme' }, structural: false, limit: 3, candidateLimit: 100 };
  assert.equal(engine.read('recall', context, plain).excluded, undefined);
});
