import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addBelief, contextOf, openShard, settingsOf } from '../../../../test/support/shard.ts';
import { temporaryDirectory } from '../../../../test/support/temporary.ts';

test('a compaction that outlasts its deadline is recorded in the trail nevertheless', async (t) => {
  const clock = { now: 1_700_000_000_000, nowMs: (): number => clock.now };
  const engine = await openShard(temporaryDirectory(t), { clock });
  t.after(() => engine.close());
  const context = contextOf(1);
  await engine.write('attachMemory', context, { settings: settingsOf(1) });
  await addBelief(engine, 1, { subject: 'a', object: 'b' });
  const compacting = engine.write('compact', { ...context, deadlineMs: clock.now + 10 }, {});
  clock.now += 20;
  await compacting;
  const filter = { events: ['tier.compaction_run'] };
  const { entries } = await engine.write('auditPage', context, { filter, limit: 10, order: 'asc' });
  assert.equal(entries.length, 1);
});
