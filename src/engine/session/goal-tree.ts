// The goals of a session with their parents, for a tree over all partitions.
import { GOAL_TREE_READ_MAX } from '../base/limits.ts';
import type { GoalNode, GoalTreeFound, GoalTreeQuery } from '../calls/goals.ts';
import type { GrainView } from '../calls/grain.ts';
import type { Sliced } from '../index/files/section.ts';
import type { Ordinal } from '../index/parts/part.ts';
import type { PartDoc } from '../recall/legs/ordered.ts';
import { goalPlaces, rankOf, viewGoal } from './goals-of.ts';
import type { SessionPlaces } from './places.ts';

const ALL_STATES = ['active', 'satisfied', 'failed', 'suspended'];

/**
 * The session's goals in their order: the first GOAL_TREE_READ_MAX, and as many of the goals above these. Parents that are
 * not here keep their names.
 */
export function* goalNodes(session: SessionPlaces, { named }: GoalTreeQuery): Sliced<GoalTreeFound> {
  const { store, memory, parts } = session;
  const { places } = goalPlaces(session, ALL_STATES);
  const ordinalAt = ({ part, doc }: PartDoc): Ordinal => parts[part]!.ordinals[doc]!;
  const here = new Map<Ordinal, PartDoc>(places.map((place) => [ordinalAt(place), place]));
  /** The session's goal that a hash names in any version. */
  const goalNamed = (hash: string): Ordinal | undefined => {
    let tip = store.findOrdinal(memory.number, hash);
    if (tip === undefined) return undefined;
    for (let next = store.status.supersession(memory.number, tip); next !== undefined; ) {
      tip = next.newOrdinal;
      next = store.status.supersession(memory.number, tip);
    }
    return here.has(tip) ? tip : undefined;
  };
  const addressOf = (ordinal: Ordinal | undefined): string | undefined =>
    ordinal === undefined ? undefined : store.addressAt(ordinal);
  const nodes: GoalNode[] = [];
  const read = named === undefined ? places.slice(0, GOAL_TREE_READ_MAX) : [];
  const isRead = new Set(read.map(ordinalAt));
  // It grows by the goals above, which come last.
  for (const place of read) {
    const goal = viewGoal(session, place);
    if (goal === undefined) continue;
    const { hash, createdAtMs, fields } = goal;
    const parents = parentsOf(goal).map((parent) => {
      const above = goalNamed(parent);
      if (above !== undefined && !isRead.has(above) && read.length < 2 * GOAL_TREE_READ_MAX) {
        isRead.add(above);
        read.push(here.get(above)!);
      }
      return addressOf(above) ?? parent;
    });
    nodes.push({ hash, createdAtMs, rank: rankOf(goal), state: String(fields['goal_state']), parents });
    yield;
  }
  return { nodes, total: places.length, named: (named ?? []).map((hash) => addressOf(goalNamed(hash)) ?? null) };
}

function parentsOf({ fields }: GrainView): string[] {
  const parents = fields['parent_goals'];
  return Array.isArray(parents) ? parents.filter((hash) => typeof hash === 'string') : [];
}
