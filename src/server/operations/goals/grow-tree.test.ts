// The tree of goals: its order, its bounds, and goals that no root leads to.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GoalNode } from '../../../engine/calls/goals.ts';
import { growTree, type TreeNode } from './grow-tree.ts';

const goal = (hash: string, parents: readonly string[] = [], rank = 3): GoalNode => ({
  hash,
  rank,
  createdAtMs: 0,
  state: 'active',
  parents,
});
const drawn = (nodes: readonly TreeNode[]): string =>
  nodes.map(({ hash, children }) => (children.length === 0 ? hash : `${hash}(${drawn(children)})`)).join(' ');
const treeOf = (goals: readonly GoalNode[], limit = 100, depth = 10) => growTree(goals, limit, depth);

test('a goal stands below the first parent that is here, by rank among its siblings', () => {
  const goals = [goal('c', ['x', 'a', 'b']), goal('b'), goal('d', ['a'], 1), goal('a'), goal('e', ['d'])];
  assert.equal(drawn(treeOf(goals).roots), 'a(d(e) c) b');
});

test('a cut leaves out the deepest, and each node says how many children it has', () => {
  const goals = [goal('a'), goal('b'), goal('c', ['a']), goal('d', ['c'])];
  const { roots, order } = treeOf(goals, 3);
  assert.equal(drawn(roots), 'a(c) b');
  assert.equal(roots[0]!.children[0]!.childrenTotal, 1);
  assert.deepEqual(
    order.map(({ hash }) => hash),
    ['a', 'b', 'c'],
  );
  assert.equal(drawn(treeOf(goals, 100, 1).roots), 'a b');
});

test('the goals of a circle are shown once', () => {
  const goals = [goal('a', ['b']), goal('b', ['c']), goal('c', ['a']), goal('d', ['a']), goal('self', ['self'])];
  assert.equal(drawn(treeOf(goals).roots), 'self a(c(b) d)');
});

test('ten thousand children and a chain as long are cut', () => {
  const wide = [goal('root'), ...Array.from({ length: 10_000 }, (_, i) => goal(`n${i}`, ['root']))];
  const { roots, order } = treeOf(wide, 1_000, 32);
  assert.equal(order.length, 1_000);
  assert.equal(roots[0]!.children.length, 999);
  assert.equal(roots[0]!.childrenTotal, 10_000);
  const deep = Array.from({ length: 10_000 }, (_, i) => goal(`n${i}`, i === 0 ? [] : [`n${i - 1}`]));
  assert.equal(treeOf(deep, 1_000, 32).order.length, 32);
});
