// Grows the tree of goals, breadth first, so that a cut leaves out the deepest.
import type { GoalNode } from '../../../engine/calls/goals.ts';

export interface TreeNode {
  readonly hash: string;
  readonly children: TreeNode[];
  /** With children that the cut left out. */
  readonly childrenTotal: number;
}

export interface Tree {
  readonly roots: readonly TreeNode[];
  /** The goals of the tree, parents before children. */
  readonly order: readonly GoalNode[];
}

/** At most `limit` goals on at most `depth` levels. A goal stands once: below the first of its parents that is here. */
export function growTree(found: readonly GoalNode[], limit: number, depth: number): Tree {
  const goals = [...found].sort(
    (a, b) => a.rank - b.rank || b.createdAtMs - a.createdAtMs || (a.hash < b.hash ? -1 : 1),
  );
  const known = new Set(goals.map(({ hash }) => hash));
  const below = Map.groupBy(goals, ({ hash, parents }) =>
    parents.find((parent) => known.has(parent) && parent !== hash),
  );
  const tree = { roots: [] as TreeNode[], order: [] as GoalNode[] };
  const seen = new Set<string>();
  let level = [{ into: tree.roots, goals: startsOf(goals, below) }];
  for (let at = 0; at < depth && level.length > 0; at += 1) {
    const next: typeof level = [];
    for (const { into, goals: siblings } of level)
      for (const goal of siblings) {
        if (seen.has(goal.hash)) continue;
        if (tree.order.length >= limit) return tree;
        seen.add(goal.hash);
        const children = below.get(goal.hash) ?? [];
        const node = { hash: goal.hash, children: [], childrenTotal: children.length };
        into.push(node);
        tree.order.push(goal);
        next.push({ into: node.children, goals: children });
      }
    level = next;
  }
  return tree;
}

/** The roots, and one goal of each circle that older builds may have stored: no root leads to it. */
function startsOf(goals: readonly GoalNode[], below: ReadonlyMap<string | undefined, readonly GoalNode[]>): GoalNode[] {
  const starts = [...(below.get(undefined) ?? [])];
  const reached = new Set<string>();
  const reach = (from: readonly GoalNode[]): void => {
    const waiting = [...from];
    for (let goal = waiting.pop(); goal !== undefined; goal = waiting.pop()) {
      if (reached.has(goal.hash)) continue;
      reached.add(goal.hash);
      for (const child of below.get(goal.hash) ?? []) waiting.push(child);
    }
  };
  reach(starts);
  for (const goal of goals) {
    if (reached.has(goal.hash)) continue;
    starts.push(goal);
    reach([goal]);
  }
  return starts;
}
