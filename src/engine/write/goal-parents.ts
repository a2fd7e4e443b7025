// Goals have ancestors through `parent_goals`, each entry of which names any version of a goal. A new goal cannot close
// a cycle, as nothing names it yet. A new version of a goal can.
import { EngineError } from '../base/errors.ts';
import { GOALS_ABOVE_MAX } from '../base/limits.ts';
import type { Grain } from '../grain/grain.ts';
import type { Ordinal } from '../index/parts/part.ts';
import type { Memory } from '../store/memory.ts';
import type { Group } from './group.ts';

type Goal = Pick<Grain, 'type' | 'fields'>;

/**
 * VAL-E001 when the next version of the goal at `current` would become its own ancestor, or get more than
 * GOALS_ABOVE_MAX ancestors. A line ends at a parent that is not in this partition.
 */
export function checkParents(group: Group, memory: Memory, current: Ordinal, old: Goal, next: Goal): void {
  const parents = parentsOf(next);
  if (parents.length === 0 || String(parents) === String(parentsOf(old))) return;
  const issue = standsAbove(group, memory, current, parents);
  if (issue === undefined) return;
  throw new EngineError('VAL-E001', `\`parent_goals\` ${issue}`, { details: [{ field: 'parent_goals', issue }] });
}

/** True when the version at `next` would make the goal at `current` its own ancestor. */
export function closesCircle(group: Group, memory: Memory, current: Ordinal, next: Ordinal): boolean {
  const version = group.read(memory, next)?.grain;
  return version !== undefined && standsAbove(group, memory, current, parentsOf(version)) !== undefined;
}

/** The problem with `parents` for the goal whose newest version is at `current`; undefined when there is none. */
function standsAbove(group: Group, memory: Memory, current: Ordinal, parents: readonly string[]): string | undefined {
  const tip = group.tip(memory, current);
  const seen = new Set<Ordinal>();
  const waiting = [...parents];
  for (let hash = waiting.pop(); hash !== undefined; hash = waiting.pop()) {
    const named = group.findOrdinal(memory, hash);
    if (named === undefined) continue;
    const goal = group.tip(memory, named);
    if (goal === tip) return 'make the goal its own parent';
    if (seen.has(goal)) continue;
    if (seen.size >= GOALS_ABOVE_MAX) return `stand below more than ${GOALS_ABOVE_MAX} goals`;
    seen.add(goal);
    const above = group.read(memory, goal)?.grain;
    if (above !== undefined) waiting.push(...parentsOf(above));
  }
  return undefined;
}

function parentsOf({ type, fields }: Goal): string[] {
  const parents = fields['parent_goals'];
  if (type !== 'goal' || !Array.isArray(parents)) return [];
  return parents.filter((parent) => typeof parent === 'string');
}
