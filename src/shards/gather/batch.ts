// Writes many grains, each to its partition. Outcomes are in the order of the items.

import { hash } from 'node:crypto';
import { EngineError } from '../../engine/base/errors.ts';
import { factsOf, routesOf } from '../known-routes.ts';
import type { AddItem, AddOutcome, Input, ManifestEntry, Output, RefusedEntry } from '../protocol.ts';
import type { Fan } from './fan.ts';
import { awaitedAbove, closingCircles, inTurn, parentsOfNew } from './goal-circle.ts';
import { GoalGraph } from './goal-graph.ts';
import { linkGoals } from './goal-links.ts';
import { type Placed, partitionFor } from './placement.ts';
import type { GatherTools } from './tools.ts';

export function gatherAddBatch(
  fan: Fan,
  input: Input<'addBatch'>,
  { turns, dedup }: Pick<GatherTools, 'turns' | 'dedup'>,
): Promise<Output<'addBatch'>> {
  const asks = dedup !== 'none' && input.items.some(({ event }) => event === 'memory.extracted');
  if (asks) return turns.take(factsOf(fan, input.items), () => addExtracted(fan, input));
  const hasParents = input.items.some((item) => parentsOfNew(item).length > 0);
  return hasParents ? inTurn(fan, turns, () => addWithParents(fan, input)) : addPlaced(fan, input);
}

async function addPlaced(fan: Fan, { items, ...how }: Input<'addBatch'>): Promise<Output<'addBatch'>> {
  const partitions = items.map((item) => partitionFor(item, fan.partitions, fan.context));
  const outcomes = await byPartition(
    partitions,
    (index) => items[index]!.grainType,
    (partition, indexes) => fan.one(partition, 'addBatch', { ...how, items: indexes.map((index) => items[index]!) }),
  );
  return { outcomes };
}

/**
 * Adds a batch with goals that name parents. Those whose ancestors are not all there come last, one by one, as each may be
 * the goal that another one waits for.
 */
async function addWithParents(fan: Fan, { items, ...how }: Input<'addBatch'>): Promise<Output<'addBatch'>> {
  const failures = new Map<number, EngineError>();
  const later: number[] = [];
  let graph: GoalGraph | undefined;
  for (const [place, item] of items.entries()) {
    const parents = parentsOfNew(item);
    if (parents.length === 0) continue;
    try {
      if (graph === undefined || graph.isFull) {
        graph = new GoalGraph(fan);
        await graph.readAbove(items.slice(place).flatMap(parentsOfNew));
      }
      if ((await awaitedAbove(graph, parents)).length > 0) later.push(place);
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      failures.set(place, error);
    }
  }
  const partitions = items.map((item) => partitionFor(item, fan.partitions, fan.context));
  const grainTypeOf = (place: number): string => items[place]!.grainType;
  const store = (places: readonly number[], awaited: readonly string[]) => {
    const chosen = places.map((place) => ({ ...items[place]!, awaited }));
    return fan.one(partitions[places[0]!]!, 'addBatch', { ...how, items: chosen, places });
  };
  const waiting = new Map(later.map((place) => [place, NOT_YET]));
  const outcomes = [
    ...(await byPartition(
      partitions,
      grainTypeOf,
      (_, places) => store(places, []),
      new Map([...failures, ...waiting]),
    )),
  ];
  for (const place of later)
    try {
      const awaited = await awaitedAbove(new GoalGraph(fan), parentsOfNew(items[place]!));
      outcomes[place] = (await store([place], awaited)).outcomes[0]!;
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      outcomes[place] = { error: error.toWire(), grainType: grainTypeOf(place) };
    }
  return { outcomes };
}

/** Stands for the outcome of an item that is added later. */
const NOT_YET = new EngineError('SYS-E001', 'not added yet');

/**
 * Sends each belief to the partition that knows its fact, otherwise to its own. If the fact is gone when the belief
 * arrives, the belief goes to its own partition after all.
 */
async function addExtracted(fan: Fan, { items, ...how }: Input<'addBatch'>): Promise<Output<'addBatch'>> {
  const routes = await routesOf(fan, items);
  const store = (partitions: readonly number[], places: readonly number[], itemAt: (place: number) => AddItem) =>
    byPartition(
      partitions,
      (at) => items[places[at]!]!.grainType,
      (partition, indexes) => {
        const chosen = indexes.map((at) => places[at]!);
        return fan.one(partition, 'addBatch', { ...how, items: chosen.map(itemAt), places: chosen });
      },
    );
  const first = await store(
    routes.map(({ partition }) => partition),
    [...items.keys()],
    (place) => routes[place]!.item,
  );
  const gone = [...items.keys()].filter((place) => {
    const outcome = first[place]!;
    return routes[place]!.item.knownOnly === true && 'error' in outcome && outcome.error.code === 'MEM-E001';
  });
  const outcomes = [...first];
  const own = gone.map((place) => routes[place]!.own);
  const second = await store(own, gone, (place) => items[place]!);
  for (const [at, place] of gone.entries()) outcomes[place] = second[at]!;
  return { outcomes };
}

