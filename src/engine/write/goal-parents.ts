// Goals have ancestors through `parent_goals`, each entry of which names any version of a goal. A new version of a goal
// can close a cycle, and so can a new goal, if an ancestor names its hash already: a goal may name one that comes later,
// and a caller who chooses the creation time can compute the hash beforehand. A parent is a goal, as far as the caller can
// see: a hash that it may not read is treated as one that is not here.

import { EngineError } from '../base/errors.ts';
import { GOALS_ABOVE_MAX } from '../base/limits.ts';
import type { CallContext } from '../calls/context.ts';
import type { Grain } from '../grain/grain.ts';
import type { Ordinal } from '../index/parts/part.ts';
import type { Memory } from '../store/memory.ts';
import { refuseRead } from '../store/readable.ts';
import { isWithin } from '../store/within.ts';
import type { Group } from './group.ts';

type Goal = Pick<Grain, 'type' | 'fields'>;

/**
 * VAL-E001 when the next version of the goal at `current` would become its own ancestor, get more than GOALS_ABOVE_MAX
 * ancestors, or name a grain as a parent that is no goal. A line ends at a parent that is not in this partition.
 */
export function checkParents(
  group: Group,
  memory: Memory,
  context: CallContext,
  current: Ordinal,
  old: Goal,
  next: { readonly grain: Goal; readonly address: string },
): void {
  const parents = parentsOf(next.grain);
  // Goals that older builds let become their own ancestors can still be moved.
  if (String(parents) === String(parentsOf(old))) return;
  refuse(namesOther(group, memory, context, parents));
  refuse(standsAbove(group, memory, { tip: group.tip(memory, current), address: next.address }, parents));
}

/** VAL-E001 when a new goal names a grain as a parent that is no goal. */
export function checkParentTypes(
  group: Group,
  memory: Memory,
  context: CallContext,
  { grain }: { readonly grain: Goal },
): void {
  refuse(namesOther(group, memory, context, parentsOf(grain)));
}

/**
 * VAL-E001 when a new goal would be its own ancestor, or get more than GOALS_ABOVE_MAX. `awaited`: hashes that goals above
 * it name, and that no partition holds.
 */
export function checkNewGoal(
  group: Group,
  memory: Memory,
  { grain, address }: { readonly grain: Goal; readonly address: string },
  awaited: readonly string[] = [],
): void {
  if (grain.type !== 'goal') return;
  const parents = parentsOf(grain);
  refuse(awaited.includes(address) ? CIRCLE : standsAbove(group, memory, { tip: undefined, address }, parents));
}

/** The problem with a parent that the caller may read and that is no goal. */
function namesOther(
  group: Group,
  memory: Memory,
  context: CallContext,
  parents: readonly string[],
): string | undefined {
  for (const hash of parents) {
    const ordinal = group.findOrdinal(memory, hash);
    const grain = ordinal === undefined ? undefined : group.read(memory, ordinal)?.grain;
    if (grain === undefined || grain.type === 'goal' || !isWithin(context, grain)) continue;
    if (refuseRead(memory, context, grain, group.nowMs) === undefined) return NO_GOAL;
  }
  return undefined;
}

function refuse(issue: string | undefined): void {
  if (issue === undefined) return;
  throw new EngineError('VAL-E001', `\`parent_goals\` ${issue}`, { details: [{ field: 'parent_goals', issue }] });
}

/** True when the version at `next`, with the versions after it, would make the goal at `current` its own ancestor. */
export function closesCircle(group: Group, memory: Memory, current: Ordinal, next: Ordinal): boolean {
  const version = group.read(memory, group.tip(memory, next));
  if (version === undefined) return false;
  const self = { tip: group.tip(memory, current), address: version.address };
  return standsAbove(group, memory, self, parentsOf(version.grain)) !== undefined;
}

/** The problem with `parents` for a goal with this newest version and this next one; undefined when there is none. */
function standsAbove(
  group: Group,
  memory: Memory,
  self: { readonly tip: Ordinal | undefined; readonly address: string },
  parents: readonly string[],
): string | undefined {
  if (parents.length === 0) return undefined;
  const seen = new Set<Ordinal>();
  const waiting = [...parents];
  for (let hash = waiting.pop(); hash !== undefined; hash = waiting.pop()) {
    if (hash === self.address) return CIRCLE;
    const named = group.findOrdinal(memory, hash);
    if (named === undefined) continue;
    const goal = group.tip(memory, named);
    if (goal === self.tip) return CIRCLE;
    if (seen.has(goal)) continue;
    if (seen.size >= GOALS_ABOVE_MAX) return `would place the goal below more than ${GOALS_ABOVE_MAX} goals`;
    seen.add(goal);
    const above = group.read(memory, goal)?.grain;
    if (above !== undefined) waiting.push(...parentsOf(above));
  }
  return undefined;
}

const CIRCLE = 'would make the goal its own parent';
const NO_GOAL = 'names a grain that is not a goal';

function parentsOf({ type, fields }: Goal): string[] {
  const parents = fields['parent_goals'];
  if (type !== 'goal' || !Array.isArray(parents)) return [];
  return parents.filter((parent) => typeof parent === 'string');
}
