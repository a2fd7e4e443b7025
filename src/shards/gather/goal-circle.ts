// Refuses goal cycles, and parents that are no goals, over several partitions.
import { EngineError } from '../../engine/base/errors.ts';
import type { AddItem, Input } from '../protocol.ts';
import type { Turns } from '../turns.ts';
import type { Fan } from './fan.ts';
import { CIRCLE, GoalGraph, hashesIn, refused } from './goal-graph.ts';

/**
 * Runs a write of a new version after the check that the goal does not become its own ancestor (VAL-E001). Such writes of a
 * memory take turns: two that do not see each other could close a cycle together. `grainType`: of the new version, the same
 * as before if absent.
 */
export function withoutCircle<T>(
  fan: Fan,
  turns: Turns,
  { oldHash, grainType, fields }: Input<'supersede'>,
  write: () => Promise<T>,
): Promise<T> {
  const parents = hashesIn(fields['parent_goals']);
  if (parents.length === 0) return write();
  return inTurn(fan, turns, async () => {
    await refuseCircle(fan, { oldHash, grainType }, parents);
    return write();
  });
}

/** The parents that a new goal names; none for another grain. */
export function parentsOfNew({ grainType, fields }: Pick<AddItem, 'grainType' | 'fields'>): readonly string[] {
  return grainType === 'goal' ? hashesIn(fields['parent_goals']) : [];
}

/**
 * The hashes that goals above a new one name, and that are not there. The new goal closes a cycle only if it is one of
 * them, which the partition that computes its hash can tell. Throws VAL-E001 for a parent that is no goal, and for too
 * many ancestors.
 */
export async function awaitedAbove(graph: GoalGraph, parents: readonly string[]): Promise<readonly string[]> {
  const awaited: string[] = [];
  await graph.walk(parents, {
    typed: true,
    meet: (hash, named) => {
      if (named === undefined) awaited.push(hash);
    },
  });
  return awaited;
}

/** Runs work that may give goals of the memory other parents, after all such work before it. */
export function inTurn<T>(fan: Fan, turns: Turns, work: () => Promise<T>): Promise<T> {
  return turns.take([`parent goals ${fan.context.memory}`], work);
}

/**
 * The goals of a file that would become their own ancestors, with the refusal of each. `children`: the goals of the file
 * that name parents, by hash. A goal that is refused is not there for those after it.
 */
export async function closingCircles(
  fan: Fan,
  children: ReadonlyMap<string, readonly string[]>,
): Promise<ReadonlyMap<string, EngineError>> {
  const refusals = new Map<string, EngineError>();
  const coming = new Map(children);
  let graph: GoalGraph | undefined;
  for (const [address, parents] of children)
    try {
      if (graph === undefined || graph.isFull) {
        graph = new GoalGraph(fan, { coming });
        await graph.readAbove([...children.keys()]);
      }
      await graph.walk(parents, {
        meet: (hash) => {
          if (hash === address) throw refused(CIRCLE);
        },
      });
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      refusals.set(address, error);
      coming.delete(address);
    }
  return refusals;
}

/** Throws VAL-E001 if the next version of the goal would make it its own ancestor, or name a parent that is no goal. */
async function refuseCircle(
  fan: Fan,
  { oldHash, grainType }: Pick<Input<'supersede'>, 'oldHash' | 'grainType'>,
  parents: readonly string[],
): Promise<void> {
  const graph = new GoalGraph(fan);
  const own = await graph.named(oldHash);
  if (own === undefined || (grainType === undefined ? !own.isGoal : grainType !== 'goal')) return;
  // A new version keeps parents of builds that did not check their type.
  const before = new Set(own.parents);
  const isKept = parents.length === before.size && parents.every((hash) => before.has(hash));
  await graph.walk(parents, {
    typed: !isKept,
    meet: (_, named) => {
      if (named?.chain === own.chain) throw refused(CIRCLE);
    },
  });
}
