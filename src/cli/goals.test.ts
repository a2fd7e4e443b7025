import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type GoalNode, goalLines } from './goals.ts';

const node = (
  description: string,
  children: readonly GoalNode[] = [],
  more = 0,
  delegate_to: string | null = null,
): GoalNode => ({
  goal: { goal_state: 'active', priority: 'high', description, delegate_to },
  children,
  children_total: children.length + more,
});

test('goals are drawn below their parents, with what a cut left out', () => {
  const roots = [node('top', [node('one', [node('deep')]), node('two', [], 1_200, 'billing')]), node('alone')];
  assert.deepEqual(goalLines(roots), [
    'active  [high] top',
    '├─ active  [high] one',
    '│  └─ active  [high] deep',
    '└─ active  [high] two → billing',
    '   … 1,200 more',
    'active  [high] alone',
  ]);
});