/**
 * Imports each blob into the partition that holds its chain of versions, as far as the manifest and the stored grains
 * show it. A new chain is placed by its oldest member.
 */
export async function gatherImport(
  fan: Fan,
  input: Input<'importBlobs'>,
  { placementOf, turns }: Pick<GatherTools, 'placementOf' | 'turns'>,
): Promise<Output<'importBlobs'>> {
  const { blobs, manifest } = input;
  const failures = new Map<number, EngineError>();
  const placed = new Map<string, Placed>();
  const hashes = blobs.map((blob) => hash('sha256', blob, 'hex'));
  blobs.forEach((blob, index) => {
    try {
      placed.set(hashes[index]!, placementOf(blob));
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      failures.set(index, error);
    }
  });
  const parsed = { hashes, placed, failures };
  const ofGoals = await linksOfGoals(fan, manifest, placed);
  const children = new Map(
    [...placed].map(([address, item]) => [address, parentsOfNew(item)] as const).filter(([, { length }]) => length > 0),
  );
  if (ofGoals.size === 0 && children.size === 0) {
    const { outcomes, refused } = await importPlaced(fan, input, parsed, await locateAll(fan, manifest, placed));
    return { outcomes, refused };
  }
  return inTurn(fan, turns, async () => {
    const inCircles = await closingCircles(fan, children);
    hashes.forEach((address, index) => {
      const error = inCircles.get(address);
      if (error !== undefined) failures.set(index, error);
    });
    const held = await locateAll(fan, manifest, placed);
    const { outcomes, refused, home } = await importPlaced(fan, input, parsed, held, ofGoals);
    // Goals are linked when all grains are stored, so that each check sees the goals and the links before it.
    const stored = outcomes.flatMap((outcome) => ('hash' in outcome ? [outcome.hash] : []));
    const accepted = new Set([...(input.accepted ?? []), ...stored]);
    return { outcomes, refused: [...refused, ...(await linkGoals(fan, [...ofGoals], { accepted, home }))] };
  });
}

/** Links after which the newest version is a goal, which may have parents: of this call, or stored by an earlier one. */
async function linksOfGoals(
  fan: Fan,
  manifest: readonly ManifestEntry[],
  placed: ReadonlyMap<string, Placed>,
): Promise<ReadonlySet<ManifestEntry>> {
  const newer = new Map(manifest.flatMap(({ hash, supersededBy: next }) => (next === undefined ? [] : [[hash, next]])));
  const stored = await new GoalGraph(fan).goalsOf([...newer.values()].filter((hash) => !placed.has(hash)));
  const isGoal = (hash: string): boolean => placed.get(hash)?.grainType === 'goal' || stored.has(hash);
  return new Set(manifest.filter(({ hash }) => pathFrom(hash, newer).slice(1).some(isGoal)));
}

/**
 * Imports everything but the manifest entries that come `later`, which still say what lies together. `home`: the partition
 * of each grain of the call and of its manifest.
 */
