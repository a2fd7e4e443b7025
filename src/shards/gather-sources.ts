// Further sources of facts, where fact and source lie in different partitions: the fact's partition answers with the names of such
// sources, and only the source's partition can tell the hash of a name, and whether the source is still there and not hidden.
import { isPlainHash } from '../engine/record/grain-name.ts';
import type { Fan } from './gather/fan.ts';
import { gatherHashes } from './gather/names.ts';
import type { GrainView } from './protocol.ts';

/** Asks nobody where all sources are told, as they nearly always are. `hidden`: tell those that a policy hides, too. */
export async function withAllSources<T extends GrainView | null>(
  fan: Fan,
  grains: readonly T[],
  { hidden = false }: { readonly hidden?: boolean } = {},
): Promise<T[]> {
  const named = new Set(grains.flatMap((grain) => grain?.sources?.filter((source) => !isPlainHash(source)) ?? []));
  if (named.size === 0) return [...grains];
  const names = [...named];
  const { hashes } = await gatherHashes(fan, { names, ...(hidden ? {} : { shown: true }) });
  const told = new Map(names.map((name, at) => [name, hashes[at]!]));
  return grains.map((grain) => {
    if (grain?.sources === undefined) return grain;
    const { sources, ...rest } = grain;
    const shown = sources.map((source) => told.get(source) ?? source).filter((hash) => hash !== '');
    return (shown.length === 0 ? rest : { ...rest, sources: shown }) as T; // the same grain
  });
}

export async function withSources(fan: Fan, grain: GrainView): Promise<GrainView> {
  const [told = grain] = await withAllSources(fan, [grain]);
  return told;
}
