import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { addBelief, contextOf, openShard, settingsOf } from '../../test/support/shard.ts';
import { StepClock } from '../../test/support/step-clock.ts';
import { temporaryDirectory } from '../../test/support/temporary.ts';

test('a shard is prepared for another node while housekeeping works on its vectors', async (t) => {
  const engine = await openShard(temporaryDirectory(t), { clock: new StepClock(), sealVectors: 1 });
  t.after(() => engine.close());
  await engine.write('attachMemory', contextOf(1), { settings: settingsOf(1) });
  const hashes = await Promise.all(
    Array.from({ length: 300 }, (_, i) => addBelief(engine, 1, { subject: 'ada', object: `thing ${i}` })),
  );
  await engine.seal();
  const { vectors, log } = engine.store;
  for (const hash of hashes) vectors.add(1, engine.store.findOrdinal(1, hash)!, [Float32Array.of(1)]);
  vectors.advance(1, log.nextSequence - 1);
  // The first slice of the work.
  const work = t.mock.method(vectors, 'work');
  for (let tries = 0; tries < 100 && work.mock.calls.at(-1)?.result === undefined; tries++) {
    engine.maintain(0);
    await turn();
  }
  assert.notEqual(work.mock.calls.at(-1)?.result, undefined);
  assert.notEqual(vectors.unsealed, 0);
  await engine.prepareMove();
  assert.equal(vectors.unsealed, 0);
});