async function importPlaced(
  fan: Fan,
  { blobs, manifest, accepted = [] }: Input<'importBlobs'>,
  {
    hashes,
    placed,
    failures,
  }: {
    readonly hashes: readonly string[];
    readonly placed: ReadonlyMap<string, Placed>;
    readonly failures: ReadonlyMap<number, EngineError>;
  },
  held: ReadonlyMap<string, number>,
  later: ReadonlySet<ManifestEntry> = new Set(),
): Promise<Output<'importBlobs'> & { readonly home: ReadonlyMap<string, number> }> {
  const older = new Map<string, string>();
  const newer = new Map<string, string>();
  for (const { hash: from, supersededBy } of manifest) {
    if (supersededBy === undefined) continue;
    older.set(supersededBy, from);
    newer.set(from, supersededBy);
  }
  const partitions = hashes.map((address) => {
    const own = placed.get(address);
    if (own === undefined) return 0;
    const before = pathFrom(address, older);
    const near = [...before, ...pathFrom(address, newer)].find((other) => held.has(other));
    if (near !== undefined) return held.get(near)!;
    const oldest = before.findLast((other) => placed.has(other)) ?? address;
    return partitionFor(placed.get(oldest) ?? own, fan.partitions, fan.context);
  });
  const home = new Map([...held, ...hashes.map((address, index) => [address, partitions[index]!] as const)]);
  // A successor that is stored from now on may be a goal whose parents nobody has checked: its link does not count.
  const entriesOf = Map.groupBy(
    manifest.filter((entry) => !later.has(entry)),
    ({ hash: from, supersededBy: next }) => (next === undefined || home.has(next) ? home.get(from) : undefined),
  );
  const refused: RefusedEntry[] = [];
  const refuse = (entries: readonly ManifestEntry[] = [], error: EngineError): void => {
    for (const entry of entries) refused.push({ hash: entry.hash, error: error.toWire() });
  };
  refuse(entriesOf.get(undefined), new EngineError('MEM-E001'));
  entriesOf.delete(undefined);
  const importInto = async (partition: number, indexes: readonly number[]) => {
    const entries = entriesOf.get(partition) ?? [];
    entriesOf.delete(partition);
    try {
      const answer = await fan.one(partition, 'importBlobs', {
        blobs: indexes.map((index) => blobs[index]!),
        manifest: entries,
        accepted,
      });
      refused.push(...answer.refused);
      return answer;
    } catch (error) {
      if (error instanceof EngineError) refuse(entries, error);
      throw error;
    }
  };
  const grainTypeOf = (index: number) => placed.get(hashes[index]!)?.grainType ?? '';
  const outcomes = await byPartition(partitions, grainTypeOf, importInto, failures);
  // An entry may be about a blob that an earlier call of this import stored, in a partition that gets no blob now.
  for (const partition of [...entriesOf.keys()])
    if (partition !== undefined)
      await importInto(partition, []).catch((error: unknown) => {
        if (!(error instanceof EngineError)) throw error;
      });
  return { outcomes, refused, home };
}

/** `address` and its successors in `next`, nearest first. */
function pathFrom(address: string, next: ReadonlyMap<string, string>): string[] {
  const path = new Set([address]);
  for (let at = next.get(address); at !== undefined && !path.has(at); at = next.get(at)) path.add(at);
  return [...path];
}

/** The partitions of the grains of the call and of its manifest that are stored. Asks every partition once. */
async function locateAll(
  fan: Fan,
  manifest: readonly ManifestEntry[],
  placed: ReadonlyMap<string, Placed>,
): Promise<ReadonlyMap<string, number>> {
  const held = new Map<string, number>();
  const named = manifest.flatMap(({ hash, supersededBy: next }) => (next === undefined ? [] : [hash, next]));
  const hashes = [...new Set([...placed.keys(), ...named])];
  if (hashes.length === 0) return held;
  const answers = await fan.withoutIdempotency().all('locate', { hashes });
  answers.forEach((answer, partition) => {
    hashes.forEach((address, index) => {
      if (answer.held[index] === true && !held.has(address)) held.set(address, partition);
    });
  });
  return held;
}

/**
 * Makes one call for each partition with items and puts the outcomes back in item order. If a whole partition fails,
 * only its items fail. If that partition had all items, or refuses the caller itself, the call fails.
 */
async function byPartition(
  partitions: readonly number[],
  grainTypeOf: (index: number) => string,
  call: (partition: number, indexes: readonly number[]) => Promise<{ readonly outcomes: readonly AddOutcome[] }>,
  failures: ReadonlyMap<number, EngineError> = new Map(),
): Promise<readonly AddOutcome[]> {
  const outcomes = new Array<AddOutcome>(partitions.length);
  for (const [index, failure] of failures) outcomes[index] = { error: failure.toWire(), grainType: grainTypeOf(index) };
  const placed = [...partitions.keys()].filter((index) => !failures.has(index));
  const groups = Map.groupBy(placed, (index) => partitions[index]!);
  await Promise.all(
    [...groups].map(async ([partition, indexes]) => {
      try {
        const answer = await call(partition, indexes);
        indexes.forEach((index, place) => {
          outcomes[index] = answer.outcomes[place]!;
        });
      } catch (error) {
        if (!(error instanceof EngineError) || groups.size === 1 || error.code === 'AGT-E003') throw error;
        for (const index of indexes) outcomes[index] = { error: error.toWire(), grainType: grainTypeOf(index) };
      }
    }),
  );
  return outcomes;
}
