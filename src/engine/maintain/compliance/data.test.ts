// Counting the grains that have outlived their time, beside writes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addBelief, contextOf, openShard, settingsOf } from '../../../../test/support/shard.ts';
import { temporaryDirectory } from '../../../../test/support/temporary.ts';
import { retentionEvidence } from './data.ts';

/** Docs between two yields of the walk. */
const SLICE_DOCS = 16_384;

test('a grain that is written while expired ones are counted has not expired', async (t) => {
  const engine = await openShard(temporaryDirectory(t));
  t.after(() => engine.abandon());
  await engine.write('attachMemory', contextOf(1), { settings: settingsOf(1) });
  for (let left = SLICE_DOCS; left > 0; left -= 1_024) {
    const items = Array.from({ length: 1_024 }, (_, at) => ({
      grainType: 'belief',
      fields: { subject: `s${left}`, relation: 'is', object: `o${at}` },
    }));
    await engine.write('addBatch', contextOf(1), { items });
  }
  const steps = retentionEvidence(engine.store, engine.store.memory(1));
  assert.equal(steps.next().done, false, 'it yields inside of the part');
  await addBelief(engine, 1, { subject: 'Ada', object: 'tea' });
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  assert.deepEqual(step.value, { hasLimit: false, expired: 0, expiredOverDay: 0, held: 0 });
});
