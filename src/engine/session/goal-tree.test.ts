import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contextOf, openShard, settingsOf } from '../../../test/support/shard.ts';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import { GOAL_TREE_READ_MAX } from '../base/limits.ts';
import type { AddItem } from '../calls/grain.ts';
import { MemoryLog, MemoryLogStore } from '../log/memory.ts';

const HERE = contextOf(1);
const THEN = 1_700_000_000;

test('of too many goals the first are read, and all that stand above them', async (t) => {
  const engine = await openShard(temporaryDirectory(t), { log: new MemoryLog(new MemoryLogStore()) });
  t.after(() => engine.abandon());
  await engine.write('attachMemory', HERE, { settings: settingsOf(1) });
  const add = async (goals: readonly Record<string, unknown>[]): Promise<string[]> => {
    const items = goals.map((fields): AddItem => {
      return { grainType: 'goal', fields: { session_id: 's', ...fields } as AddItem['fields'] };
    });
    const { outcomes } = await engine.write('addBatch', HERE, { items });
    return outcomes.map((outcome) => ('hash' in outcome ? outcome.hash : assert.fail(JSON.stringify(outcome))));
  };
  // The goals above are the last of the session's order, by their priority and by their age.
  const [top] = await add([{ description: 'top', priority: 'low', created_at: THEN }]);
  const [middle] = await add([{ description: 'middle', parent_goals: [top], created_at: THEN }]);
  for (let at = 0; at < GOAL_TREE_READ_MAX; at += 1_000)
    await add(
      Array.from({ length: 1_000 }, (_, i) => {
        return { description: `goal ${at + i}`, parent_goals: [middle], created_at: THEN + 1 };
      }),
    );
  const { nodes, total } = await engine.write('goalTree', HERE, { sessionId: 's' });
  assert.equal(total, GOAL_TREE_READ_MAX + 2);
  const above = nodes.filter(({ parents }) => parents[0] !== middle);
  assert.deepEqual(
    above.map(({ hash, parents }) => [hash, parents]),
    [
      [middle, [top]],
      [top, []],
    ],
  );
});
