// Refuses goal cycles over several partitions. Parent goals may lie in any partition, and each partition sees only its
// own grains.
import { EngineError } from '../../engine/base/errors.ts';
import { GOALS_ABOVE_MAX } from '../../engine/base/limits.ts';
import type { Input, JsonValue, Output } from '../protocol.ts';
import type { Turns } from '../turns.ts';
import type { Fan } from './fan.ts';

type Versions = Output<'history'>['versions'];

/**
 * Runs a supersede after the check that the goal does not become its own ancestor (VAL-E001). Such writes of a memory
 * take turns: two that do not see each other could close a cycle together.
 */
export function withoutCircle<T>(
  fan: Fan,
  turns: Turns,
  { oldHash, fields }: Input<'supersede'>,
  write: () => Promise<T>,
): Promise<T> {
  const parents = hashesIn(fields['parent_goals']);
  if (parents.length === 0) return write();
  return inTurn(fan, turns, async () => {
    await refuseCircle(fan, oldHash, parents);
    return write();
  });
}

/** Runs work that may give goals of the memory other parents, after all such work before it. */
export function inTurn<T>(fan: Fan, turns: Turns, work: () => Promise<T>): Promise<T> {
  return turns.take([`parent goals ${fan.context.memory}`], work);
}

/** The parents of a goal that a manifest names as a successor; none if it is no goal, or if the caller may not read it. */
export async function parentsOf(fan: Fan, hash: string): Promise<readonly string[]> {
  const version = (await versionsOf(fan.withoutIdempotency(), hash)).find((one) => one.hash === hash);
  return version?.grainType === 'goal' ? hashesIn(version.fields['parent_goals']) : [];
}

/** Throws VAL-E001 if the goal would become its own ancestor by these parents. */
export async function refuseCircle(fan: Fan, oldHash: string, parents: readonly string[]): Promise<void> {
  const waiting = [...parents];
  const asking = fan.withoutIdempotency();
  const own = await versionsOf(asking, oldHash);
  if (own[0]?.grainType !== 'goal') return;
  const chain = new Set([oldHash, ...own.map(({ hash }) => hash)]);
  const seen = new Set<string>();
  for (let hash = waiting.pop(), steps = 0; hash !== undefined; hash = waiting.pop(), steps++) {
    if (chain.has(hash)) throw refused('make the goal its own parent');
    if (seen.has(hash)) continue;
    if (steps >= GOALS_ABOVE_MAX) throw refused(`stand below more than ${GOALS_ABOVE_MAX} goals`);
    const versions = await versionsOf(asking, hash);
    for (const version of versions) seen.add(version.hash);
    waiting.push(...hashesIn(versions.at(-1)?.fields['parent_goals']));
  }
}

/** Versions, oldest first. Empty if the grain does not exist or the caller may not read it: the search ends there. */
async function versionsOf(fan: Fan, hash: string): Promise<Versions> {
  try {
    return (await fan.found('history', { hash })).versions;
  } catch (error) {
    if (error instanceof EngineError && /^(MEM|POL)-/.test(error.code)) return [];
    throw error;
  }
}

function hashesIn(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((hash) => typeof hash === 'string') : [];
}

function refused(issue: string): EngineError {
  return new EngineError('VAL-E001', `\`parent_goals\` ${issue}`, { details: [{ field: 'parent_goals', issue }] });
}
