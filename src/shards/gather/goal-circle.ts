// Refuses goal cycles, and parents that are no goals, over several partitions. Parent goals may lie in any partition, and
// each partition sees only its own grains.
import { EngineError } from '../../engine/base/errors.ts';
import { GOALS_ABOVE_MAX } from '../../engine/base/limits.ts';
import type { AddItem, Input, JsonValue, Output } from '../protocol.ts';
import type { Turns } from '../turns.ts';
import type { Fan } from './fan.ts';

type Versions = Output<'history'>['versions'];

/** The partitions of grains, as far as they are known: all partitions are asked for others. */
export type Home = ReadonlyMap<string, number>;

/** What a walk needs of a grain; no versions if it does not exist or the caller may not read it. */
interface Ancestor {
  readonly versions: readonly string[];
  readonly isGoal: boolean;
  readonly parents: readonly string[];
}

/** Ancestors that earlier walks of the same turn have read, by the hash that named them. */
export type KnownGoals = Map<string, Ancestor>;

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
    await refuseCircle(fan, oldHash, parents, { typed: true });
    return write();
  });
}

/** The parents that a new goal names; none for another grain. */
export function parentsOfNew({ grainType, fields }: Pick<AddItem, 'grainType' | 'fields'>): readonly string[] {
  return grainType === 'goal' ? hashesIn(fields['parent_goals']) : [];
}

/**
 * The hashes that goals above a new one name, and that are not there. The new goal closes a cycle only if it is one of
 * them, which the partition that computes its hash can tell. Throws VAL-E001 for a parent that is no goal, unless
 * `anyType`, and for too many ancestors.
 */
export async function awaitedAbove(
  fan: Fan,
  parents: readonly string[],
  { anyType = false, known }: { readonly anyType?: boolean; readonly known?: KnownGoals } = {},
): Promise<readonly string[]> {
  const awaited = new Set<string>();
  await walkUp(fan, parents, {
    anyType,
    known,
    missing: (hash) => void awaited.add(hash),
  });
  return [...awaited];
}

/** Runs work that may give goals of the memory other parents, after all such work before it. */
export function inTurn<T>(fan: Fan, turns: Turns, work: () => Promise<T>): Promise<T> {
  return turns.take([`parent goals ${fan.context.memory}`], work);
}

/** The parents of a goal that a manifest names as a successor; none if it is no goal, or if the caller may not read it. */
export async function parentsOf(fan: Fan, hash: string, home?: Home): Promise<readonly string[]> {
  const version = (await versionsOf(fan.withoutIdempotency(), hash, home)).find((one) => one.hash === hash);
  return version?.grainType === 'goal' ? hashesIn(version.fields['parent_goals']) : [];
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
  const known: KnownGoals = new Map();
  for (const [address, parents] of children)
    try {
      await walkUp(fan, parents, {
        anyType: true,
        known,
        coming,
        visit: (hash) => {
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

/** Throws VAL-E001 if the goal would become its own ancestor by these parents. `typed`: they have to be goals. */
export async function refuseCircle(
  fan: Fan,
  oldHash: string,
  parents: readonly string[],
  { typed = false, home }: { readonly typed?: boolean; readonly home?: Home } = {},
): Promise<void> {
  const own = await versionsOf(fan.withoutIdempotency(), oldHash, home);
  if (own[0]?.grainType !== 'goal') return;
  const before = new Set(hashesIn(own.at(-1)?.fields['parent_goals']));
  const chain = new Set([oldHash, ...own.map(({ hash }) => hash)]);
  // A new version keeps parents of builds that did not check their type.
  const isKept = parents.length === before.size && parents.every((hash) => before.has(hash));
  await walkUp(fan, parents, {
    anyType: !typed || isKept,
    home,
    visit: (hash) => {
      if (chain.has(hash)) throw refused(CIRCLE);
    },
  });
}

/** Visits the goals above these parents, each once, as far as the caller may read them. */
async function walkUp(
  fan: Fan,
  parents: readonly string[],
  {
    anyType,
    visit,
    missing,
    known = new Map(),
    coming,
    home,
  }: {
    readonly anyType: boolean;
    readonly known?: KnownGoals | undefined;
    /** Parents of goals that will be stored, which count where nothing is stored under their hash. */
    readonly coming?: ReadonlyMap<string, readonly string[]>;
    readonly home?: Home | undefined;
    readonly visit?: (hash: string) => void;
    readonly missing?: (hash: string) => void;
  },
): Promise<void> {
  const asking = fan.withoutIdempotency();
  const waiting = [...parents];
  const named = new Set(anyType ? [] : parents);
  const seen = new Set<string>();
  for (let hash = waiting.pop(), steps = 0; hash !== undefined; hash = waiting.pop(), steps++) {
    visit?.(hash);
    if (seen.has(hash)) continue;
    if (steps >= GOALS_ABOVE_MAX) throw refused(`stand below more than ${GOALS_ABOVE_MAX} goals`);
    const found = known.get(hash) ?? ancestorOf(await versionsOf(asking, hash, home));
    known.set(hash, found);
    const { versions, isGoal, parents: above } = found;
    if (versions.length === 0) {
      missing?.(hash);
      seen.add(hash);
      waiting.push(...(coming?.get(hash) ?? []));
    } else if (!isGoal && named.has(hash)) throw refused('name a grain that is no goal');
    for (const version of versions) seen.add(version);
    waiting.push(...above);
  }
}

function ancestorOf(versions: Versions): Ancestor {
  const tip = versions.at(-1);
  const isGoal = tip?.grainType === 'goal';
  return {
    versions: versions.map(({ hash }) => hash),
    isGoal,
    parents: isGoal ? hashesIn(tip.fields['parent_goals']) : [],
  };
}

/** Versions, oldest first. Empty if the grain does not exist or the caller may not read it: the search ends there. */
async function versionsOf(fan: Fan, hash: string, home?: Home): Promise<Versions> {
  const partition = home?.get(hash);
  try {
    if (partition !== undefined) return (await fan.one(partition, 'history', { hash })).versions;
    return (await fan.found('history', { hash })).versions;
  } catch (error) {
    if (error instanceof EngineError && /^(MEM|POL)-/.test(error.code)) return [];
    throw error;
  }
}

function hashesIn(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((hash) => typeof hash === 'string') : [];
}

const CIRCLE = 'make the goal its own parent';

function refused(issue: string): EngineError {
  return new EngineError('VAL-E001', `\`parent_goals\` ${issue}`, { details: [{ field: 'parent_goals', issue }] });
}
