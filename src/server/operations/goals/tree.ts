// Shows the goals of a session as a tree.
import { ANSWER_BYTES_MAX, GOAL_TREE_DEPTH_MAX, GOAL_TREE_GOALS_MAX } from '../../../engine/base/limits.ts';
import type { JsonObject } from '../../../shards/protocol.ts';
import { defineOperation } from '../define.ts';
import { nodeOf, outward } from '../names.ts';
import { GoalOutput, goalOutput } from '../sessions/goal-view.ts';
import { SessionId, SessionIdOutput, sessionIdOf } from '../sessions/schema.ts';
import { described, Type } from '../type.ts';
import { growTree, type TreeNode } from './grow-tree.ts';

const GOALS_DEFAULT = 500;

/** Open, because a node holds nodes. */
const Node = Type.Unsafe<JsonObject>({ type: 'object', additionalProperties: true });

export const goalTree = defineOperation({
  name: 'session_goal_tree',
  summary: 'Show the goals of a session as a tree.',
  description:
    'A goal stands below the first of its parent goals that is in the session, and is a root without one. The tree is cut at its deepest goals.',
  example: { sid: 'support-4711', limit: 100 },
  needs: 'read',
  on: 'memory',
  reach: 'binding',
  mutates: false,
  input: Type.Object({
    sid: SessionId,
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: 'Number of goals in the tree; the default is 500, and above 1,000 is treated as 1,000.',
        default: GOALS_DEFAULT,
      }),
    ),
  }),
  output: Type.Object({
    sessionId: SessionIdOutput,
    roots: Type.Array(described(Node, 'A node: hash, goal, children and children_total.'), {
      description:
        'Goals without a parent in the session, by priority, then newest first; each has hash, goal, children, which are such nodes, and children_total.',
    }),
    totalGoals: Type.Integer({ description: 'Number of goals of the session, in every state.' }),
    shownGoals: Type.Integer({ description: 'Number of goals in this tree.' }),
    truncated: Type.Boolean({ description: 'Whether goals of the session are missing from the tree.' }),
  }),
  http: [{ verb: 'GET', path: 'M/sessions/{sid}/goals/tree' }],
  async run({ sid, limit = GOALS_DEFAULT }, context) {
    if (limit > GOAL_TREE_GOALS_MAX) context.warnings.push(`limit ${limit} is treated as ${GOAL_TREE_GOALS_MAX}`);
    const { nodes, total } = await context.call('goalTree', { sessionId: sessionIdOf(sid) });
    const { roots, order } = growTree(nodes, Math.min(limit, GOAL_TREE_GOALS_MAX), GOAL_TREE_DEPTH_MAX);
    const { grains } = await context.call('fetch', {
      hashes: order.map(({ hash }) => hash),
      bytesMax: ANSWER_BYTES_MAX,
    });
    const views = new Map<string, JsonObject>();
    for (const [at, grain] of grains.entries()) {
      if (grain === null) continue;
      const view = { ...goalOutput(grain), goalState: order[at]!.state };
      views.set(grain.hash, outward(nodeOf(GoalOutput), view) as JsonObject); // an object schema gives an object
    }
    return {
      sessionId: sid,
      roots: roots.flatMap((root) => nodeOutput(root, views)),
      totalGoals: total,
      shownGoals: views.size,
      truncated: views.size < total,
    };
  },
});

/** Without goals that were removed meanwhile, and those that have no room. */
function nodeOutput({ hash, children, childrenTotal }: TreeNode, views: ReadonlyMap<string, JsonObject>): JsonObject[] {
  const goal = views.get(hash);
  if (goal === undefined) return [];
  const below = children.flatMap((child) => nodeOutput(child, views));
  return [{ hash, goal, children: below, children_total: childrenTotal }];
}
