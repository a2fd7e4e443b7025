// Writes of many grains, each to its partition; outcomes come back in the order of the items.
import { hash } from 'node:crypto';
import { EngineError } from '../engine/errors.ts';
import type { Fan } from './fan.ts';
import { type Placed, partitionFor } from './placement.ts';
import type { AddOutcome, Input, Output } from './protocol.ts';

/** What the placement of an imported blob needs to know of it: decoded by who can. */
export interface PlacedBlob extends Placed {
  /** The version that this one replaces, when the blob says so. */
  readonly supersedes?: string;
}
/** Throws EngineError for what is not a blob. */
export type PlacementOf = (blob: Uint8Array) => PlacedBlob;

export async function gatherAddBatch(fan: Fan, { items }: Input<'addBatch'>): Promise<Output<'addBatch'>> {
  const partitions = items.map((item) => partitionFor(item, fan.partitions, fan.context));
  const outcomes = await byPartition(
    partitions,
    (index) => items[index]!.grainType,
    (partition, indexes) => fan.one(partition, 'addBatch', { items: indexes.map((index) => items[index]!) }),
  );
  return { outcomes };
}

/**
 * Imports each blob where it was placed when it was written: a new version goes with its chain, whose first member
 * decides. The chain is known from the manifest and from the blobs; its older part may have been imported before.
 */
export async function gatherImport(
  fan: Fan,
  { blobs, manifest }: Input<'importBlobs'>,
  placementOf: PlacementOf,
): Promise<Output<'importBlobs'>> {
  const failures = new Map<number, EngineError>();
  const placed = new Map<number, PlacedBlob>();
  const hashes = blobs.map((blob) => hash('sha256', blob, 'hex'));
  blobs.forEach((blob, index) => {
    try {
      placed.set(index, placementOf(blob));
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      failures.set(index, error);
    }
  });

  const older = new Map<string, string>();
  for (const { hash: from, supersededBy } of manifest) if (supersededBy !== undefined) older.set(supersededBy, from);
  for (const [index, { supersedes }] of placed) if (supersedes !== undefined) older.set(hashes[index]!, supersedes);
  const roots = hashes.map((address) => rootOf(address, older));
  const indexOf = new Map(hashes.map((address, index) => [address, index]));
  const held = await locateAll(fan, [...new Set(roots.filter((root) => !indexOf.has(root)))]);

  const partitions = blobs.map((_, index) => {
    const root = roots[index]!;
    const rootIndex = indexOf.get(root);
    const own = placed.get(rootIndex ?? index) ?? placed.get(index);
    return held.get(root) ?? (own === undefined ? 0 : partitionFor(own, fan.partitions, fan.context));
  });
  const outcomes = await byPartition(
    partitions,
    (index) => placed.get(index)?.grainType ?? '',
    (partition, indexes) => {
      const here = new Set(indexes.map((index) => hashes[index]!));
      return fan.one(partition, 'importBlobs', {
        blobs: indexes.map((index) => blobs[index]!),
        manifest: manifest.filter((entry) => here.has(entry.hash)),
      });
    },
    failures,
  );
  return { outcomes };
}

/** The oldest member of the chain that `address` is in, as far as the chain is known. */
function rootOf(address: string, older: ReadonlyMap<string, string>): string {
  const seen = new Set([address]);
  let root = address;
  for (let next = older.get(root); next !== undefined && !seen.has(next); next = older.get(root)) {
    seen.add(next);
    root = next;
  }
  return root;
}

async function locateAll(fan: Fan, hashes: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const held = new Map<string, number>();
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
 * One call for each partition that has items, its outcomes put back in the items' places. A partition that fails as a
 * whole fails its items alone, unless it had them all.
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
        if (!(error instanceof EngineError) || groups.size === 1) throw error;
        for (const index of indexes) outcomes[index] = { error: error.toWire(), grainType: grainTypeOf(index) };
      }
    }),
  );
  return outcomes;
}
