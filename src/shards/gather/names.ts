// Converts between grain hashes and grain names over several partitions. Partition 0 keeps the recall records, but only
// the partition that holds a grain has the key of its name.
import { isPlainHash, nameAtHome, nameIn, parseName } from '../../engine/record/grain-name.ts';
import type { Input, Output, RecallRecordContent, RecallRecordView } from '../protocol.ts';
import type { Fan } from './fan.ts';

/** The partition that keeps recall records. */
const KEEPER = 0;

/** A grain's partition, and its ordinal there. */
export interface GrainPlace {
  readonly partition: number;
  readonly ordinal: number;
}

/** `places`: those of grains that the recall found, by hash. The others are looked up in every partition. */
export async function keepRecallWithNames(
  fan: Fan,
  content: RecallRecordContent,
  places: ReadonlyMap<string, GrainPlace>,
): Promise<Output<'keepRecall'>> {
  const listed = [...content.results, ...content.excluded.named].map(({ hash }) => hash);
  const hashes = [...new Set(listed)].filter(isPlainHash);
  const placed = hashes.filter((hash) => places.has(hash));
  const others = hashes.filter((hash) => !places.has(hash));
  const [atPlaces, elsewhere] = await Promise.all([
    namesAtPlaces(
      fan,
      placed.map((hash) => places.get(hash)!), // as filtered
    ),
    gatherNames(fan, { hashes: others }),
  ]);
  return fan.one(KEEPER, 'keepRecall', {
    ...content,
    names: Object.fromEntries([
      ...placed.map((hash, at) => [hash, atPlaces[at]!]),
      ...others.map((hash, at) => [hash, elsewhere.names[at]!]),
    ]),
  });
}

/** Names in the order of `places`. */
async function namesAtPlaces(fan: Fan, places: readonly GrainPlace[]): Promise<string[]> {
  const names = places.map(() => '');
  const byPartition = Map.groupBy(places.keys(), (at) => places[at]!.partition);
  await Promise.all(
    [...byPartition].map(async ([partition, some]) => {
      const found = await fan.one(partition, 'namesAt', { ordinals: some.map((at) => places[at]!.ordinal) });
      for (const [i, at] of some.entries()) names[at] = nameOf(partition, found.names[i]!);
    }),
  );
  return names;
}

function nameOf(partition: number, name: string): string {
  return partition === KEEPER || name === '' ? name : nameIn(partition, name);
}

/** Names in the order of `hashes`. For a grain in two partitions, the name from the first one. */
export async function gatherNames(fan: Fan, { hashes }: Input<'grainNames'>): Promise<Output<'grainNames'>> {
  if (hashes.length === 0) return { names: [] };
  const answers = await fan.all('grainNames', { hashes });
  return {
    names: hashes.map((_, at) => {
      const partition = answers.findIndex(({ names }) => names[at] !== '');
      if (partition < 0) return '';
      return nameOf(partition, answers[partition]!.names[at]!);
    }),
  };
}

export async function gatherHashes(fan: Fan, { names, ...how }: Input<'grainHashes'>): Promise<Output<'grainHashes'>> {
  const byPartition = Map.groupBy(names.keys(), (at) => parseName(names[at]!)?.partition ?? KEEPER);
  const hashes = names.map(() => '');
  await Promise.all(
    [...byPartition].map(async ([partition, places]) => {
      if (partition >= fan.partitions) return;
      const asked = places.map((at) => nameAtHome(names[at]!));
      const { hashes: found } = await fan.one(partition, 'grainHashes', { ...how, names: asked });
      for (const [i, at] of places.entries()) hashes[at] = found[i]!;
    }),
  );
  return { hashes };
}

/** Adds the hashes that only other partitions can resolve to a record from partition 0. */
export async function withHashes(fan: Fan, record: RecallRecordView): Promise<RecallRecordView> {
  const shown = [...record.results, ...record.excluded];
  const untold = [...new Set(shown.flatMap(({ hash, grain }) => (hash === '' ? [String(grain)] : [])))];
  if (untold.length === 0) return record;
  const { hashes } = await gatherHashes(fan, { names: untold });
  const resolved = new Map(untold.map((name, at) => [name, hashes[at]!]));
  const fill = <T extends RecallRecordView['results'][number]>(one: T): T =>
    one['hash'] === '' ? { ...one, hash: resolved.get(String(one['grain'])) ?? '' } : one;
  return { ...record, results: record.results.map(fill), excluded: record.excluded.map(fill) };
}
