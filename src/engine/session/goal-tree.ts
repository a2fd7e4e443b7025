// The goals of a session with their parents, for a tree over all partitions.
import { GOAL_TREE_READ_MAX } from '../base/limits.ts';
import type { GoalNode, GoalTreeAsked, GoalTreeFound } from '../calls/goals.ts';
import type { GrainView } from '../calls/grain.ts';
import type { Sliced } from '../index/files/section.ts';
import type { Ordinal } from '../index/parts/part.ts';
import { goalPlaces, rankOf, viewGoal } from './goals-of.ts';
import type { SessionPlaces } from './places.ts';

const ALL_STATES = ['active', 'satisfied', 'failed', 'suspended'];

/** The session's goals, at most GOAL_TREE_READ_MAX, in their order. Parents that are not here keep their names. */
export function* goalNodes(session: SessionPlaces, { named }: GoalTreeAsked): Sliced<GoalTreeFound> {
  const { store, memory, parts } = session;
  const { places } = goalPlaces(session, ALL_STATES);
  const here = new Set<Ordinal>(places.map(({ part, doc }) => parts[part]!.ordinals[doc]!));
  /** The session's goal that a hash names in any version. */
  const goalNamed = (hash: string): string | undefined => {
    let tip = store.findOrdinal(memory.number, hash);
    if (tip === undefined) return undefined;
    for (let next = store.supersession(memory.number, tip); next !== undefined; ) {
      tip = next.newOrdinal;
      next = store.supersession(memory.number, tip);
    }
    return here.has(tip) ? store.addressAt(tip) : undefined;
  };
  const nodes: GoalNode[] = [];
  for (const place of named === undefined ? places.slice(0, GOAL_TREE_READ_MAX) : []) {
    const goal = viewGoal(session, place);
    if (goal === undefined) continue;
    const { hash, createdAtMs, fields } = goal;
    const parents = parentsOf(goal).map((parent) => goalNamed(parent) ?? parent);
    nodes.push({ hash, createdAtMs, rank: rankOf(goal), state: String(fields['goal_state']), parents });
    yield;
  }
  return { nodes, total: places.length, named: (named ?? []).map((hash) => goalNamed(hash) ?? null) };
}

function parentsOf({ fields }: GrainView): string[] {
  const parents = fields['parent_goals'];
  return Array.isArray(parents) ? parents.filter((hash) => typeof hash === 'string') : [];
}
