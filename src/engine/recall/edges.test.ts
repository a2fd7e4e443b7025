// Edges in both directions hide what each direction hides, also where a part holds a node on one side alone.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addBelief, contextOf, openShard, settingsOf } from '../../../test/support/shard.ts';
import { StepClock } from '../../../test/support/step-clock.ts';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import type { EdgeDirection } from '../calls/grain.ts';

const context = contextOf(1);

for (const [side, direction] of [
  ['subject', 'out'],
  ['object', 'in'],
] as const)
  test(`a node that is only ${side === 'object' ? 'an object' : 'a subject'} has no edges of hidden grains`, async (t) => {
    const clock = new StepClock();
    const engine = await openShard(temporaryDirectory(t), { clock });
    t.after(() => engine.abandon());
    await engine.write('attachMemory', context, { settings: settingsOf(1) });
    const add = async (other: string, more: Record<string, string | number> = {}): Promise<string> => {
      const ends = side === 'object' ? { subject: other, object: 'tea' } : { subject: 'tea', object: other };
      return addBelief(engine, 1, { ...ends, ...more });
    };
    const old = await add('ann');
    const fields = side === 'object' ? { subject: 'bob' } : { object: 'bob' };
    const { newHash } = await engine.write('supersede', context, { oldHash: old, fields });
    await add('cem', { user_id: 'cem' });
    await engine.write('restrict', context, { userId: 'cem', restricted: true });
    await add('dan', { expires_at: clock.nowMs() / 1_000 + 60 });
    await engine.write('forget', context, { hashes: [await add('eve')], check: false });
    const kept = await add('fay');
    clock.step(61_000);
    const edges = (asked: EdgeDirection): string[] =>
      engine.read('edges', context, { nodes: ['tea'], direction: asked, limit: 50 }).edges.map(({ hash }) => hash);
    const check = (): void => {
      assert.deepEqual(edges(direction).sort(), [newHash, kept].sort());
      assert.deepEqual(edges('both').sort(), [newHash, kept].sort());
    };
    check();
    await engine.write('flush', context, {});
    check();
  });
